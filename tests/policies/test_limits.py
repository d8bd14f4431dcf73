"""Money, tokens and time (behaviours S2, S4, T2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from react_run import Observation, Run, StopReason, Tool, ToolCall, hookimpl, tool
from react_run.engine.state import paused_seconds
from react_run.policies.deadline import Deadline
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]
USED = {"input_tokens": 80, "output_tokens": 20, "cost": 0.1}


def looping(iterations: int, usage: object = USED) -> list[dict[str, object]]:
    return [calls(("read", {"x": n}), usage=usage) for n in range(iterations)] + [says("done", usage=usage)]


@pytest.mark.parametrize("mode", ["safe", "legacy"])
@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"max_cost": 0.3}, StopReason.COST_LIMIT), ({"max_total_tokens": 300}, StopReason.TOKEN_LIMIT)],
)
def test_a_limit_ends_the_run_without_a_further_call(
    scripted_tool: Make, limit: dict[str, Any], reason: StopReason, mode: str
) -> None:
    tools = [scripted_tool("read", "!12 pages")]
    result = run_agent(looping(9), tools=tools, failure_handling=mode, **limit)
    assert (result.stop_reason, result.finish_reason, result.success) == (reason, "length", False)
    assert (result.iterations, result.usage.requests, len(result.steps)) == (3, 3, 3)
    assert "limit of" in result.answer
    assert result.answer.startswith("Verified results:\n- 12 pages\n\nUnresolved:\n- The ") is (mode == "safe")


def test_a_limit_that_is_not_reached_does_nothing(scripted_tool: Make, fired: Any) -> None:
    limits = {"max_cost": 10.0, "max_total_tokens": 10_000, "run_timeout": 60.0}
    result = run_agent(looping(3), tools=[scripted_tool("read", "t")], plugins=[fired], limits=limits)
    assert (result.answer, result.success, fired.guards) == ("done", True, [])


@pytest.mark.parametrize("usage", [None, {"input_tokens": 1, "output_tokens": 1}])
def test_an_unknown_price_stops_the_run_before_the_next_call(scripted_tool: Make, usage: object) -> None:
    tools = [scripted_tool("read", "t")]
    result = run_agent(looping(3, usage), tools=tools, max_cost=5.0)
    assert (result.stop_reason, result.usage.requests) == (StopReason.COST_LIMIT, 1)
    assert "price of the model is unknown" in result.answer
    result = run_agent(looping(3, usage), tools=tools, limits={"max_cost": 5.0, "allow_unknown_cost": True})
    assert (result.answer, result.success) == ("done", True)


def test_unknown_tokens_stop_the_run_too(scripted_tool: Make) -> None:
    result = run_agent(looping(3, None), tools=[scripted_tool("read", "t")], max_total_tokens=10_000)
    assert (result.stop_reason, result.usage.requests) == (StopReason.TOKEN_LIMIT, 1)


def test_no_money_at_all_means_no_call(scripted_tool: Make) -> None:
    result = run_agent(looping(3), tools=[scripted_tool("read", "t")], max_cost=0.0)
    assert (result.stop_reason, result.usage.requests, result.iterations) == (StopReason.COST_LIMIT, 0, 0)


@pytest.mark.parametrize("reply", [says("", usage=USED), says("the first half", finish_reason="length", usage=USED)])
def test_a_iteration_whose_reply_cannot_be_asked_for_again_has_taken_place(reply: dict[str, object]) -> None:  # L2
    result = run_agent([reply], max_cost=0.1)
    assert (result.stop_reason, result.iterations, result.usage.requests) == (StopReason.COST_LIMIT, 1, 1)


def test_money_that_runs_out_at_the_limit_of_iterations_leaves_the_facts(scripted_tool: Make) -> None:  # S2
    tools = [scripted_tool("read", "!12 pages")]
    result = run_agent(looping(9), tools=tools, max_cost=0.3, max_iterations=3)
    assert (result.stop_reason, result.usage.requests) == (StopReason.MAX_ITERATIONS, 3)
    assert result.answer.startswith("Verified results:\n- 12 pages")


def test_what_a_subagent_uses_counts_and_its_parents_limits_bind_it(scripted_tool: Make) -> None:  # S4, X1
    @tool
    async def delegate(task: str, run: Run) -> str:
        """Let another agent do it."""
        agent = agent_with(looping(9), tools=[scripted_tool("read", "t")])
        return str((await agent.run(task, parent=run)).stop_reason)

    replies = [calls(("delegate", {"task": "look"}), usage=USED), says("done", usage=USED)]
    result = run_agent(replies, tools=[delegate], max_cost=0.4)
    assert result.steps[0].observation == "cost_limit"
    assert (result.stop_reason, result.usage.requests) == (StopReason.COST_LIMIT, 4)
    assert result.usage.cost == pytest.approx(0.4)


@tool
async def hang() -> None:
    """Never return."""
    await asyncio.Event().wait()


@tool
def block() -> None:
    """Return late."""
    time.sleep(8)


@pytest.mark.parametrize("mode", ["safe", "legacy"])
@pytest.mark.parametrize("tools", [["hang"], ["block"], ["hang", "block", "quick"]])
def test_a_run_whose_time_is_up_ends_as_a_result_with_everything_so_far(tools: list[str], mode: str) -> None:
    @tool
    def quick() -> str:
        """Return at once."""
        return "here"

    started = time.perf_counter()
    replies = [calls(*[(name, {}) for name in tools]), says("never")]
    result = run_agent(replies, tools=[hang, block, quick], run_timeout=0.2, failure_handling=mode)
    assert time.perf_counter() - started < 7  # the blocking tool alone would take eight seconds
    assert (result.stop_reason, result.finish_reason, result.success) == (StopReason.TIMEOUT, "length", False)
    assert "time limit of 0.2 s" in result.answer
    assert [step.action for step in result.steps] == tools
    assert all("interrupted" in step.observation or step.observation == "here" for step in result.steps)
    answered = [message.tool_request_id for message in result.messages if message.role == "tool"]
    assert len(answered) == len(tools)


def test_a_run_in_which_nothing_waits_ends_before_its_next_model_call() -> None:  # S4
    @tool(inline=True)
    def busy() -> str:
        """Hold up the loop."""
        time.sleep(0.1)
        return "here"

    result = run_agent([calls(("busy", {})), says("never")], tools=[busy], run_timeout=0.05)
    assert (result.stop_reason, result.usage.requests) == (StopReason.TIMEOUT, 1)
    assert [step.observation for step in result.steps] == ["here"]


def test_a_model_that_hangs_is_given_up() -> None:
    result = run_agent([{"delay": 30.0, "text": "late"}], run_timeout=0.1)
    assert (result.stop_reason, result.iterations) == (StopReason.TIMEOUT, 1)


def test_the_time_in_which_a_person_is_asked_does_not_count() -> None:  # T2
    class Ask:
        @hookimpl
        async def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
            with run.paused_for_user():
                await asyncio.sleep(0.25)
            return None

    @tool
    def quick() -> str:
        """Return at once."""
        return "here"

    reply = calls(("quick", {}), ("quick", {}), ("hang", {}))
    result = run_agent([reply, says("never")], tools=[quick, hang], plugins=[Ask()], run_timeout=0.2)
    assert result.stop_reason == StopReason.TIMEOUT
    assert result.steps[0].observation == "here"


def test_waits_that_overlap_count_once() -> None:
    async def scenario() -> tuple[float, float]:
        runs: list[Run] = []

        class Watch:
            @hookimpl
            async def react_run(self, run: Run) -> None:
                runs.append(run)

                async def wait(seconds: float) -> None:
                    with run.paused_for_user():
                        await asyncio.sleep(seconds)

                await asyncio.gather(wait(0.05), wait(0.1))

        await agent_with(["hi"], plugins=[Watch()]).run("go")
        return paused_seconds(runs[0]), paused_seconds(runs[0])

    waited, shown = asyncio.run(scenario())
    assert waited == shown
    assert 0.09 < waited < 0.14


def test_somebody_elses_cancellation_is_not_mistaken_for_the_deadline() -> None:
    async def scenario() -> bool:
        runs: list[Run] = []
        started = asyncio.Event()

        class Watch:
            @hookimpl
            def react_tool_call_started(self, run: Run) -> None:
                runs.append(run)
                started.set()

        agent = agent_with([calls(("hang", {}))], tools=[hang], plugins=[Watch()], run_timeout=60.0)
        task = asyncio.ensure_future(agent.run("go"))
        await started.wait()
        runs[0].state(Deadline).expire()
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(scenario())
