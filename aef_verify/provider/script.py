"""What a fixture provider answers: a script's values, and how they are read from its file (docs/PROVIDER.md).

A script is checked whole before anything is served. A member that is not known is an error, as a misspelt one
would otherwise change nothing, in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aef_verify.given import read_given
from aef_verify.problems import InputError

VERSION = "1"
MAX_BYTES = 64 << 20
JUDGE_MARKER = "You are grading one answer to a question about past conversations."
"""How the first line of this project's own judge prompts begins."""

ANSWER, JUDGE = "answer", "judge"
PURPOSES = (ANSWER, JUDGE)


class Reply(NamedTuple):
    """A sound response.

    Attributes:
        text: the assistant's text; may be empty, or no verdict.
        input_tokens: the usage to report; counted from the messages where it is None.
        output_tokens: likewise, from the text.
        usage: whether any usage is reported.
        model: the model to name instead of the script's.
        latency_ms: how long to wait first; the script's latency where it is None.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    usage: bool = True
    model: str | None = None
    latency_ms: float | None = None


class Fault(NamedTuple):
    """A response that goes wrong, on the wire.

    Attributes:
        kind: one of `FAULTS`.
        latency_ms: how long to wait first; the script's latency where it is None.
        status: of `status`: the status code.
        retry_after: of `status`: the Retry-After header's value, as sent.
        retry_after_date: of `status`: seconds from now, sent as Retry-After in the form of an HTTP date.
        text: of `indecisive` and `drip`: the assistant's text. Of `malformed`: the whole body.
        seconds: of `timeout`: after how long the connection is closed, still without a response.
        when: of `reset`: `before` any byte of the response, or in the middle of its `body`.
        piece: of `drip`: bytes sent at a time.
        pause_ms: of `drip`: the wait before each piece.
    """

    kind: str
    latency_ms: float | None = None
    status: int = 500
    retry_after: str | None = None
    retry_after_date: float | None = None
    text: str | None = None
    seconds: float = 3600.0
    when: str = "before"
    piece: int = 16
    pause_ms: float = 20.0


FAULTS: Mapping[str, tuple[str, ...]] = {
    "status": ("status", "retryAfter", "retryAfterDate"),
    "timeout": ("seconds",),
    "truncated": (),
    "reset": ("when",),
    "malformed": ("text",),
    "empty": (),
    "indecisive": ("text",),
    "drip": ("text", "piece", "pauseMs"),
}
"""The kinds of faults, and the members each may have beside `kind` and `latencyMs`."""


class Match(NamedTuple):
    """Which requests a rule is for: those for which everything given here holds.

    Attributes:
        question: the request asks this question (see `play.Questions`).
        purpose: `answer` or `judge`.
        model: the model, or the deployment, that the request names.
        contains: every one of these texts stands in some message.
        lacks: none of these does.
    """

    question: str | None = None
    purpose: str | None = None
    model: str | None = None
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Rule(NamedTuple):
    """What happens to the requests that `match`: the first `skip` are passed over, then `times` of them (None: all)."""

    match: Match
    outcome: Reply | Fault
    skip: int = 0
    times: int | None = None


class Weather(NamedTuple):
    """Faults that hit a share of all requests, before any rule is asked.

    Attributes:
        rate: the share, from 0 to 1.
        seed: another seed hits other requests.
        faults: which ones; each hit takes one of them.
        most: how often, at most, one and the same request is hit in a row.
        purpose: only requests for this purpose, where given.
    """

    rate: float
    seed: int
    faults: tuple[Fault, ...]
    most: int | None = None
    purpose: str | None = None


class Script(NamedTuple):
    """What a provider answers.

    Attributes:
        rules: the first that matches a request, and is neither skipped nor used up, tells what happens.
        default: what happens where none does; None: status 400.
        model: the model that responses name; None: the one that was asked for.
        latency_ms: how long every response waits that says nothing else.
        weather: faults that hit a share of all requests.
        judge_models: the models whose every request is for a verdict.
        judge_markers: what a message begins with in a request for a verdict, beside `JUDGE_MARKER`.
    """

    rules: tuple[Rule, ...] = ()
    default: Reply | Fault | None = None
    model: str | None = None
    latency_ms: float = 0.0
    weather: Weather | None = None
    judge_models: frozenset[str] = frozenset()
    judge_markers: tuple[str, ...] = ()


def load_script(path: str) -> Script:
    """Read a script from its file.

    Raises:
        InputError: it cannot be read, or is no script; the message names the place.
    """
    try:
        document = json.loads(read_given(path, MAX_BYTES))
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{path}: not JSON: {fault}") from None
    try:
        return parse_script(document)
    except InputError as fault:
        raise InputError(f"{path}: {fault}") from None


def parse_script(document: object) -> Script:
    """Return the script that a JSON value holds.

    Raises:
        InputError: it is none; the message names the place.
    """
    script = _Members(document, "the script")
    if script.take("version", _text) != VERSION:
        raise InputError(f'version: only "{VERSION}" is known')
    judge = _Members(script.value("judge", {}), "judge")
    read = Script(
        rules=tuple(_rule(rule, f"rules[{at}]") for at, rule in enumerate(script.take("rules", _list, []))),
        default=_outcome(_Members(script.value("default"), "default")) if script.has("default") else None,
        model=script.take("model", _text, None),
        latency_ms=script.take("latencyMs", _number, 0.0),
        weather=_weather(_Members(script.value("faults"), "faults")) if script.has("faults") else None,
        judge_models=frozenset(judge.take("models", _texts, ())),
        judge_markers=judge.take("markers", _texts, ()),
    )
    judge.end()
    script.end()
    return read


def _rule(value: object, place: str) -> Rule:
    rule = _Members(value, place)
    match = _Members(rule.value("match", {}), f"{place}.match")
    read = Rule(
        match=Match(
            question=match.take("question", _line, None),
            purpose=match.take("purpose", _one_of(*PURPOSES), None),
            model=match.take("model", _text, None),
            contains=match.take("contains", _texts, ()),
            lacks=match.take("lacks", _texts, ()),
        ),
        skip=rule.take("skip", _count, 0),
        times=rule.take("times", _count, None),
        outcome=_outcome(rule),
    )
    match.end()
    return read


def _outcome(members: _Members) -> Reply | Fault:
    """Take `reply` or `fault`, and end: what else an object with an outcome may have is taken before."""
    if members.has("reply") == members.has("fault"):
        raise InputError(f"{members.place}: needs `reply` or `fault`, one of them")
    read = (
        _reply(members.value("reply"), f"{members.place}.reply")
        if members.has("reply")
        else _fault(members.value("fault"), f"{members.place}.fault")
    )
    members.end()
    return read


def _reply(value: object, place: str) -> Reply:
    reply = _Members({"text": value} if isinstance(value, str) else value, place)
    read = Reply(
        text=reply.take("text", _text),
        input_tokens=reply.take("inputTokens", _count, None),
        output_tokens=reply.take("outputTokens", _count, None),
        usage=reply.take("usage", _truth, True),
        model=reply.take("model", _text, None),
        latency_ms=reply.take("latencyMs", _number, None),
    )
    reply.end()
    return read


def _fault(value: object, place: str) -> Fault:
    fault = _Members(value, place)
    kind = fault.take("kind", _one_of(*FAULTS))
    given: dict[str, Any] = {"kind": kind, "latency_ms": fault.take("latencyMs", _number, None)}
    for member in FAULTS[kind]:
        if fault.has(member):
            field, read = _FAULT_MEMBERS[member]
            given[field] = fault.take(member, read)
    fault.end()
    return Fault(**given)


def _weather(weather: _Members) -> Weather:
    faults = weather.take("of", _list)
    read = Weather(
        rate=weather.take("rate", _share),
        seed=weather.take("seed", _count, 0),
        faults=tuple(_fault(fault, f"faults.of[{at}]") for at, fault in enumerate(faults)),
        most=weather.take("most", _count, None),
        purpose=weather.take("purpose", _one_of(*PURPOSES), None),
    )
    weather.end()
    if not read.faults:
        raise InputError("faults.of: needs at least one fault")
    return read


_NEEDED = object()


class _Members:
    """The members of an object that are still to be read."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{place}: must be an object")
        self.place = place
        self._left: dict[str, Any] = dict(value)

    def has(self, name: str) -> bool:
        return name in self._left

    def value(self, name: str, default: object = None) -> object:
        return self._left.pop(name, default)

    def take(self, name: str, read: Callable[[Any], Any], default: object = _NEEDED) -> Any:
        if name not in self._left:
            if default is _NEEDED:
                raise InputError(f"{self.place}: needs `{name}`")
            return default
        try:
            return read(self._left.pop(name))
        except ValueError as fault:
            raise InputError(f"{self.place}: `{name}` must be {fault}") from None

    def end(self) -> None:
        for name in self._left:
            raise InputError(f"{self.place}: `{name}` is not known here")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _line(value: object) -> str:
    text = _text(value).strip()
    if not text:
        raise ValueError("a text that is not blank")
    return text


