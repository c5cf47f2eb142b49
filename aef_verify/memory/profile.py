"""The names of the memory pair profile, once: what an arm's evidence is written with and checked by.

docs/MEMORY_PAIR.md §2. A lane or path of a question's results, the summary's extension, the metric.
"""

from __future__ import annotations

EXTENSION = "agenteval.memoryPair"
"""The member of the summary's `ext` that makes a run an arm."""

ACCURACY = "accuracy"
"""The one metric."""

QUESTION_PATH, TYPE_PATH, ABSTENTION_PATH = "qa", "type", "abstention"
"""The paths of a question's line, of its view by type, and of that of a question that cannot be answered."""

LANE = "longmemeval"
"""The lane of the questions."""

ABSTENTION_LANE = f"{LANE}.abstention"


def type_lane(question_type: str) -> str:
    """Return the lane of the views of one question type."""
    return f"{LANE}.{question_type}"
