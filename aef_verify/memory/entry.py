"""One question of a LongMemEval dataset: its bytes checked field by field, and read into a `Question`.

In this order, each fault named by question and field: strict I-JSON within the depth limit [ENC-1..3, ENC-17]; numbers
that canonical JSON can represent (docs/MEMORY_PAIR.md §2); the members of the official format, each of its type;
lists of one length; sessions and turns; gold sessions that the haystack holds. Members the format does not know stay
in the entry and are not looked at further.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from aef_verify import limits
from aef_verify.encoding import ijson
from aef_verify.memory import framing
from aef_verify.memory.model import QUESTION_TYPES, Question, Session, Turn
from aef_verify.problems import InputError

LARGEST_INTEGER = 2**53 - 1
"""The largest integer that canonical JSON represents exactly [RFC 8785]."""

ROLES = ("user", "assistant")

_TEXTS = ("question_id", "question_type", "question", "question_date")
_HAYSTACK = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
_DATE = re.compile(
    r"([0-9]{4})/([0-9]{2})/([0-9]{2}) \((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\) ([01][0-9]|2[0-3]):[0-5][0-9]"
)
_ID = re.compile(r"[!-~]{1,256}")
_SHOWN = 120


class EntryError(ValueError):
    """What is wrong with one question: its id where it could be read, the field, and why."""

    def __init__(self, question: str | None, field: str, message: str) -> None:
        super().__init__(message)
        self.question = question
        self.field = field


def read_entry(data: bytes, depth: int) -> dict[str, Any]:
    """Return the entry that the bytes hold, exactly as they hold it; `depth` is how deep they nest.

    Raises:
        EntryError: not strict I-JSON, nested too deep, or with a number that canonical JSON cannot represent.
    """
    try:
        if depth > framing.LEVELS:
            raise EntryError(_id_in(data), framing.blame(data), f"nested deeper than {limits.DEPTH}")
        entry = ijson.parse_object(data)
    except ijson.EncodingError as fault:
        # A parser's line and column count within the entry, not the file: the field says more.
        why = str(fault).partition(" at line ")[0]
        raise EntryError(_id_in(data), framing.blame(data), f"no strict I-JSON: {clipped(why)}") from None
    field = _beyond(entry, "")
    if field is not None:
        identity = entry.get("question_id")
        raise EntryError(
            identity if isinstance(identity, str) else None, field, "a number that canonical JSON cannot represent"
        )
    return entry


def _id_in(data: bytes) -> str | None:
    """The question's id, out of bytes that do not read as a whole."""
    for name, value in framing.members(data):
        if name == b'"question_id"':
            try:
                found = ijson.parse(value)
            except ijson.EncodingError:
                return None
            return found if isinstance(found, str) else None
    return None


def _beyond(value: object, path: str) -> str | None:
    """The path of the first integer beyond what canonical JSON represents."""
    kind = type(value)
    if kind is int:
        return path if abs(value) > LARGEST_INTEGER else None  # type: ignore[arg-type] # as `kind` says
    items: Any = ()
    if kind is dict:
        items = value.items()  # type: ignore[attr-defined] # as `kind` says
    elif kind is list:
        items = enumerate(value)  # type: ignore[arg-type] # as `kind` says
    for name, item in items:
        # Most items are strings: a call for each would cost more than the parsing.
        if type(item) is not str:
            step = f"[{name}]" if kind is list else f".{name}" if path else str(name)
            found = _beyond(item, path + step)
            if found is not None:
                return found
    return None


def read_question(entry: dict[str, Any]) -> Question:
    """Return the question that an entry holds, without its turns' labels.

    Raises:
        EntryError: a member is missing, of another type, or does not go with the others.
    """
    identity = entry.get("question_id")
    try:
        return _question(entry)
    except _Fault as fault:
        known = identity if isinstance(identity, str) else None
        raise EntryError(known, fault.field, fault.message) from None


