#!/usr/bin/env python3
"""Write a LongMemEval-shaped workload, and the script by which the fixture provider answers and judges it.

  make_workload.py                        the bundled workload, from fixtures/longmemeval/sources.json
  make_workload.py --check                compare what is bundled, and exit 1 if it differs
  make_workload.py FOLDER --questions N   a generated one of any size, variant fixture

Nothing here is random: the same call writes the same bytes. A question is `sound` (answered rightly), `lost` (answered
wrongly as long as one certain other session is in the prompt, so rightly from its gold sessions alone) or `never`
(answered wrongly always). Without its evidence in the prompt every question gets "I do not know."
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.memory.model import QUESTION_TYPES

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "fixtures" / "longmemeval" / "sources.json"
BUNDLED = ROOT / "aef_verify" / "memory" / "workload"
DATASET, SCRIPT = "longmemeval_fixture.json", "provider_script.json"

SOUND, LOST, NEVER = "sound", "lost", "never"
FIRST_DAY = date(2023, 1, 2)
ASKED = "05/30"
UNKNOWN = "I do not know."
TURN_OVERHEAD, SESSION_OVERHEAD, PROMPT_OVERHEAD = 13, 50, 800
"""Bytes that a prompt has at most for each turn, session and request beside what was said."""


class Turn(NamedTuple):
    """One turn, and whether it is evidence."""

    role: str
    content: str
    evidence: bool


class Case(NamedTuple):
    """One question with all that is known about it."""

    type: str
    abstention: bool
    question: str
    answer: str | int
    right: str
    wrong: str
    mode: str
    asked: str
    gold: tuple[tuple[str, tuple[Turn, ...]], ...]

    @property
    def key(self) -> str:
        """Eight hex digits out of which its ids are made."""
        return _hex(self.question)[:8]

    @property
    def evidence(self) -> list[str]:
        """What stands in every prompt that can be answered rightly."""
        return [turn.content for _, turns in self.gold for turn in turns if turn.evidence]


class Placed(NamedTuple):
    """One session of a haystack."""

    when: datetime
    id: str
    turns: tuple[Turn, ...]


def _hex(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _number(below: int, *parts: object) -> int:
    return int(_hex(*parts)[:12], 16) % below


def _moment(day: date, *parts: object) -> datetime:
    minutes = _number(24 * 60, *parts)
    return datetime(day.year, day.month, day.day, minutes // 60, minutes % 60)


def _day(text: str) -> date:
    return date(2023, int(text[:2]), int(text[3:]))


def _official(when: datetime) -> str:
    # Not %a: the day's name would depend on the locale.
    name = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[when.weekday()]
    return f"{when:%Y/%m/%d} ({name}) {when:%H:%M}"


def _turn(line: str) -> Turn:
    mark, _, content = line.partition(" ")
    return Turn({"u": "user", "a": "assistant"}[mark[0]], content, mark.endswith("*"))


def bundled_cases(sources: dict[str, Any]) -> Iterator[Case]:
    """Yield the questions of the bundled workload, the types mixed."""
    by_type = {kind: [item for item in sources["questions"] if item["type"] == kind] for kind in QUESTION_TYPES}
    for row in zip(*by_type.values(), strict=True):
        for item in row:
            yield Case(
                type=item["type"],
                abstention=item.get("abs", False),
                question=item["q"],
                answer=item["a"],
                right=item["right"],
                wrong=item["wrong"],
                mode=item["mode"],
                asked=item.get("asked", ASKED),
                gold=tuple((day, tuple(map(_turn, lines))) for day, lines in item["gold"]),
            )


def bundled_entries(sources: dict[str, Any]) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield the bundled questions with their entries: six to ten other sessions, some twice, as in variant S."""
    fillers = [tuple(map(_turn, lines)) for lines in sources["fillers"]]
    for place, case in enumerate(bundled_cases(sources)):
        order = sorted(range(len(fillers)), key=lambda at, key=case.key: _hex(key, at))  # type: ignore[misc] # bound
        chosen = order[: 6 + _number(5, case.key, "fillers")]
        if place % 5 == 2:
            chosen.append(chosen[0])
        others = [(_hex("filler", at)[:8], fillers[at]) for at in chosen]
        yield case, entry_of(case, others, repeat_gold=place % 22 == 7, say_false=place % 3 == 0)


