"""What a run's header has from its plan, and what is derived where that says nothing [PLAN-8], [PLAN-10], [RUN-12]."""

from __future__ import annotations

from typing import Any

import pytest

from aef_verify.runner.header import KINDS, deployment, subject_kind
from aef_verify.schemas.source import schema_text
from tests.runner.telling import plan

SUBJECT = {"ref": "agent:triage", "version": "7"}


@pytest.mark.parametrize(
    ("ref", "kind"),
    [("agent:a", "agent"), ("mcp-server:a:b", "mcp-server"), ("other:a", "other"), ("pipeline:a", "other")],
)
def test_plan10_the_kind_of_a_subject(ref: str, kind: str) -> None:
    assert subject_kind(ref) == kind


def test_plan10_the_kinds_are_those_of_the_schema() -> None:
    import json

    assert set(json.loads(schema_text("run", "writer"))["properties"]["subject"]["properties"]["kind"]["enum"]) == KINDS


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({}, None),
        ({"deployment": "deployment:dev"}, {"ref": "deployment:dev"}),
        (
            {"endpoint": "http://localhost:5080/v1"},
            {"ref": "endpoint:http://localhost:5080/v1", "endpoint": "http://localhost:5080/v1"},
        ),
        ({"endpoint": "http://a/%20"}, {"ref": "endpoint:http://a/%2520", "endpoint": "http://a/%20"}),
        (
            {"deployment": "deployment:dev", "endpoint": "http://a"},
            {"ref": "deployment:dev", "endpoint": "http://a"},
        ),
    ],
)
def test_plan10_the_deployment(members: dict[str, Any], place: dict[str, str] | None) -> None:
    assert deployment(plan(subject=SUBJECT | members)) == place
