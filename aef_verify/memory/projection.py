"""The oracle's history: the gold sessions alone, so that retrieval has nothing left to do (docs/MEMORY_PAIR.md §1)."""

from __future__ import annotations

from aef_verify.memory.model import Question

NAME = "gold-sessions-1"
"""The projection as a definition names it: every gold session, each time it occurs, in haystack order, as `s1`, …"""


def project(question: Question) -> Question:
    """Return the question with its gold sessions alone, in haystack order, under opaque ids and without labels.

    A gold session that the haystack repeats is repeated here. The question's own id, type and answer stay for the
    judge; `gold` is empty, as nothing is left to tell apart.
    """
    gold = frozenset(question.gold)
    kept = [session for session in question.sessions if session.id in gold]
    sessions = tuple(session._replace(id=f"s{place}") for place, session in enumerate(kept, 1))
    return question._replace(sessions=sessions, gold=())
