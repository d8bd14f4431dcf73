"""The plugin ``budget``: how often tools may be called in a run, and what all runs may use."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fired import Fired
from tests.plugins.traces import Person, Traces, failing

from react_plugins.budget import Budget
from react_plugins.cache import Cache
from react_plugins.retry import Retry
from react_run import RunResult, StopReason
from react_run.testing import agent_with, calls, replayed, run_agent, says

READS = [calls(*[("read", {"path": str(number)}) for number in range(5)]), says("done")]


@pytest.mark.parametrize(
    ("options", "made"), [({"tool_calls": 3}, 3), ({"tools": {"re*": 2}}, 2), ({"tools": {"web": 0}}, 5), ({}, 5)]
)
def test_calls_beyond_the_budget_are_refused_and_the_model_is_told(options: dict[str, Any], made: int) -> None:
    traces = Traces()
    result = run_agent(READS, tools=traces.tools(), plugins=[Budget(**options)], failure_handling="legacy")
    assert sorted(traces.reads) == [str(number) for number in range(made)]
    codes = [step.error_code for step in result.steps]
    assert codes == [None] * made + ["budget_exhausted"] * (5 - made)
    assert result.answer == "done"


def test_each_run_has_a_budget_of_its_own() -> None:
    traces = Traces()
    agent = agent_with([*READS[:1], says("done")], tools=traces.tools(), plugins=[Budget(tool_calls=5)])

    async def scenario() -> list[RunResult]:
        return list(await asyncio.gather(*(agent.run("go") for _ in range(200))))

    assert all(not step.failed for result in asyncio.run(scenario()) for step in result.steps)
    assert len(traces.reads) == 1000


@pytest.mark.parametrize("budget_first", [True, False])
def test_a_call_that_another_plugin_refuses_is_not_counted(budget_first: bool) -> None:
    traces, person = Traces(), Person.saying("no", "yes")
    plugins = [Budget(tool_calls=1), person]
    replies = [calls(("write", {"path": "a"})), calls(("write", {"path": "b"})), says("done")]
    run_agent(
        replies,
        tools=traces.tools(),
        plugins=plugins if budget_first else plugins[::-1],
        failure_handling="legacy",
    )
    assert traces.writes == ["b"]


def test_repeated_attempts_count_and_cached_answers_do_not() -> None:
    flaky, made = failing(*[ValueError()] * 9)
    run_agent(
        [calls(("flaky", {})), says("")], tools=[flaky], plugins=[Retry(first_wait=0, attempts=5), Budget(tool_calls=2)]
    )
    assert len(made) == 2
    traces, cache = Traces(), Cache()
    replies = [calls(("read", {"path": "a"})), calls(("read", {"path": "b"})), says("done")]
    for _ in range(2):
        result = run_agent(replies, tools=traces.tools(), plugins=[cache, Budget(tool_calls=2)])
        assert not any(step.failed for step in result.steps)


def spending(budget: Budget, usage: dict[str, object] | None, *others: object) -> RunResult:
    """One run of a new agent whose model call uses ``usage``."""
    return run_agent([says("done", usage=usage)], plugins=[budget, *others])


def test_money_and_tokens_are_counted_over_all_runs() -> None:
    fired = Fired()
    for options, reason in (({"cost": 1.0}, "cost_limit"), ({"tokens": 25}, "token_limit")):
        budget = Budget(**options)
        usage: dict[str, object] = {"input_tokens": 8, "output_tokens": 2, "cost": 0.4}
        reasons = [spending(budget, usage, fired).stop_reason for _ in range(4)]
        assert reasons == ["completed", "completed", "completed", reason]
    assert len(fired.of("budget")) == 2


def test_a_run_that_may_spend_no_more_makes_no_call() -> None:
    budget = Budget(cost=0.1)
    usage: dict[str, object] = {"input_tokens": 1, "output_tokens": 1, "cost": 0.1}
    spending(budget, usage)
    agent = agent_with([says("done")], plugins=[budget])
    result = agent.run_sync("go")
    assert (result.iterations, result.usage.requests) == (0, 0)
    assert "The budget of 0.1 USD for all runs is used up" in result.answer


def test_an_unknown_price_exhausts_the_budget() -> None:
    budget = Budget(cost=5)
    assert spending(budget, None).stop_reason == StopReason.COMPLETED
    assert "unknown sum" in spending(budget, None).answer


def test_after_the_period_it_begins_anew() -> None:
    budget = Budget(tokens=1, period=1000)
    usage: dict[str, object] = {"input_tokens": 8, "output_tokens": 2, "cost": 0.4}
    assert [spending(budget, usage).stop_reason for _ in range(2)] == ["completed", "token_limit"]
    budget._spent.started -= 1001
    assert spending(budget, usage).stop_reason == "completed"


def test_a_replay_ends_where_the_budget_of_all_runs_ended_the_run(tmp_path: Path) -> None:  # J3
    recording = tmp_path / "run.jsonl"
    replies = [says("done", usage={"input_tokens": 10, "output_tokens": 1})]
    budget = Budget(tokens=10)
    run_agent(replies, plugins=[budget])
    assert run_agent(replies, plugins=[budget], trace=str(recording)).stop_reason == StopReason.TOKEN_LIMIT
    assert replayed(recording, agent_with(replies, plugins=[Budget(tokens=10)])).stop_reason == StopReason.TOKEN_LIMIT


def test_two_budgets_count_each_call_once_each() -> None:
    traces = Traces()
    budgets = [Budget(tools={"read": 5}), Budget(tool_calls=5)]
    result = run_agent(READS, tools=traces.tools(), plugins=budgets)
    assert [step.error_code for step in result.steps] == [None] * 5
