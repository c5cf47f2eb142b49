"""The agents under test: no label reaches one, whatever it does is its own failure, and BM25 really retrieves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.memory.agents import (
    BUILT_IN,
    ORACLE_READER,
    RETRIEVED,
    Agent,
    AgentAnswer,
    Bm25,
    HandedSession,
    load_agent,
)
from aef_verify.memory.entry import read_question
from aef_verify.memory.model import QUESTION_TYPES, Turn, Usage
from aef_verify.memory.projection import project
from aef_verify.problems import InputError
from tests.memory.asking import FakeClient, arm, custom, one, questions, reply
from tests.memory.datasets import entry, turn


class Recorder:
    """Keeps everything that agents are given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def sync(self, model: Any) -> Any:
        recorder = self

        class Sync:
            def ingest(self, sessions: Any) -> None:
                recorder.given += [model, sessions]

            def answer(self, question: str, date: str) -> str:
                recorder.given += [question, date]
                return "It is three."

        return Sync()

    def coroutines(self, model: Any) -> Any:
        recorder = self

        class Coroutines:
            async def ingest(self, sessions: Any) -> None:
                recorder.given += [model, sessions]

            async def answer(self, question: str, date: str) -> AgentAnswer:
                recorder.given += [question, date]
                return AgentAnswer(await model.ask([{"role": "user", "content": question}]))

        return Coroutines()

    def without_model(self) -> Any:
        return self.sync(None)


