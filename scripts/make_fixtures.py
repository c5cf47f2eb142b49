#!/usr/bin/env python3
"""Write the bundled evidence, checkpoints, test keys, policy and anchors under `fixtures/`; the same bytes every time.

make_fixtures.py            write them anew
make_fixtures.py --check    compare what stands there, and exit 1 if it differs
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from aef_verify.integrity.keys import load_public_key
from scripts.fixture_runs.building import pretty
from scripts.fixture_runs.checkpoints import CHECKPOINTS, CheckpointExhibit
from scripts.fixture_runs.exhibits import SOUND, TAMPERED, Exhibit, Workshop
from scripts.fixture_runs.sealing import KEYS, Sealer, policy

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
OWNED = ("README.md", "anchors.json", "checkpoints", "evidence", "expected.json", "keys", "policy.json")
"""What this script writes; anything else in the folder is left alone."""

README = """\
# Fixtures

Evidence that was made up for this project, to see and test what a verifier says. `scripts/make_fixtures.py` writes
what the table lists, the same bytes every time, and with `--check` compares. Do not edit these files: exact bytes are
what they are about.

| File | Holds |
|---|---|
| `evidence/sound/` | six runs |
| `evidence/tampered/` | copies of them, each changed in one instructive way |
| `checkpoints/sound/` | two release decisions over these runs, each with its signature beside it |
| `checkpoints/tampered/` | copies of them, each changed in one instructive way |
| `policy.json` | the trust policy: whose keys count, and who may withhold blobs |
| `anchors.json` | the hashes of two runs, as someone remembers them who saw them closed |
| `keys/` | published test keys, see its README |
| `expected.json` | what a verifier must report of each run and checkpoint, written down by hand |

Try it:

    aef verify --policy fixtures/policy.json --anchors fixtures/anchors.json fixtures/evidence/sound
    aef verify --policy fixtures/policy.json --anchors fixtures/anchors.json fixtures/evidence/tampered
    aef checkpoint fixtures/checkpoints/sound/repairs.json --runs fixtures/evidence/sound \
        --policy fixtures/policy.json --at 2026-10-03T12:00:00Z

## Sound

| Run | Is | A verifier says |
|---|---|---|
{sound}

## Tampered

| Copy | Of | What was done | A verifier says |
|---|---|---|---|
{tampered}

## Checkpoints

The time is the one at which the checkpoint is read.

| Checkpoint | Copy of | Is, or what was done | At | A verifier says |
|---|---|---|---|---|
{checkpoints}
"""

KEYS_README = """\
# Published test keys

**Never trust these keys.** Both halves are published, so that anyone can sign anything with them. They exist to make
the same evidence again, byte by byte. Neither half belongs into a real trust policy. All are Ed25519, made from the
SHA-256 of `aef-verify published test key: NAME`.

| Key | Speaks in `policy.json` for | May | Key id |
|---|---|---|---|
{keys}
"""


def main() -> int:
    """Write or compare, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aef-fixtures-") as scratch:
        made = Path(scratch) / "fixtures"
        make(made)
        if options.check:
            differences = sorted(differing(made, FIXTURES))
            for difference in differences:
                print(difference, file=sys.stderr)
            print(f"{len(differences)} differences" if differences else "the fixtures are as this script makes them")
            return int(bool(differences))
        replace(made, FIXTURES)
        size = sum(len(data) for data in contents(FIXTURES).values())
        print(f"{FIXTURES}: {len(contents(FIXTURES))} files, {size:,} bytes")
    return 0