def entry_of(
    case: Case, others: Sequence[tuple[str, tuple[Turn, ...]]], *, repeat_gold: bool = False, say_false: bool = False
) -> dict[str, Any]:
    """Return a question's entry in the official format, its sessions sorted by date."""
    suffix = "_abs" if case.abstention else ""
    placed = [
        Placed(_moment(_day(day), case.key, "gold", place), f"answer_{case.key}{suffix}_{place}", turns)
        for place, (day, turns) in enumerate(case.gold, 1)
    ]
    if repeat_gold:
        placed.append(placed[0]._replace(when=placed[0].when + timedelta(hours=30)))
    days = (_day(case.asked) - FIRST_DAY).days - 1
    for place, (identity, turns) in enumerate(others):
        day = FIRST_DAY + timedelta(days=_number(days, case.key, "other", place))
        placed.append(Placed(_moment(day, case.key, "time", place), identity, turns))
    placed.sort(key=lambda session: session.when)
    return {
        "question_id": case.key + suffix,
        "question_type": case.type,
        "question": case.question,
        "answer": case.answer,
        "question_date": _official(_moment(_day(case.asked), case.key, "asked")),
        "haystack_dates": [_official(session.when) for session in placed],
        "haystack_session_ids": [session.id for session in placed],
        "haystack_sessions": [
            [_turn_entry(turn, say_false and session.id.startswith("answer_")) for turn in session.turns]
            for session in placed
        ],
        "answer_session_ids": [f"answer_{case.key}{suffix}_{place}" for place in range(1, len(case.gold) + 1)],
    }


