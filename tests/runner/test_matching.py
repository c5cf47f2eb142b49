"""[PLAN-7] Whether a runner takes a plan, as far as its manifest tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aef_verify.runner.matching import reasons, takes
from aef_verify.runner.plan import load_runner
from tests.runner.telling import plan, runner_document

Members = dict[str, Any]
REFERENCE = {"name": "API_KEY", "scheme": "env", "path": "the-path", "purpose": "judge"}


def found(asked: Members, given: Members) -> tuple[str, ...]:
    """Return the reasons for a plan and a manifest with these members, and check that they decide."""
    runner = load_runner(json.dumps(runner_document(**given)).encode())
    said = reasons(plan(**asked), runner)
    assert takes(plan(**asked), runner) is (not said)
    return said


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ({}, {}),
        ({"runnerSelector": ["os:linux", "os:linux"]}, {"tags": ["gpu:none", "os:linux"]}),
        ({"provider": "ci:github"}, {"providers": ["local", "ci:github"]}),
        ({"targetMode": "live"}, {}),
        ({}, {"targetModes": ["mocked", "live"]}),
        ({"targetMode": "mocked"}, {"targetModes": ["mocked"]}),
        ({"isolation": "remote-zone", "zone": "eu-1"}, {"networkZone": "eu-1"}),
        ({"zone": "eu-1"}, {"networkZone": "us-1"}),
        ({}, {"kind": "warehouse", "os": "plan9"}),
        ({"credentialRefs": [REFERENCE]}, {}),
        ({}, {"targetModes": ["live", "dreamt"]}),
    ],
)
def test_plan7_a_plan_is_taken(asked: Members, given: Members) -> None:
    assert found(asked, given) == ()


@pytest.mark.parametrize(
    ("asked", "given", "said"),
    [
        ({"runnerSelector": ["gpu:a100"]}, {}, "does not carry the tag gpu:a100"),
        ({"provider": "docker"}, {}, "does not support the provider 'docker'"),
        ({"targetMode": "scripted"}, {}, "'scripted'; a manifest without target modes gives live alone"),
        ({}, {"targetModes": ["scripted"]}, "'live', which a plan without a target mode asks for"),
        ({"isolation": "remote-zone", "zone": "eu-1"}, {}, "asks for the zone eu-1, and the runner is in no zone"),
        ({"isolation": "remote-zone", "zone": "eu-1"}, {"networkZone": "us-1"}, "the runner is in the zone us-1"),
    ],
)
def test_plan7_a_runner_that_cannot_take_it(asked: Members, given: Members, said: str) -> None:
    (reason,) = found(asked, given)
    assert said in reason


@pytest.mark.parametrize(
    ("asked", "given", "said"),
    [
        ({"provider": "podman"}, {"providers": ["podman"]}, "provider 'podman'"),
        ({"isolation": "vm"}, {}, "isolation 'vm'"),
        ({"contentCapture": "some"}, {}, "contentCapture 'some'"),
        ({"targetMode": "dreamt"}, {"targetModes": ["dreamt"]}, "targetMode 'dreamt'"),
        ({"credentialRefs": [{**REFERENCE, "scheme": "hsm"}]}, {}, "credentialRefs[0].scheme is not known"),
        ({"credentialRefs": [{**REFERENCE, "purpose": "fun"}]}, {}, "credentialRefs[0].purpose is not known"),
    ],
)
def test_plan7_ver8_what_is_not_known_is_not_taken_even_if_it_is_listed(
    asked: Members, given: Members, said: str
) -> None:
    (reason,) = found(asked, given)
    assert said in reason
    assert "not known to this version" in reason


def test_plan3_no_reason_names_where_a_credential_is() -> None:
    asked = {"credentialRefs": [{**REFERENCE, "scheme": "hsm", "purpose": "fun"}], "provider": "podman" * 100}
    said = found(asked, {})
    assert len(said) == 4
    assert not any("the-path" in reason or "hsm" in reason or "fun" in reason for reason in said)
    assert all(len(reason) < 300 for reason in said)