def reachable(value: object, seen: set[int] | None = None) -> set[str]:
    """Return every text that can be reached from a value by its members and items."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return set()
    seen.add(id(value))
    if isinstance(value, str):
        return {value}
    texts = {repr(value)}
    if isinstance(value, dict):
        parts: list[object] = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    else:
        names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
        parts = [getattr(value, name) for name in names if not name.startswith("__")]
        owner = getattr(value, "__self__", None)
        parts += [] if owner is None or type(owner).__name__ == "module" else [owner]
    return texts.union(*(reachable(part, seen) for part in parts))


def planted(kind: str, has_answer: bool) -> dict[str, Any]:
    """Return an entry with every label recognisable."""
    return entry(
        "LABEL-question-id_abs",
        question_type=kind,
        question="How many are there?",
        answer="LABEL-answer",
        haystack_session_ids=["LABEL-a", "LABEL-answer-session", "LABEL-b"],
        answer_session_ids=["LABEL-answer-session"],
        haystack_sessions=[[turn("One.")], [turn("It is three.", has_answer=has_answer)], [turn("Two.")]],
    )


@given(st.sampled_from(QUESTION_TYPES), st.booleans(), st.sampled_from(["sync", "coroutines", "without_model"]))
def test_no_label_reaches_an_agent(kind: str, has_answer: bool, way: str) -> None:
    recorder = Recorder()
    arm([read_question(planted(kind, has_answer))], FakeClient(), custom(getattr(recorder, way)))
    texts = reachable(recorder.given)
    assert any("It is three." in text for text in texts)
    assert not [text for text in texts if "LABEL" in text or kind in text or "has_answer" in text]


@given(st.sampled_from(QUESTION_TYPES), st.booleans(), st.sampled_from(sorted(BUILT_IN)))
def test_no_label_reaches_the_answer_model(kind: str, has_answer: bool, name: str) -> None:
    client = FakeClient()
    question = read_question(planted(kind, has_answer))
    arm([question], client, BUILT_IN[name])
    arm([project(question)], client, ORACLE_READER)
    asked = [call.text for call in client.of("answer")]
    assert len(asked) == 2
    assert not [text for text in asked if "LABEL" in text or kind in text or "has_answer" in text]


def test_handles_are_opaque_and_each_place_has_its_own() -> None:
    recorder = Recorder()
    arm(questions(1), FakeClient(), custom(recorder.sync))
    sessions: Sequence[HandedSession] = recorder.given[1]
    assert [session.handle for session in sessions] == ["h1", "h2", "h3"]
    assert [session.date for session in sessions] == entry()["haystack_dates"]
    assert sessions[1].turns == (Turn("user", "It is three."),)


def test_a_fresh_agent_answers_each_question() -> None:
    made = []

    class Once:
        def __init__(self) -> None:
            made.append(self)

        def ingest(self, sessions: object) -> None:
            assert not hasattr(self, "sessions")
            self.sessions = sessions

        def answer(self, question: str, date: str) -> str:
            return question

    assert all(outcome.state == "passed" for outcome in arm(questions(3), FakeClient(), custom(Once)).outcomes)
    assert len(set(made)) == 3


def test_plain_agents_block_nobody() -> None:
    # More than an event loop's own pool has threads for on a small machine.
    together = threading.Barrier(40, timeout=30)

    class Blocking:
        def ingest(self, sessions: object) -> None:
            together.wait()

        def answer(self, question: str, date: str) -> str:
            return "three"

    run = arm(questions(40), FakeClient(), custom(Blocking), concurrency=40)
    assert {outcome.state for outcome in run.outcomes} == {"passed"}


def test_a_plain_agent_that_does_not_end_holds_nothing_up() -> None:
    begun, release = threading.Event(), threading.Event()

    class Stuck:
        def ingest(self, sessions: object) -> None:
            begun.set()
            release.wait()

    def stop(event: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=lambda: (begun.wait(), loop.call_soon_threadsafe(event.set)), daemon=True).start()

    (outcome,) = arm(questions(1), FakeClient(), custom(Stuck), stop=stop).outcomes
    release.set()
    assert (outcome.state, outcome.reason) == ("error", "interrupted")


def agent_that(answering: Callable[[], object], *, at: str = "answer", coroutine: bool = False) -> Agent:
    """Return an agent that does something at one point."""

    class Own:
        def __init__(self) -> None:
            if at == "factory":
                answering()

        if coroutine:

            async def ingest(self, sessions: object) -> None:
                if at == "ingest":
                    answering()

            async def answer(self, question: str, date: str) -> object:
                return answering()

        else:

            def ingest(self, sessions: object) -> None:  # type: ignore[misc]  # one or the other
                if at == "ingest":
                    answering()

            def answer(self, question: str, date: str) -> object:  # type: ignore[misc]
                return answering()

    return custom(Own)


RAISED = [
    ValueError("secret"),
    SystemExit(3),
    StopIteration(),
    asyncio.CancelledError(),
    TimeoutError(),
    RuntimeError(),
]


@pytest.mark.parametrize("coroutine", [True, False], ids=["coroutine", "plain"])
@pytest.mark.parametrize("at", ["factory", "ingest", "answer"])
@pytest.mark.parametrize("fault", RAISED, ids=lambda fault: type(fault).__name__)
def test_what_an_agent_raises_is_its_failure_on_that_question(at: str, fault: BaseException, coroutine: bool) -> None:
    def raising() -> object:
        raise fault

    run = arm(questions(2), FakeClient(), agent_that(raising, at=at, coroutine=coroutine))
    assert run.abort_reason is None
    assert {(outcome.state, outcome.reason) for outcome in run.outcomes} == {("error", "answer-failed")}


@pytest.mark.parametrize("answer", [None, 3, b"three", ["three"], AgentAnswer(3), AgentAnswer("three", calls="many")])  # type: ignore[arg-type]
def test_an_answer_that_is_none_is_its_failure(answer: object) -> None:
    outcome = one(FakeClient(), agent_that(lambda: answer))
    assert (outcome.state, outcome.reason) == ("error", "answer-failed")


@pytest.mark.parametrize("answer", ["", " \n", AgentAnswer("")])
def test_a_blank_answer_is_not_judged(answer: object) -> None:
    client = FakeClient()
    outcome = one(client, agent_that(lambda: answer))
    assert (outcome.state, outcome.reason) == ("not_measured", "answer-empty")
    assert client.of("judge") == []


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        ("three", 2),
        (AgentAnswer("three"), 2),
        (AgentAnswer("three", calls=0), 2),
        (AgentAnswer("three", calls=7), 8),
        (AgentAnswer("three", calls=-7), 2),
        (AgentAnswer("three", calls=10**30), 1_000_001),
    ],
)
def test_an_agents_own_calls_count(answer: object, calls: int) -> None:
    assert one(FakeClient(), agent_that(lambda: answer)).calls == calls


def test_usage_that_an_agent_reports_is_its_own() -> None:
    usage = (Usage("judge", "mine", 5, 6), Usage("agent", "mine", 1, None), Usage("agent", "mine", -9, "x"))  # type: ignore[arg-type]
    outcome = one(FakeClient(), agent_that(lambda: AgentAnswer("three", usage=usage)))
    assert outcome.usage == (Usage("agent", "mine", 6, 6), Usage("judge", "grader", 10, 1))


@pytest.mark.parametrize(
    ("named", "all_gold"), [((), False), (("h2",), True), (("h1", "h3"), False), (("h9", "h2"), True)]
)
def test_what_an_agent_retrieved_is_mapped_back(named: tuple[str, ...], all_gold: bool) -> None:
    run = arm(questions(1), FakeClient(), agent_that(lambda: AgentAnswer("three", retrieved=named)))
    assert run.retrieved == {"q1": all_gold}


@pytest.mark.parametrize(("named", "all_gold"), [(("h1",), False), (("h2",), False), (("h1", "h2"), True)])
def test_all_gold_sessions_count(named: tuple[str, ...], all_gold: bool) -> None:
    asked = questions(1, answer_session_ids=["5f3c", "answer_1"])
    run = arm(asked, FakeClient(), agent_that(lambda: AgentAnswer("three", retrieved=named)))
    assert run.retrieved == {"q1": all_gold}


def test_an_agent_may_outlive_a_failed_call() -> None:
    from tests.memory.asking import lost

    class Careful:
        def __init__(self, model: Any) -> None:
            self.model = model

        async def ingest(self, sessions: object) -> None:
            return None

        async def answer(self, question: str, date: str) -> str:
            try:
                return str(await self.model.ask([]))
            except Exception:
                return "I do not know."

    client = FakeClient(lambda call: lost() if call.purpose == "answer" else reply("no"))
    assert one(client, custom(Careful)).state == "failed"


def sessions(count: int) -> list[HandedSession]:
    words = ["apples", "violins", "trains", "harbours"]
    return [
        HandedSession(f"h{at}", "2023/05/01", (Turn("user", f"We spoke about {words[at % 4]} on day {at}."),))
        for at in range(count)
    ]


def bm25(question: str, history: Sequence[HandedSession]) -> AgentAnswer:
    class Asked:
        async def ask(self, messages: list[dict[str, str]]) -> str:
            return messages[-1]["content"]

    agent = Bm25(Asked())
    agent.ingest(history)
    return asyncio.run(agent.answer(question, "2023/05/30"))


def test_bm25_hands_on_what_ranks_first_in_the_order_of_the_history() -> None:
    history = sessions(40)
    history[31] = HandedSession("gold", "2023/05/02", (Turn("user", "My zeppelin landed in Porto."),))
    answer = bm25("Where did the zeppelin land?", history)
    assert "gold" in answer.retrieved
    assert "zeppelin landed in Porto" in answer.text
    assert len(answer.retrieved) == RETRIEVED
    places = [next(at for at, session in enumerate(history) if session.handle == handle) for handle in answer.retrieved]
    assert places == sorted(places)


@pytest.mark.parametrize("question", ["", "?", "the of and", "Wie heißt das?", "\ud800"])
def test_bm25_answers_a_question_without_words_it_knows(question: str) -> None:
    assert len(bm25(question, sessions(20)).retrieved) == RETRIEVED


def test_bm25_hands_a_short_history_on_whole() -> None:
    assert len(bm25("apples", sessions(3)).retrieved) == 3


MODULES = {
    "good.py": "class Mine:\n    pass\nclass Inner:\n    make = Mine\n",
    "broken.py": "import nothing_of_this_name\n",
    "invalid.py": "def (:\n",
    "leaving.py": "import sys\nsys.exit(0)\n",
    "raising.py": "raise RuntimeError('no')\n",
    "plain.py": "thing = 3\n",
}


@pytest.mark.parametrize(
    "name",
    [
        *("", "other", ":", "good:", ":Mine", "good:Other", "good:Inner.other", "plain:thing", ".good:Mine"),
        *(f"{name[:-3]}:x" for name in MODULES if name not in ("good.py", "plain.py")),
        "missing_module:factory",
    ],
)
def test_an_agent_that_is_none_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, text in MODULES.items():
        (tmp_path / file).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="--agent"):
        load_agent(name)


@pytest.mark.parametrize("name", ["own_agent:Mine", "own_agent:Inner.make"])
def test_an_agent_stands_where_the_command_is_called(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_agent.py").write_text(MODULES["good.py"])
    monkeypatch.chdir(tmp_path)
    agent = load_agent(name)
    assert agent.definition == {"kind": "custom", "factory": name}
    assert type(agent.factory(FakeClient())).__name__ == "Mine"  # type: ignore[arg-type]
