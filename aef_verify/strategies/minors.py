"""What a later minor of major 1 may hold: members and values that version 1.0 does not know [VER-3], [VER-8]."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Document = dict[str, Any]

EXTENSIBLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "run.json": (("execution", "targetMode"), ("execution", "stimulus"), ("subject", "kind")),
    "metrics.json": (("metrics", "*", "direction"),),
    "summary.json": (("lanes", "*", "metrics", "*", "verdict"), ("usage", "*", "role")),
    "results.ndjson": (
        ("severity",),
        ("annotator", "kind"),
        ("attack", "taxonomy", "*", "scheme"),
        ("usage", "*", "role"),
        ("trials", "aggregation"),
        ("aggregation", "strategy"),
        ("aggregation", "rulePath"),
    ),
    "evidence.ndjson": (("kind",),),
    "gates.ndjson": (("outcome",),),
}
"""Where a reader meets values it does not know without a problem of the run; `*` is every item of a list."""


@st.composite
def later_minor(draw: st.DrawFn, documents: dict[str, Document], lines: dict[str, list[Document]]) -> None:
    """Turn the documents of a run, in place, into those of a later minor; everything else stays as it is."""
    version = f"1.{draw(st.integers(1, 9) | st.integers(10, 10**6))}"
    every = [*documents.items(), *((path, line) for path, found in lines.items() for line in found)]
    for path, document in every:
        document["schemaVersion"] = version
        for holder in (document, *(member for member in document.values() if isinstance(member, dict))):
            if draw(st.integers(0, 3)) == 0 and holder is not document.get("config"):
                holder["x-later"] = draw(st.none() | st.booleans() | st.integers() | st.just({"any": ["thing"]}))
        for number, place in enumerate(EXTENSIBLE[path]):
            if draw(st.booleans()):
                _extend(document, place, f"later{number}")


def _extend(holder: Any, place: tuple[str, ...], value: str) -> None:
    """Write a value that version 1.0 does not know at every such place that holds one; `not_measured` stays."""
    if place[0] == "*":
        for number, item in enumerate(holder):
            _extend(item, place[1:], f"{value}.{number}")
    elif place[0] in holder:
        if len(place) > 1:
            _extend(holder[place[0]], place[1:], value)
        elif holder[place[0]] != "not_measured":
            holder[place[0]] = value
