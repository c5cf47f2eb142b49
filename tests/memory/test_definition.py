"""An arm's definition and the suite that names it by content (docs/MEMORY_PAIR.md §2)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import rfc8785

from aef_verify.memory import definition, history, judge
from aef_verify.memory.model import RosterItem
from aef_verify.schemas import accepts
from tests.building import small

ROSTER = (RosterItem("a", "multi-session"), RosterItem("b_abs", "knowledge-update"))


def define(arm: str = "normal", **changed: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "arm": arm,
        "variant": "s",
        "preset": "subset",
        "seed": 0,
        "source_inputs_digest": "sha256:" + "0" * 64,
        "roster": ROSTER,
        "agent": {"kind": "full-history"},
        "answer": {"model": "m", "version": None, "temperature": 0, "maxTokens": 256},
        "judge": {"model": "j", "temperature": 0, "maxTokens": 16, "labelRule": "first-word", "policy": "absent"},
        "thresholds": {"accuracyPercent": 50},
    }
    return definition.arm_definition(**{**settings, **changed})


def test_members() -> None:
    found = define()
    assert tuple(found) == definition.MEMBERS
    assert found["roster"] == [{"id": "a", "type": "multi-session"}, {"id": "b_abs", "type": "knowledge-update"}]
    assert found["answer"]["promptDigest"] == history.ANSWER_PROMPT_DIGEST
    assert found["judge"]["promptDigests"] == judge.prompt_digests()
    assert found["projection"] is None


def test_the_oracle_differs_where_it_may() -> None:
    normal, oracle = define(), define("oracle", agent={"kind": "oracle-reader"})
    assert {name for name in normal if normal[name] != oracle[name]} == definition.BETWEEN_ARMS
    assert oracle["thresholds"] is None
    assert oracle["projection"]


def test_suite() -> None:
    found = define("oracle")
    suite = definition.suite_of(found)
    digest = hashlib.sha256(rfc8785.dumps(found)).hexdigest()
    assert suite == {
        "ref": "suite:longmemeval-s-subset-oracle",
        "version": f"1+{digest[:16]}",
        "digest": f"sha256:{digest}",
        "frozen": True,
    }


@pytest.mark.parametrize("arm", ["normal", "oracle"])
def test_a_run_may_name_the_suite(arm: str) -> None:
    header = {**small()["run.json"], "suite": definition.suite_of(define(arm))}
    assert accepts("run", "writer", header)


def test_every_change_is_another_suite() -> None:
    changes: list[dict[str, Any]] = [
        {}, {"arm": "oracle"}, {"variant": "m"}, {"preset": "full"}, {"seed": 1}, {"roster": ROSTER[:1]},
        {"source_inputs_digest": "sha256:" + "1" * 64}, {"agent": {"kind": "none"}}, {"thresholds": None},
    ]  # fmt: skip
    assert len({definition.suite_of(define(**change))["digest"] for change in changes}) == len(changes)
