"""Every case that the fuzzer found and kept shows its fault no more; `scripts/fuzz.py` writes them to `found/`."""

from __future__ import annotations

from pathlib import Path

from scripts.fuzzing.cases import Case
from scripts.fuzzing.checks import check
from tests.properties.both_paths import both_paths

FOUND = Path(__file__).with_name("found")


def test_no_kept_case_shows_its_fault(tmp_path: Path) -> None:
    with both_paths() as both:
        for path in sorted(FOUND.glob("*.json")):
            case = Case.from_json(path.read_bytes())
            assert check(case, str(tmp_path / "place"), both, shown=True, command=True).faults == [], path.name
