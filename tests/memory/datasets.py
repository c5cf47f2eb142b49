"""Small datasets in the official format, made for one test each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATE = "2023/05/30 (Tue) 23:17"
ENTRY_ID = "q1"


def turn(content: str, role: str = "user", **labels: Any) -> dict[str, Any]:
    """One turn."""
    return {"role": role, "content": content, **labels}


def entry(identity: str = ENTRY_ID, **members: Any) -> dict[str, Any]:
    """One question with a gold session between two others, of which the second is the first again."""
    return {
        "question_id": identity,
        "question_type": "multi-session",
        "question": f"What about {identity}?",
        "answer": 3,
        "question_date": DATE,
        "haystack_session_ids": ["5f3c", "answer_1", "5f3c"],
        "haystack_dates": ["2023/05/01 (Mon) 10:00", "2023/05/02 (Tue) 10:00", "2023/05/03 (Wed) 10:00"],
        "haystack_sessions": [
            [turn("Ahoy, é."), turn("", "assistant")],
            [turn("It is three.", has_answer=True)],
            [turn("Ahoy, é."), turn("", "assistant")],
        ],
        "answer_session_ids": ["answer_1"],
        **members,
    }


def write(folder: Path, entries: Sequence[dict[str, Any]] | bytes, name: str = "longmemeval_s_cleaned.json") -> str:
    """Write a dataset, or the bytes of something else, and return its path."""
    path = folder / name
    path.write_bytes(entries if isinstance(entries, bytes) else json.dumps(entries, indent=4).encode())
    return str(path)
