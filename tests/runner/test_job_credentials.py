"""Credentials of a job: by reference, all resolved before it is accepted, and nowhere to be read [PLAN-3], [PLAN-4]."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aef_verify.runner.credentials import Credentials, UnresolvedError, resolve
from aef_verify.runner.plan import Credential
from aef_verify.runner.taking import NO_REASON
from tests.runner.jobbing import Json, Ran, case, plan, run, runner, suite, target

PATH, VALUE = "MY_SECRET_PLACE", "sk-0123456789abcdef"


def reference(**members: Any) -> Json:
    return {"name": "API_KEY", "scheme": "env", "path": PATH, "purpose": "judge"} | members


def ran(folder: Path, environment: Mapping[str, str], *references: Json, **given: Any) -> Ran:
    asked = plan(credentialRefs=list(references) or [reference()], **given.pop("plan", {}))
    return run(folder, plan=asked, environment=environment, **given)


def holders(folder: Path, *texts: str) -> list[str]:
    """Return the files below a folder that hold one of these texts, or whose name does."""
    return [
        str(path)
        for path in folder.rglob("*")
        for text in texts
        if text in path.name or (path.is_file() and text.encode() in path.read_bytes())
    ]


def test_plan3_a_job_whose_credentials_resolve_holds_neither_a_value_nor_a_path(tmp_path: Path) -> None:
    two = reference(name="OTHER", path="OTHER_PLACE_OF_MINE", purpose="subject")
    found = ran(tmp_path, {PATH: VALUE, "OTHER_PLACE_OF_MINE": "another value"}, reference(), two)
    assert found.end["kind"] == "job.sealed"
    assert holders(found.out, PATH, VALUE, "OTHER_PLACE_OF_MINE", "another value") == []
    assert VALUE not in repr(found.result)


@pytest.mark.parametrize(
    ("environment", "members", "said"),
    [
        ({}, {}, "its variable is not set"),
        ({PATH: ""}, {}, "its variable is empty"),
        ({"API_KEY": VALUE}, {}, "its variable is not set"),
        ({PATH: VALUE}, {"scheme": "keychain"}, "resolves `env` alone"),
        ({PATH: VALUE}, {"scheme": "vault"}, "resolves `env` alone"),
        ({PATH: VALUE}, {"scheme": "file"}, "not known"),
        ({PATH: VALUE}, {"purpose": "sponsor"}, "not known"),
    ],
)
def test_plan3_a_credential_that_does_not_resolve_refuses_the_plan(
    environment: dict[str, str], members: Json, said: str, tmp_path: Path
) -> None:
    found = ran(tmp_path, environment, reference(**members))
    assert [event["kind"] for event in found.events] == ["job.refused"]
    assert said in found.end["reason"]
    assert holders(found.out, PATH, VALUE) == []


def test_plan3_the_last_of_them_counts_as_the_first(tmp_path: Path) -> None:
    found = ran(tmp_path, {PATH: VALUE}, reference(), reference(path="NOT_THERE", purpose="other"))
    assert "credential reference 2 (scheme env, purpose other)" in found.end["reason"]


def test_plan3_a_name_that_is_its_path_is_not_said(tmp_path: Path) -> None:
    found = ran(tmp_path, {}, reference(name=PATH))
    assert found.end["kind"] == "job.refused"
    assert holders(found.out, PATH) == []


@pytest.mark.parametrize("secret", [PATH, VALUE, "v"])
@pytest.mark.parametrize("where", ["case", "suite", "lane", "subject", "endpoint", "deployment", "price table"])
def test_plan4_a_job_that_would_have_to_write_one_is_refused(where: str, secret: str, tmp_path: Path) -> None:
    ref = f"suite:{secret}" if where == "suite" else "suite:a"
    subject = {"ref": "agent:x", "version": "1"}
    if where == "subject":
        subject["version"] = secret
    if where in ("endpoint", "deployment"):
        subject[where] = {"endpoint": f"http://{secret}/", "deployment": f"deployment:{secret}"}[where]
    named = {"ref": ref, "version": "1"} | ({"lane": secret} if where == "lane" else {})
    cases = suite(ref, case(f"a {secret} b" if where == "case" else "1"))
    script = target(cases, priceTable=secret if where == "price table" else "tables")
    found = ran(
        tmp_path,
        {PATH: VALUE if secret == PATH else secret},
        plan={"suites": [named], "subject": subject},
        target=script,
    )
    assert [event["kind"] for event in found.events] == ["job.refused"]
    assert "PLAN-3" in found.end["reason"]
    if secret != "v":
        assert holders(found.out, secret) == []


def test_plan3_a_reason_that_holds_a_path_is_not_said(tmp_path: Path) -> None:
    asked = {"runnerSelector": [PATH.lower()]}
    found = ran(tmp_path, {PATH.lower(): VALUE}, reference(path=PATH.lower()), plan=asked, runner=runner())
    assert found.end["reason"] == NO_REASON


def credential(name: str = "A", path: str = PATH, purpose: str = "judge") -> Credential:
    return Credential(name, "env", path, purpose)


LONG = "team/" + "y" * 100


@pytest.mark.parametrize(
    ("path", "members", "shown"),
    [
        (LONG, {"provider": LONG}, LONG[:40]),
        (LONG, {"targetMode": LONG}, LONG[:40]),
        (LONG, {"isolation": LONG}, LONG[:40]),
        (LONG, {"contentCapture": LONG}, LONG[:40]),
        ("team\\place-of-it", {"provider": "team\\place-of-it"}, "place-of-it"),
        (PATH, {"provider": VALUE}, VALUE),
        (PATH, {"runnerSelector": [VALUE]}, VALUE),
        (PATH, {"suites": [{"ref": f"suite:{VALUE}", "version": "1"}]}, VALUE),
    ],
)
def test_plan3_a_reason_says_no_part_of_a_path_or_value_however_it_is_spelled(
    path: str, members: Json, shown: str, tmp_path: Path
) -> None:
    found = ran(tmp_path, {PATH: VALUE}, reference(path=path), plan=members)
    assert found.end["kind"] == "job.refused"
    assert found.end["reason"] == NO_REASON
    assert holders(found.out, shown) == []


def test_plan3_a_value_is_for_the_process_that_its_purpose_names() -> None:
    found = resolve([credential(), credential("B", "P", "subject")], {PATH: VALUE, "P": "other"})
    assert found.of("judge") == {"A": VALUE}
    assert found.of("subject") == {"B": "other"}
    assert found.of("attacker") == {}
    assert VALUE not in repr(found)
    assert VALUE not in str(found)
    assert not hasattr(found, "__dict__")


def test_plan3_two_values_under_one_name_for_one_process_are_none() -> None:
    environment = {PATH: VALUE, "P": "other", "Q": VALUE}
    with pytest.raises(UnresolvedError, match="another value"):
        resolve([credential(), credential(path="P")], environment)
    assert resolve([credential(), credential(path="Q")], environment).of("judge") == {"A": VALUE}
    assert resolve([credential(), credential(path="P", purpose="subject")], environment).of("subject") == {"A": "other"}


def test_plan3_where_values_stand() -> None:
    spelled = 'say "it" \\ é'
    found = Credentials({}, [spelled, "short"])
    for text in (spelled, 'say \\"it\\" \\\\ é', 'say \\"it\\" \\\\ \\u00e9'):
        assert found.stand_in_bytes(b"{" + text.encode() + b"}")
    # Seven bytes and less stand somewhere by chance.
    assert not found.stand_in_bytes(b"short")
    assert found.stand_in(["a", "in short"])
    assert not found.stand_in(["shor", "t"])
    assert not Credentials({}, ()).stand_in(["a"])
    assert not Credentials({}, ()).stand_in_bytes(b"a")


def test_plan3_a_value_that_is_no_utf_8_is_found() -> None:
    found = Credentials({}, ["12345678\udcff"])
    assert found.stand_in_bytes(b"x12345678\xffx")
