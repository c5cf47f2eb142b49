"""How sessions and a question become the messages of one answer call; the same in both arms (docs/MEMORY_PAIR.md §2).

Nothing of a session but its date and its turns is rendered, and nothing of a question but its text and date: an id, a
type or a label has no way into a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from aef_verify.memory.digests import jcs_digest
from aef_verify.memory.model import Turn

FORMAT = "dated-sessions-1"
"""The rendering as a definition names it: sessions in the order given, each with its date, each turn with its role."""

ANSWER_PROMPT_VERSION = "1"

SYSTEM = (
    "You are an assistant with a record of earlier conversations between you and one user. "
    "Use that record to answer the user's question."
)

REQUEST = """\
The record of earlier conversations:

{history}

Today is {date}. Answer the question below from the record. Where the record holds an older and a newer statement of \
the same thing, the newer one counts. Where it does not hold what the question asks for, say that you do not know. \
Keep the answer short.

Question: {question}"""

NO_HISTORY = "(The record is empty.)"

ANSWER_PROMPT_DIGEST = jcs_digest({"version": ANSWER_PROMPT_VERSION, "system": SYSTEM, "request": REQUEST})


class Dated(Protocol):
    """A session as it is shown: when it took place and what was said."""

    @property
    def date(self) -> str:
        """When it took place, in the dataset's form."""

    @property
    def turns(self) -> Sequence[Turn]:
        """What was said."""


class Asked(Protocol):
    """A question as it is asked: its text and the day it is asked on."""

    @property
    def text(self) -> str:
        """What is asked."""

    @property
    def date(self) -> str:
        """When it is asked, in the dataset's form."""


def render(sessions: Iterable[Dated]) -> str:
    """Return the sessions as text, in the order given."""
    return "\n\n".join(_session(session) for session in sessions) or NO_HISTORY


def _session(session: Dated) -> str:
    lines = [f"--- Conversation of {session.date} ---"]
    lines += [f"{turn.role}: {turn.content}" for turn in session.turns]
    return "\n".join(lines)


def messages(text: str, date: str, sessions: Iterable[Dated]) -> list[dict[str, str]]:
    """Return the messages that ask `text` on `date` over the sessions."""
    request = REQUEST.format(history=render(sessions), date=date, question=text)
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": request}]


def answer_messages(question: Asked, sessions: Iterable[Dated]) -> list[dict[str, str]]:
    """Return the messages of the answer call for a question over the sessions."""
    return messages(question.text, question.date, sessions)
