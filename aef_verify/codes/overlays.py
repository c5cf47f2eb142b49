"""The problems of an overlay chain (04 §4.2)."""

from __future__ import annotations

from aef_verify.codes.scopes import OVERLAYS, Row

_OVERLAYS_AGAIN = "Get overlays/ again from whoever keeps the run; the run's own outcome is not touched by this."

ROWS: tuple[Row, ...] = (
    (
        OVERLAYS,
        "batch-invalid",
        "OVL-4 OVL-5",
        "The seal of a batch does not read or does not have the shape of one; later batches have no effect.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "missing",
        "OVL-5",
        "The seal of a batch is not there although later ones are; no batch from here on has an effect.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "batch-number",
        "OVL-4 OVL-5",
        "A batch seal states another number than its file name.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "run-id",
        "OVL-4 OVL-5",
        "A batch seal is for a run of another id.",
        "Look where overlays/ came from: it may belong to another run.",
    ),
    (
        OVERLAYS,
        "run-hash",
        "OVL-4 OVL-5 SEAL-4",
        "A batch seal was made for other content of the run.",
        "Look where overlays/ came from: the run may have been made or sealed anew since.",
    ),
    (
        OVERLAYS,
        "offset",
        "OVL-4 OVL-5",
        "A batch does not begin where the one before it ends.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "limit",
        "ENC-17 OVL-5",
        "An overlay file, line or batch is beyond what is read, and what lies there has no effect.",
        "Look for what filled overlays/; everything that was verified before it still holds.",
    ),
    (
        OVERLAYS,
        "line-boundary",
        "OVL-4 OVL-5",
        "A batch does not cover whole lines of the events that are there.",
        "Compare the length of overlays/events.ndjson with a copy: it may have been cut.",
    ),
    (
        OVERLAYS,
        "batch-digest",
        "OVL-4 OVL-5",
        "The events of a batch were changed after it was sealed.",
        _OVERLAYS_AGAIN,
    ),
    (
        OVERLAYS,
        "previous",
        "OVL-4 OVL-5",
        "A batch does not follow the batch seal that stands before it.",
        "Compare with a copy: an earlier batch may have been exchanged.",
    ),
    (
        OVERLAYS,
        "uncovered",
        "OVL-4 OVL-5",
        "Some bytes of the events are in no batch; events there are shown as unsealed and have no effect.",
        "Have the new events sealed as the next batch, or ignore them.",
    ),
    (
        OVERLAYS,
        "event-invalid",
        "OVL-1 OVL-5",
        "A line is no event that reads, so it has no effect.",
        "Ask whoever wrote it to append the event again.",
    ),
    (
        OVERLAYS,
        "event-id",
        "OVL-1 OVL-5",
        "An earlier event has the same id, so this one has no effect.",
        "Ask whoever wrote it to append the event under a new id.",
    ),
    (
        OVERLAYS,
        "target",
        "OVL-2 OVL-5",
        "The event is about another run, other content, or a result that the run does not have; it has no effect.",
        "Check whether the event was copied from another run.",
    ),
    (
        OVERLAYS,
        "unexpected-file",
        "OVL-5",
        "Below overlays/ stands something that no overlay chain has.",
        "Remove it if nobody needs it; the chain and the run are judged without it.",
    ),
)
