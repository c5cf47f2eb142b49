"""Rules over `evidence.ndjson`, in the order of 03 §3.9.

`evidence-id` [EVD-1], `evidence-digest` [EVD-2], `blob` [EVD-3], `content-capture` [RUN-11].
"""

from __future__ import annotations

from typing import Any

from aef_verify.encoding.digests import bare
from aef_verify.layout import EVIDENCE
from aef_verify.problems import Problem

CONTENT_KINDS = frozenset(("judge_reasoning", "tool_call", "document", "input", "expected", "output", "transcript"))
"""The kinds of evidence that hold content, so that `contentCapture: off` rules them out [RUN-11]."""


class EvidenceRules:
    """Takes the lines of `evidence.ndjson`, valid against the reader schema, in order.

    Attributes:
        ids: the evidence ids seen.
        links: (line, traceId, spanId) of every span link, lower case as the schema has them.
    """

    def __init__(self, blobs: dict[str, int], withheld: frozenset[str], capture_off: bool) -> None:
        """Take the size of every blob present by hex name, the withheld ones, and whether content was not captured."""
        self.problems: list[Problem] = []
        self.ids: set[str] = set()
        self.links: list[tuple[int, str, str | None]] = []
        self._blobs = blobs
        self._withheld = withheld
        self._capture_off = capture_off

    def take(self, number: int, line: dict[str, Any]) -> None:
        """Judge one record."""
        place, identity, link = f"{EVIDENCE}:{number}", line["evidenceId"], line["link"]
        if identity in self.ids:
            self.problems.append(Problem(place, "evidence-id", "an earlier line has this id", identity))
        self.ids.add(identity)
        if "blob" in link:
            blob, digest = link["blob"], line["digest"]
            if digest != blob:
                self.problems.append(Problem(place, "evidence-digest", f"the link names the blob {blob}", digest))
            name = bare(blob)
            if name not in self._blobs and name not in self._withheld:
                self.problems.append(Problem(place, "blob", "the blob it links to is not in the run", name))
        elif "traceId" in link:
            self.links.append((number, link["traceId"], link["spanId"]))
        if self._capture_off and line["kind"] in CONTENT_KINDS:
            detail = "contentCapture is off, and evidence of this kind holds content"
            self.problems.append(Problem(place, "content-capture", detail, line["kind"]))
