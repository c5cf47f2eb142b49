"""Plans and manifests: [PLAN-1] to [PLAN-6], [VER-3], [VER-4], [VER-8]; nothing of a plan is repeated [PLAN-4]."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from aef_verify.problems import InputError
from aef_verify.runner.plan import (
    Credential,
    Judge,
    PlanRefusedError,
    Suite,
    load_plan,
    load_runner,
    plan_id_of,
    read_plan,
    read_runner,
)
from tests.runner.telling import PLAN_ID, plan, plan_bytes, plan_document, runner_document

SECRET = "sk-live-0123456789"
REFERENCE = {"name": "API_KEY", "scheme": "env", "path": "MY_KEY", "purpose": "judge"}
SUBJECT = plan_document()["subject"]


def refused(**members: Any) -> PlanRefusedError:
    """Return the refusal of a plan with these members."""
    with pytest.raises(PlanRefusedError) as fault:
        plan(**members)
    return fault.value


def test_plan1_plan2_plan5_a_plan_is_read_with_what_it_leaves_open() -> None:
    data = plan_bytes()
    found = load_plan(data)
    assert (found.plan_id, found.digest) == (PLAN_ID, sha256(data).hexdigest())
    assert found.subject == ("agent:triage", "7")
    assert (found.max_usd, found.cases, found.timeout) == (3.0, 3, 7200)
    assert type(found.max_usd) is float
    assert found.suites == (Suite("suite:triage", "3", None, None),)
    assert (found.deployment, found.endpoint, found.zone) == (None, None, None)
    assert (found.judges, found.credentials, found.runner_selector, found.unknown) == ((), (), (), ())
    assert found.target_mode == "live"


def test_plan1_plan3_a_plan_is_read_whole() -> None:
    digest = "sha256:" + "a" * 64
    found = plan(
        subject=SUBJECT | {"deployment": "deployment:dev", "endpoint": "https://agent.example.org/v1"},
        suites=[{"ref": "suite:a", "version": "1", "digest": digest, "lane": "quality"}],
        limits={"maxUsd": 0.1},
        judges=[{"model": "m", "provider": "p", "rubricDigest": digest}, {"model": "n"}],
        credentialRefs=[REFERENCE],
        runnerSelector=["os:linux"],
        isolation="remote-zone",
        zone="eu-1",
        targetMode="scripted",
    )
    assert (found.deployment, found.endpoint) == ("deployment:dev", "https://agent.example.org/v1")
    assert found.suites == (Suite("suite:a", "1", digest, "quality"),)
    assert (found.max_usd, found.cases, found.timeout) == (0.1, None, None)
    assert found.judges == (Judge("m", "p", digest), Judge("n", None, None))
    assert found.credentials == (Credential("API_KEY", "env", "MY_KEY", "judge"),)
    assert (found.runner_selector, found.isolation, found.zone) == (("os:linux",), "remote-zone", "eu-1")
    assert found.target_mode == "scripted"


def test_enc4_numbers_are_read_by_value() -> None:
    data = plan_bytes().replace(b'"cases": 3', b'"cases": 3.0').replace(b'"maxUsd": 3', b'"maxUsd": 9007199254740993')
    found = load_plan(data)
    assert (found.cases, type(found.cases), found.max_usd) == (3, int, float(2**53))


@pytest.mark.parametrize(
    ("members", "place", "rule"),
    [
        ({"schemaVersion": "2.0"}, "/schemaVersion", "[VER-4]"),
        ({"subject": {"ref": "agent:triage", "version": "latest"}}, "/subject/version", "[PLAN-1]"),
        ({"isolation": "container"}, "/subject/image", "[PLAN-1]"),
        ({"suites": []}, "/suites", "[PLAN-1]"),
        ({"judges": [{"model": "m", "provider": ""}]}, "/judges/0/provider", "[PLAN-1]"),
        ({"baseline": {"policy": 3}}, "/baseline", "[PLAN-1]"),
        ({"comparability": {"required": ["judges", "judges"]}}, "/comparability/required", "[PLAN-1]"),
        ({"limits": {}}, "/limits/maxUsd", "[PLAN-2]"),
        ({"limits": {"maxUsd": 1, "timeout": "PT30S"}}, "/limits/timeout", "[PLAN-2] [ENC-9]"),
        ({"credentialRefs": [{**REFERENCE, "name": SECRET}]}, "/credentialRefs/0/name", "[PLAN-3]"),
        ({"isolation": "remote-zone"}, "/zone", "[PLAN-7]"),
        ({"contentCapture": None}, "/contentCapture", "[RUN-11]"),
        ({"ext": 3}, "/ext", "[VER-3]"),
    ],
)
def test_what_a_reader_refuses_is_named_with_its_rule(members: dict[str, Any], place: str, rule: str) -> None:
    fault = refused(**members)
    assert str(fault).startswith(f"plan refused: {place} ")
    assert str(fault).endswith(f" {rule}")
    assert SECRET not in str(fault)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"credentialRefs": [SECRET]}, "/credentialRefs/0 is a bare text, which may be a secret"),
        ({"credentialRefs": SECRET}, "/credentialRefs is a bare text, which may be a secret"),
        ({"subject": SUBJECT | {"endpoint": f"https://me:{SECRET}@host/v1"}}, "/subject/endpoint has user information"),
        ({"subject": SUBJECT | {"endpoint": f"https://{SECRET}@host"}}, "/subject/endpoint has user information"),
        ({"subject": SUBJECT | {"endpoint": f"https://host/v1?key={SECRET}"}}, "/subject/endpoint has a query"),
        ({"subject": SUBJECT | {"endpoint": f"https://host/v1#{SECRET}"}}, "/subject/endpoint has a fragment"),
    ],
)
def test_plan4_a_secret_is_called_one_and_never_shown(members: dict[str, Any], said: str) -> None:
    fault = refused(**members, limits={})
    assert said in str(fault)
    assert "[PLAN-4]" in str(fault)
    assert SECRET not in str(fault)


def test_plan4_no_reference_stands_where_a_plan_is_shown() -> None:
    shown = repr(plan(credentialRefs=[{**REFERENCE, "path": SECRET}]))
    assert SECRET not in shown
    assert PLAN_ID in shown


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"planId":"a","planId":"a"}', b"[" * 65, b"\xef\xbb\xbf{}"])
def test_what_does_not_read_is_refused_without_an_id(data: bytes) -> None:
    with pytest.raises(PlanRefusedError) as fault:
        load_plan(data)
    assert fault.value.plan_id is None


def test_plan7_the_id_of_a_refused_plan_is_known_where_it_can_be_read() -> None:
    assert refused(limits={}).plan_id == PLAN_ID
    assert refused(limits={}, planId="not an id").plan_id is None
    assert refused(limits={}, planId=None).plan_id is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"planId": "a"}, "a"),
        ({"planId": "a" * 128}, "a" * 128),
        ({"planId": "a" * 129}, None),
        ({"planId": "a\n"}, None),
        ({"planId": ""}, None),
        ({"planId": 1}, None),
        ({"planId": "ä"}, None),
        (["planId"], None),
    ],
)
def test_plan7_an_id_is_valid_against_the_schema_of_ids(found: object, expected: str | None) -> None:
    assert plan_id_of(found) == expected


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"provider": "podman"}, "provider"),
        ({"isolation": "vm"}, "isolation"),
        ({"contentCapture": "some"}, "contentCapture"),
        ({"targetMode": "dreamt"}, "targetMode"),
        ({"credentialRefs": [REFERENCE, {**REFERENCE, "scheme": "hsm"}]}, "credentialRefs[1].scheme"),
        ({"credentialRefs": [{**REFERENCE, "purpose": "fun"}]}, "credentialRefs[0].purpose"),
    ],
)
def test_ver8_what_is_not_known_is_read_and_told(members: dict[str, Any], path: str) -> None:
    ((found, value),) = plan(**members).unknown
    assert found == path
    assert value in json.dumps(members)


def test_ver3_a_later_minor_is_read() -> None:
    found = plan(schemaVersion="1.9", colour="blue")
    assert found.unknown == ()


def test_plan6_a_manifest_without_modes_gives_live() -> None:
    found = load_runner(json.dumps(runner_document()).encode())
    assert found.target_modes == ("live",)
    assert (found.providers, found.tags, found.network_zone) == (("local",), ("os:linux",), None)
    modes = runner_document(targetModes=["scripted", "mocked"], networkZone="eu-1")
    found = load_runner(json.dumps(modes).encode())
    assert (found.target_modes, found.network_zone) == (("scripted", "mocked"), "eu-1")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "runner manifest refused: "),
        (json.dumps(runner_document(providers=[])).encode(), "/providers must have at least 1 item [PLAN-6]"),
        (json.dumps(runner_document(schemaVersion="2.0")).encode(), "/schemaVersion must be a version of AEF 1"),
        (json.dumps(runner_document(targetModes=[])).encode(), "/targetModes must have at least 1 item [PLAN-6]"),
    ],
)
def test_plan6_a_manifest_that_a_reader_refuses_is_an_input_error(data: bytes, said: str) -> None:
    with pytest.raises(InputError) as fault:
        load_runner(data)
    assert said in str(fault.value)


def test_a_plan_and_a_manifest_are_read_from_files_that_a_refusal_names(tmp_path: Path) -> None:
    plan, runner = tmp_path / "plan.json", tmp_path / "runner.json"
    plan.write_bytes(plan_bytes())
    runner.write_text(json.dumps(runner_document()))
    assert read_plan(str(plan)).digest == load_plan(plan.read_bytes()).digest
    assert read_runner(str(runner)) == load_runner(runner.read_bytes())
    plan.write_bytes(plan_bytes(subject=None))
    runner.write_text("{}")
    with pytest.raises(PlanRefusedError, match=f"^{plan}: ") as refusal:
        read_plan(str(plan))
    assert refusal.value.plan_id is not None
    with pytest.raises(InputError, match=f"^{runner}: "):
        read_runner(str(runner))
    with pytest.raises(InputError):
        read_plan(str(tmp_path))
