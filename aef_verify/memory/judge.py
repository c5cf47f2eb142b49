"""How one answer is judged: the case, the prompt, and what a reply means (docs/MEMORY_PAIR.md §2).

Pure: no call is made here. The case follows from the question's type and, first, from the `_abs` suffix of its id. A
label rule reads a reply as yes, no or neither; neither is a verdict's absence and never a no.
"""

from __future__ import annotations

import re

from aef_verify.memory.digests import jcs_digest
from aef_verify.memory.model import Question
from aef_verify.memory.prompts import TEMPLATES, VERSION

CASES = tuple(TEMPLATES)

FIRST_WORD, UPSTREAM = "first-word", "upstream"
LABEL_RULES = (FIRST_WORD, UPSTREAM)
"""`first-word`: the reply's first word is yes or no, in any letter case, whatever marks stand around it.

`upstream`: a reply that holds `yes` anywhere, in any letter case, is a yes and every other one a no, as the scripts
published with LongMemEval decide; a blank reply is neither, as it says nothing.
"""

POLICIES = ("absent", "incorrect", "fail")
"""What becomes of a question whose judge gave no verdict: a typed absence, a failure, or the end of the run."""

_CASE_OF_TYPE = {
    "single-session-user": "factual",
    "single-session-assistant": "factual",
    "multi-session": "factual",
    "single-session-preference": "preference",
    "temporal-reasoning": "temporal",
    "knowledge-update": "knowledge-update",
}
_FIRST = re.compile(r"[\W_]*([^\W_]+)")


def judging_case(question_type: str, abstention: bool) -> str:
    """Return one of `CASES`.

    Raises:
        KeyError: the type is none of LongMemEval's.
    """
    case = _CASE_OF_TYPE[question_type]
    return "unanswerable" if abstention else case


def case_of(question: Question) -> str:
    """Return the judging case of a question."""
    return judging_case(question.type, question.abstention)


def judge_messages(question: Question, answer: str) -> list[dict[str, str]]:
    """Return the messages that ask for a verdict on one answer."""
    template = TEMPLATES[case_of(question)].text
    prompt = template.format(question=question.text, reference=reference_text(question.answer), answer=answer)
    return [{"role": "user", "content": prompt}]


def reference_text(answer: str | int | float) -> str:
    """Return the dataset's answer as text: an integral number without a fraction, whichever way it is written."""
    if isinstance(answer, float) and answer.is_integer():
        return str(int(answer))
    return str(answer)


def prompt_digest(case: str) -> str:
    """Return the digest of one case's template, `sha256:…`: a line's `annotator.rubricDigest`."""
    return jcs_digest({"version": VERSION, "case": case, "template": TEMPLATES[case].text})


def prompt_digests() -> dict[str, str]:
    """Return the digest of every case's template."""
    return {case: prompt_digest(case) for case in CASES}


def rubric_digest(rule: str) -> str:
    """Return the digest of the five templates' digests and the label rule: a run's `judges[0].rubricDigest`."""
    return jcs_digest({"labelRule": rule, "promptDigests": prompt_digests()})


def verdict(reply: str, rule: str) -> bool | None:
    """Return what a judge's reply says under a label rule: yes, no, or None for neither.

    Raises:
        KeyError: the rule is none of `LABEL_RULES`.
    """
    return _RULES[rule](reply)


def _first_word(reply: str) -> bool | None:
    found = _FIRST.match(reply)
    return {"yes": True, "no": False}.get(found[1].lower()) if found else None


def _upstream(reply: str) -> bool | None:
    return "yes" in reply.lower() if reply.strip() else None


_RULES = {FIRST_WORD: _first_word, UPSTREAM: _upstream}