def _texts(value: object) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(text, str) and text for text in values):
        raise ValueError("a text or a list of texts, none of them empty")
    return tuple(values)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise ValueError("a whole number, 0 or more")
    return value


def _number(value: object) -> float:
    # Compared before it is converted: a whole number of JSON may be too large for a float.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e9:
        raise ValueError("a number from 0 to 1,000,000,000")
    return float(value)


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return float(value)


def _status(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 200 <= value <= 599:
        raise ValueError("a status code from 200 to 599")
    return value


def _piece(value: object) -> int:
    if _count(value) == 0:
        raise ValueError("a whole number, 1 or more")
    return _count(value)


def _header(value: object) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():
        raise ValueError("a number, or a text of printable ASCII characters")
    return text


def _offset(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e6 <= value <= 1e6:
        raise ValueError("a number of seconds from -1,000,000 to 1,000,000")
    return float(value)


def _one_of(*words: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError("one of " + ", ".join(words))
        return value

    return read


_FAULT_MEMBERS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "status": ("status", _status),
    "retryAfter": ("retry_after", _header),
    "retryAfterDate": ("retry_after_date", _offset),
    "seconds": ("seconds", _number),
    "when": ("when", _one_of("before", "body")),
    "text": ("text", _text),
    "piece": ("piece", _piece),
    "pauseMs": ("pause_ms", _number),
}
