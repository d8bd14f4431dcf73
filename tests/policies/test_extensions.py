"""``on_limit: ask``: a person may let a run go on where a limit would end it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.questions.test_questions import Person

from react_run import ReActAgent, RunResult, StopReason, hookimpl, read_journal, tool
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets.agents import AgentsToolset


@tool(read_only=True, repeatable=True)
def step(number: int) -> int:
    """Make a step."""
    return number


@tool(read_only=True)
async def nap() -> str:
    """Sleep."""
    await asyncio.sleep(0.15)
    return "slept"


USED = {"input_tokens": 100, "output_tokens": 0, "cost": 0.1}
STEPS = [*(calls(("step", {"number": number}), usage=USED) for number in range(9)), says("there", usage=USED)]


def walking(*plugins: object, replies: list[Any] = STEPS, **config: Any) -> ReActAgent:
    config["limits"] = {"on_limit": "ask", **config.pop("limits", {})}
    return agent_with(replies, tools=[step, nap], plugins=plugins, name="walker", **config)


def walk(*plugins: object, **config: Any) -> RunResult:
    return walking(*plugins, **config).run_sync("go")


def test_a_person_may_allow_more_iterations_as_often_as_they_are_used_up() -> None:
    person = Person("yes")
    result = walk(person, max_iterations=5)
    assert (result.answer, result.iterations, result.stop_reason) == ("there", 10, StopReason.COMPLETED)
    assert [question.text for question in person.questions] == [
        "walker has reached its limit of 5 iterations. Allow 3 more?",
        "walker has reached its limit of 8 iterations. Allow 3 more?",
    ]


@pytest.mark.parametrize("answer", ["no", None])
def test_a_limit_ends_the_run_when_a_person_says_no_or_nobody_is_there(answer: str | None) -> None:
    result = walk(Person(answer), max_iterations=5)
    assert (result.stop_reason, result.iterations) == (StopReason.MAX_ITERATIONS, 5)


def test_an_answer_in_the_last_iteration_needs_no_more() -> None:
    person = Person("yes")
    assert walk(person, max_iterations=10).answer == "there"
    assert person.questions == []


def test_a_person_may_allow_more_money_and_more_tokens() -> None:
    for limits, text, reason in (
        ({"max_cost": 0.4}, "walker has reached its limit of 0.4 USD. Allow 0.2 USD more?", StopReason.COST_LIMIT),
        (
            {"max_total_tokens": 400},
            "walker has reached its limit of 400 tokens. Allow 200 more?",
            StopReason.TOKEN_LIMIT,
        ),
    ):
        person = Person("yes")
        assert walk(person, limits=limits).answer == "there"
        assert person.questions[0].text == text
        assert len(person.questions) == 3
        assert walk(Person("yes", "no"), limits=limits).stop_reason == reason


def test_what_one_run_was_allowed_no_other_run_has() -> None:
    agent = walking(Person("yes", "yes", "yes", "no"), limits={"max_cost": 0.4})
    assert [agent.run_sync("go").stop_reason for _ in range(2)] == [StopReason.COMPLETED, StopReason.COST_LIMIT]


def test_an_unknown_price_is_nothing_that_a_person_can_allow() -> None:
    person = Person("yes")
    replies: list[object] = [calls(("step", {"number": 1})), says("there")]
    assert walk(person, replies=replies, limits={"max_cost": 1}).stop_reason == StopReason.COST_LIMIT
    assert person.questions == []


def test_a_person_may_allow_more_time_and_what_runs_goes_on_meanwhile() -> None:
    naps: list[object] = [calls(("nap", {})), says("there")]
    person = Person("yes")
    result = walk(person, replies=naps, limits={"run_timeout": 0.1})
    assert (result.answer, result.stop_reason) == ("there", StopReason.COMPLETED)
    assert person.questions[0].text == "walker has reached its limit of 0.1 s. Allow 0.05 s more?"


@pytest.mark.parametrize("answer", ["no", None])
def test_without_more_time_the_run_ends_as_it_would(answer: str | None) -> None:
    naps: list[object] = [calls(("nap", {})), says("there")]
    result = walk(Person(answer), replies=naps, limits={"run_timeout": 0.1})
    assert (result.stop_reason, result.success) == (StopReason.TIMEOUT, False)


def test_a_person_who_breaks_has_allowed_nothing() -> None:
    class Broken:
        @hookimpl
        def react_ask(self) -> None:
            raise KeyError("bug")

    naps: list[object] = [calls(("nap", {})), says("there")]
    assert walk(Broken(), replies=naps, limits={"run_timeout": 0.1}).stop_reason == StopReason.TIMEOUT


def test_a_run_that_was_extended_can_be_replayed_without_anybody(tmp_path: Path) -> None:
    naps: list[object] = [*[calls(("step", {"number": n}), ("nap", {}), usage=USED) for n in range(4)], says("there")]
    limits = {"run_timeout": 0.2, "max_cost": 0.25}
    for answers in (["yes"], ["yes", "no"]):
        path = tmp_path / f"{len(answers)}.jsonl"
        person = Person(*answers)
        agent = walking(person, replies=naps, max_iterations=2, limits=limits, failure_handling="legacy")
        agent.replace(journal=path).run_sync("go")
        asked = [record for record in read_journal(path).own if record["type"] == "asked"]
        assert asked
        nobody = Person(None)
        again = walking(nobody, replies=naps, max_iterations=2, limits=limits, failure_handling="legacy")
        assert asyncio.run(replay(read_journal(path), again)).complete
        assert nobody.questions == []


class Slow:
    """Takes a few turns of the event loop for each answer, and counts the questions that are open at once."""

    def __init__(self) -> None:
        self.asked = self.open = self.most = 0

    @hookimpl
    async def react_ask(self) -> str:
        self.asked += 1
        self.open += 1
        self.most = max(self.most, self.open)
        for _ in range(20):
            await asyncio.sleep(0)
        self.open -= 1
        return "yes"


def test_subagents_at_once_have_one_question_asked_and_share_what_it_allows(tmp_path: Path) -> None:
    for name in ("east", "west"):
        replies = [{"text": "done", "usage": USED, "delay": 0.001}]
        data = {"name": name, "description": "Looks.", "model": {"kind": "scripted", "replies": replies}}
        (tmp_path / f"{name}.yaml").write_text(json.dumps(data), encoding="utf-8")
    both = calls(("east", {"task": "look"}), ("west", {"task": "look"}), usage=USED)
    slow = Slow()
    agent = agent_with(
        [both, says("there", usage={"input_tokens": 1, "output_tokens": 0, "cost": 0.0})],
        toolsets=[AgentsToolset(agents=[tmp_path / "east.yaml", tmp_path / "west.yaml"])],
        plugins=[slow],
        limits={"on_limit": "ask", "max_cost": 0.1},
    )
    assert agent.run_sync("go").answer == "there"
    assert slow.most == 1