class _Fault(Exception):
    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def _question(entry: dict[str, Any]) -> Question:
    for field in (*_TEXTS, "answer", *_HAYSTACK, "answer_session_ids"):
        if field not in entry:
            raise _Fault(field, "missing")
    for field in _TEXTS:
        _text(entry[field], field)
        if not entry[field].strip():
            raise _Fault(field, "empty")
    if not _ID.fullmatch(entry["question_id"]):
        raise _Fault("question_id", "not 1 to 256 visible ASCII characters")
    if entry["question_type"] not in QUESTION_TYPES:
        raise _Fault("question_type", f"{_shown(entry['question_type'])} is none of {', '.join(QUESTION_TYPES)}")
    _check_date(entry["question_date"], "question_date")
    answer = entry["answer"]
    if isinstance(answer, bool) or not isinstance(answer, (str, int, float)):
        raise _Fault("answer", "neither a text nor a number")
    if isinstance(answer, str) and not answer.strip():
        raise _Fault("answer", "empty")
    sessions = _sessions(entry)
    return Question(
        id=entry["question_id"],
        type=entry["question_type"],
        text=entry["question"],
        answer=answer,
        date=entry["question_date"],
        sessions=sessions,
        gold=_gold(entry["answer_session_ids"], {session.id for session in sessions}),
    )


def _sessions(entry: dict[str, Any]) -> tuple[Session, ...]:
    ids, dates, histories = (_list(entry[field], field) for field in _HAYSTACK)
    for field, other in (("haystack_dates", dates), ("haystack_sessions", histories)):
        if len(other) != len(ids):
            raise _Fault(field, f"{len(other)} items, but haystack_session_ids has {len(ids)}")
    return tuple(_session(place, *parts) for place, parts in enumerate(zip(ids, dates, histories, strict=True)))


def _session(place: int, identity: object, when: object, history: object) -> Session:
    if not _text(identity, f"haystack_session_ids[{place}]"):
        raise _Fault(f"haystack_session_ids[{place}]", "empty")
    field = f"haystack_dates[{place}]"
    _check_date(_text(when, field), field)
    field = f"haystack_sessions[{place}]"
    turns = tuple(_turn(turn, f"{field}[{index}]") for index, turn in enumerate(_list(history, field)))
    return Session(id=str(identity), date=str(when), turns=turns)


def _turn(turn: object, field: str) -> Turn:
    if not isinstance(turn, dict):
        raise _Fault(field, "not an object")
    role, content, label = turn.get("role"), turn.get("content"), turn.get("has_answer", False)
    if role not in ROLES:
        raise _Fault(f"{field}.role", f"{_shown(role)} is neither user nor assistant")
    if not isinstance(content, str):
        raise _Fault(f"{field}.content", "not a text")
    if label is not None and not isinstance(label, bool):
        raise _Fault(f"{field}.has_answer", "neither true nor false")
    return Turn(role, content)


def _gold(value: object, held: set[str]) -> tuple[str, ...]:
    gold = _list(value, "answer_session_ids")
    for place, identity in enumerate(gold):
        field = f"answer_session_ids[{place}]"
        if _text(identity, field) not in held:
            raise _Fault(field, f"{_shown(identity)} is no session of the haystack")
    return tuple(gold)


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise _Fault(field, "not a text")
    return value


def _list(value: object, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Fault(field, "not a list")
    return value


def _check_date(text: str, field: str) -> None:
    found = _DATE.fullmatch(text)
    try:
        if found:
            date(int(found[1]), int(found[2]), int(found[3]))
            return
    except ValueError:
        pass
    raise _Fault(field, f"{_shown(text)} is no date such as 2023/05/30 (Tue) 23:17")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def input_error(path: str, place: int, fault: EntryError) -> InputError:
    """The error a caller sees: the file, the question by id or else by its place, the field, and why."""
    question = f"question {_shown(fault.question)}" if fault.question is not None else f"question number {place + 1}"
    field = f"field {clipped(fault.field)}" if fault.field else "as a whole"
    return InputError(f"{path}: {question}, {field}: {fault}")


def clipped(given: str) -> str:
    """A field's path, or a parser's words, which may quote the input: short enough to read, nothing unprintable."""
    text = given if len(given) <= _SHOWN else given[:_SHOWN] + "…"
    return text if text.isprintable() else repr(text)