def make(fixtures: Path) -> None:
    """Write everything into a folder that does not exist yet."""
    keys = fixtures / "keys"
    keys.mkdir(parents=True)
    for key in KEYS:
        private, public = key.halves()
        (keys / f"{key.name}.key.pem").write_bytes(private)
        (keys / f"{key.name}.pub.pem").write_bytes(public)
    (keys / "README.md").write_text(KEYS_README.format(keys=_key_rows()), encoding="utf-8")
    (fixtures / "policy.json").write_bytes(pretty(policy()))
    shop = Workshop(fixtures / "evidence", Sealer(keys))
    for exhibit in (*SOUND, *TAMPERED):
        exhibit.make(shop, fixtures / exhibit.path)
    seals = [fixtures / exhibit.path / "seal.json" for exhibit in SOUND if exhibit.anchored]
    anchors = [json.loads(seal.read_bytes())["predicate"]["runHash"] for seal in seals]
    (fixtures / "anchors.json").write_text(json.dumps(anchors, indent=2) + "\n", encoding="utf-8")
    for checkpoint in CHECKPOINTS:
        checkpoint.write(fixtures, shop.sealer)
    expected = {
        "evidence": [exhibit.document() for exhibit in (*SOUND, *TAMPERED)],
        "checkpoints": [checkpoint.document() for checkpoint in CHECKPOINTS],
    }
    (fixtures / "expected.json").write_bytes(pretty(expected))
    text = README.format(
        sound=_rows(SOUND), tampered=_rows(TAMPERED), checkpoints="\n".join(map(_checkpoint_row, CHECKPOINTS))
    )
    (fixtures / "README.md").write_text(text, encoding="utf-8")


def _rows(exhibits: Iterable[Exhibit]) -> str:
    rows = []
    for exhibit in exhibits:
        columns = [f"`{exhibit.name}`", exhibit.copy_of and f"`{exhibit.copy_of}`", exhibit.about]
        rows.append(" | ".join([*filter(None, columns), _says(exhibit)]))
    return "\n".join(f"| {row} |" for row in rows)


def _says(exhibit: Exhibit) -> str:
    pairs = [
        f"`{code}` at `{path if len(path) < 60 else path[:20] + '…'}`"
        for path, code in (*exhibit.problems, *exhibit.overlay_problems)
    ]
    return exhibit.says + (f" ({', '.join(pairs)})" if pairs else "")


def _checkpoint_row(exhibit: CheckpointExhibit) -> str:
    copy_of = f"`{exhibit.copy_of}`" if exhibit.copy_of else "–"
    codes = ", ".join(f"`{code}` at `{path}`" if path else f"`{code}`" for path, code in exhibit.problems)
    says = exhibit.says + (f" ({codes})" if codes else "")
    return f"| `{exhibit.name}` | {copy_of} | {exhibit.about} | {exhibit.at} | {says} |"


def _key_rows() -> str:
    rows = []
    for key in KEYS:
        speaks = f"`{key.identity}`" if key.identity else "nobody; it is not there"
        keyid = load_public_key(key.halves()[1].decode()).keyid
        rows.append(f"| `{key.name}` | {speaks} | {', '.join(f'`{right}`' for right in key.may)} | `{keyid}` |")
    return "\n".join(rows)


def contents(fixtures: Path) -> dict[str, bytes]:
    """Return every file that this script owns, by its path below the folder."""
    found: dict[str, bytes] = {}
    for name in OWNED:
        top = fixtures / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file():
                found[path.relative_to(fixtures).as_posix()] = path.read_bytes()
    return found


def differing(made: Path, standing: Path) -> Iterator[str]:
    """Yield a line for each file that differs between what was made and what stands there."""
    wanted, found = contents(made), contents(standing)
    for name in wanted.keys() | found.keys():
        if name not in found:
            yield f"{name}: is missing"
        elif name not in wanted:
            yield f"{name}: is not written by this script"
        elif wanted[name] != found[name]:
            yield f"{name}: differs"


def replace(made: Path, standing: Path) -> None:
    """Put what was made in the place of what stands there."""
    standing.mkdir(exist_ok=True)
    for name in OWNED:
        old = standing / name
        if old.is_dir():
            shutil.rmtree(old)
        elif old.exists():
            old.unlink()
        shutil.move(made / name, old)


if __name__ == "__main__":
    sys.exit(main())
