"""A script in play: from what a request asks to what happens to it; no I/O, no clock.

In this order: is the request hit by the script's weather, which is the first rule that matches and is neither skipped
nor used up, is there a default. A request that none of these answers gets status 400.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aef_verify.provider.script import ANSWER, JUDGE, JUDGE_MARKER, Fault, Match, Reply, Rule, Script, Weather

NO_RULE = Fault("status", status=400)


class Message(NamedTuple):
    """One message of a request: its role, and its text, parts joined."""

    role: str
    text: str


class Asked(NamedTuple):
    """What a request asks, as a script sees it.

    Attributes:
        model: the model or deployment that it names.
        messages: all of them, in order.
        purpose: `answer` or `judge`.
        question: the question of the script that it asks, or None.
        digest: SHA-256 over the messages, hex.
        length: characters of all messages together.
    """

    model: str
    messages: tuple[Message, ...]
    purpose: str
    question: str | None
    digest: str
    length: int


class Play:
    """A script with its counts: how often each rule matched, how often each message came."""

    def __init__(self, script: Script) -> None:
        """Begin with nothing counted."""
        self.script = script
        self._questions = Questions(rule.match.question for rule in script.rules)
        self._markers = (JUDGE_MARKER, *script.judge_markers)
        self._general = [at for at, rule in enumerate(script.rules) if rule.match.question is None]
        self._by_question: dict[str, list[int]] = {}
        for at, rule in enumerate(script.rules):
            if rule.match.question is not None:
                self._by_question.setdefault(rule.match.question, []).append(at)
        self._matched = [0] * len(script.rules)
        self._came: dict[str, int] = {}
        self._in_a_row: dict[str, int] = {}

    def read(self, model: str, messages: Sequence[Message]) -> Asked:
        """Return what a request asks; counts nothing."""
        digest = hashlib.sha256()
        for message in messages:
            text = message.text.encode("utf-8", "surrogatepass")
            digest.update(b"%d %d " % (len(message.role), len(text)))
            digest.update(message.role.encode("utf-8", "surrogatepass"))
            digest.update(text)
        judged = model in self.script.judge_models or any(
            message.text.lstrip().startswith(self._markers) for message in messages
        )
        said = [message.text for message in messages if message.role == "user"]
        return Asked(
            model,
            tuple(messages),
            JUDGE if judged else ANSWER,
            self._questions.asked_in(said[-1]) if said else None,
            digest.hexdigest(),
            sum(len(message.text) for message in messages),
        )

    def outcome(self, asked: Asked) -> Reply | Fault:
        """Return what happens to a request, and count it.

        A drip without a text of its own takes that of the reply which the request would have got without it.
        """
        drip: Fault | None = None
        for outcome in self._outcomes(asked):
            if drip is not None:
                return drip._replace(text=outcome.text if isinstance(outcome, Reply) else "")
            if isinstance(outcome, Reply) or outcome.kind != "drip" or outcome.text is not None:
                return outcome
            drip = outcome
        return NO_RULE if drip is None else drip._replace(text="")

    def _outcomes(self, asked: Asked) -> Iterator[Reply | Fault]:
        """Yield what a request gets, and then what it would get without that; each is counted when it is reached."""
        hit = self._hit(asked)
        if hit is not None:
            yield hit
        for at in self._candidates(asked.question):
            rule = self.script.rules[at]
            if _matches(rule.match, asked):
                self._matched[at] += 1
                if _is_due(rule, self._matched[at]):
                    yield rule.outcome
        if self.script.default is not None:
            yield self.script.default

    def _hit(self, asked: Asked) -> Fault | None:
        weather = self.script.weather
        if weather is None or weather.purpose not in (None, asked.purpose):
            return None
        times = self._came.get(asked.digest, 0)
        self._came[asked.digest] = times + 1
        fault = weather_fault(weather, asked.digest, times)
        row = self._in_a_row.get(asked.digest, 0)
        if fault is None or row == weather.most:
            self._in_a_row[asked.digest] = 0
            return None
        self._in_a_row[asked.digest] = row + 1
        return fault

    def _candidates(self, question: str | None) -> Iterable[int]:
        """Return, in order, the places of the rules that a request with this question may match."""
        own = self._by_question.get(question, []) if question is not None else []
        return sorted((*own, *self._general)) if own else self._general


class Questions:
    """The questions of a script, found in the text of a request."""

    def __init__(self, questions: Iterable[str | None]) -> None:
        """Take the questions; None stands for none."""
        self._known = {question for question in questions if question is not None}

    def asked_in(self, text: str) -> str | None:
        """Return the question that a user's message asks, or None.

        It is the last one that stands on a line of its own, perhaps behind a label such as `Question: `; where
        there is no such line, the one that ends last anywhere in the text, the longer of two.
        """
        known = self._known
        if not known:
            return None
        for line in reversed(text.splitlines()):
            whole = line.strip()
            if whole in known:
                return whole
            labelled = whole.partition(": ")[2].strip()
            if labelled in known:
                return labelled
        ends = ((text.rfind(question), question) for question in known)
        found = [(at + len(question), len(question), question) for at, question in ends if at >= 0]
        return max(found)[2] if found else None


def weather_fault(weather: Weather, digest: str, times: int) -> Fault | None:
    """Return the fault that hits a message with this digest when it comes after `times` times before, or None.

    It depends on nothing else, so the faults of a workload are the same however its requests are interleaved.
    """
    drawn = hashlib.sha256(f"{weather.seed} {digest} {times}".encode()).digest()
    if int.from_bytes(drawn[:8]) >= weather.rate * 2.0**64:
        return None
    return weather.faults[int.from_bytes(drawn[8:16]) % len(weather.faults)]


def _matches(match: Match, asked: Asked) -> bool:
    return (
        match.question in (None, asked.question)
        and match.purpose in (None, asked.purpose)
        and match.model in (None, asked.model)
        and all(any(text in message.text for message in asked.messages) for text in match.contains)
        and not any(text in message.text for text in match.lacks for message in asked.messages)
    )


def _is_due(rule: Rule, matched: int) -> bool:
    return matched > rule.skip and (rule.times is None or matched <= rule.skip + rule.times)