def _turn_entry(turn: Turn, say_false: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.evidence or say_false:
        entry["has_answer"] = turn.evidence
    return entry


def rules_of(case: Case, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the provider's rules for a question, the first that matches being the one that counts."""
    judge = {"question": case.question, "purpose": "judge"}
    answer = {"question": case.question, "purpose": "answer"}
    rules = [{"match": {**judge, "contains": [case.right]}, "reply": "Yes."}]
    if case.abstention:
        rules.append({"match": {**judge, "contains": [UNKNOWN]}, "reply": "yes"})
    rules.append({"match": judge, "reply": "No."})
    if case.mode == NEVER:
        rules.append({"match": {**answer, "contains": case.evidence}, "reply": case.wrong})
    if case.mode == LOST:
        rules.append({"match": {**answer, "contains": [*case.evidence, _distraction(entry)]}, "reply": case.wrong})
    rules.append({"match": {**answer, "contains": case.evidence}, "reply": case.right})
    return rules


def _distraction(entry: dict[str, Any]) -> str:
    """What is said first in a session beside the gold ones."""
    for identity, turns in zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True):
        if identity not in entry["answer_session_ids"]:
            return str(turns[0]["content"])
    raise ValueError("a lost question needs another session")


def script_of(rules: list[dict[str, Any]], latency_ms: float) -> dict[str, Any]:
    """Return the provider's whole script."""
    rules.append({"match": {"purpose": "judge"}, "reply": "No."})
    return {"version": "1", "latencyMs": latency_ms, "rules": rules, "default": {"reply": UNKNOWN}}


_TEXT = (
    "harbour lantern cedar velvet copper meadow thunder orchard pebble saffron glacier ribbon tunnel marble willow "
    "cinder falcon garnet hollow island juniper kettle ladder mosaic nectar oyster pillar quartz raven summit timber "
    "umbrella vessel walnut yonder zephyr anchor bramble candle dapple ember fathom gravel hazel ivory jasmin"
)
WORDS = _TEXT.split()


def _words(count: int, *parts: object) -> str:
    """`count` words in an order that hangs on the parts alone."""
    at = _number(1 << 40, *parts)
    step = 1 + at % (len(WORDS) - 1)
    return " ".join(WORDS[(at + place * step + place // len(WORDS)) % len(WORDS)] for place in range(count))


def generated_case(place: int, seed: int) -> Case:
    """Return one question of a generated workload."""
    kind = QUESTION_TYPES[place % len(QUESTION_TYPES)]
    label = f"{WORDS[_number(len(WORDS), seed, place)]}-{place:06d}"
    value = 100 + _number(900, seed, place, "value")
    abstention = _number(100, seed, place, "abs") < 6
    chance = _number(100, seed, place, "mode")
    gold = [_generated_gold(kind, label, value)]
    if kind in ("multi-session", "temporal-reasoning", "knowledge-update"):
        gold.append((f"04/{1 + place % 28:02d}", (Turn("user", f"About {label} again: it is {value} now.", True),)))
    return Case(
        type=kind,
        abstention=abstention,
        question=f"What is the {'colour' if abstention else 'number'} of {label}?",
        answer=f"Only a number of {label} was spoken of, never a colour." if abstention else value,
        right=f"I know no colour of {label}." if abstention else f"The number of {label} is {value}.",
        wrong=f"It is blue, as far as {label} goes." if abstention else f"The number of {label} is {value + 1}.",
        mode=SOUND if chance < 60 else LOST if chance < 93 else NEVER,
        asked=ASKED,
        gold=tuple(gold),
    )


def _generated_gold(kind: str, label: str, value: int) -> tuple[str, tuple[Turn, ...]]:
    if kind == "single-session-assistant":
        return "03/05", (
            Turn("user", f"Which number should {label} have?", False),
            Turn("assistant", f"Give {label} the number {value}.", True),
        )
    return "03/05", (
        Turn("user", f"For the record, {label} has the number {value}.", True),
        Turn("assistant", "Noted.", False),
    )


def generated_entry(case: Case, place: int, seed: int, prompt_bytes: int) -> dict[str, Any]:
    """Return a generated entry whose rendered prompt has at most `prompt_bytes` bytes, and nearly as many."""
    left = prompt_bytes - PROMPT_OVERHEAD - len(case.question)
    for _, turns in case.gold:
        left -= SESSION_OVERHEAD + sum(len(turn.content) + TURN_OVERHEAD for turn in turns)
    others: list[tuple[str, tuple[Turn, ...]]] = []
    # At least one, to be distracted by.
    while not others or left > 0:
        turns = tuple(
            Turn(role, f"{_words(40, seed, place, len(others), role)}.", False) for role in ("user", "assistant") * 3
        )
        left -= SESSION_OVERHEAD + sum(len(turn.content) + TURN_OVERHEAD for turn in turns)
        if others and left < 0:
            break
        others.append((_hex(seed, place, len(others))[:12], turns))
    return entry_of(case, others)


def generated_entries(questions: int, seed: int, prompt_bytes: int) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield the questions of a generated workload with their entries."""
    for place in range(questions):
        case = generated_case(place, seed)
        yield case, generated_entry(case, place, seed, prompt_bytes)


def write(folder: Path, entries: Iterable[tuple[Case, dict[str, Any]]], latency_ms: float) -> tuple[Path, Path]:
    """Write dataset and script into the folder, one question at a time, and return where."""
    rules: list[dict[str, Any]] = []
    with open(folder / DATASET, "w", encoding="utf-8", newline="\n") as file:
        before = "[\n"
        for case, entry in entries:
            file.write(before + json.dumps(entry, ensure_ascii=False))
            before = ",\n"
            rules += rules_of(case, entry)
        file.write("\n]\n")
    script = script_of(rules, latency_ms)
    lines = ",\n".join("  " + json.dumps(rule, ensure_ascii=False) for rule in script.pop("rules"))
    head = json.dumps(script, ensure_ascii=False)[:-1]
    (folder / SCRIPT).write_text(f'{head}, "rules": [\n{lines}\n]}}\n', encoding="utf-8", newline="\n")
    return folder / DATASET, folder / SCRIPT


def bundle(folder: Path) -> tuple[Path, Path]:
    """Write the bundled workload into a folder."""
    sources = json.loads(SOURCES.read_text(encoding="utf-8"))
    return write(folder, bundled_entries(sources), 0)


def generate(
    folder: Path, questions: int, *, seed: int = 0, prompt_bytes: int = 20_000, latency_ms: float = 0
) -> tuple[Path, Path]:
    """Write a generated workload into a folder, and return the paths of its dataset and script."""
    return write(folder, generated_entries(questions, seed, prompt_bytes), latency_ms)


def differences(folder: Path) -> list[str]:
    """Return the names of the bundled files that are not what would be written; `folder` is written into."""
    return [
        made.name
        for made in bundle(folder)
        if not (BUNDLED / made.name).is_file() or (BUNDLED / made.name).read_bytes() != made.read_bytes()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where a generated workload goes")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--prompt-bytes", type=int, default=20_000, help="bytes of one prompt at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0, help="what the provider waits before each reply")
    parser.add_argument("--check", action="store_true", help="compare the bundled workload, write nothing")
    options = parser.parse_args(argv)
    if options.check:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            wrong = differences(Path(folder))
        for name in wrong:
            print(f"{name} differs from what make_workload.py writes", file=sys.stderr)
        return 1 if wrong else 0
    if options.folder is None:
        made = bundle(BUNDLED)
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        made = generate(
            options.folder,
            options.questions,
            seed=options.seed,
            prompt_bytes=options.prompt_bytes,
            latency_ms=options.latency_ms,
        )
    for path in made:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
