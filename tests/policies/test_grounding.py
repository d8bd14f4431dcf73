"""Grounded endings (behaviours F5, F6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from react_run import NoResult, RunResult, StopReason, TextDelta, TextDiscarded, Tool, ToolError
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]
BAD = ToolError("no such unit", code="unknown_unit")


def test_a_claim_that_the_tools_do_not_support_is_set_aside(scripted_tool: Make) -> None:
    tools = [scripted_tool("add", "!1 + 2 = 3"), scripted_tool("convert", BAD)]
    result = run_agent([calls(("add", {})), calls(("convert", {})), says("It is 42 furlongs.")], tools=tools)
    assert (result.stop_reason, result.success) == (StopReason.UNRESOLVED_TOOL_FAILURE, False)
    assert result.answer == "Verified results:\n- 1 + 2 = 3\n\nUnresolved:\n- convert: no such unit"
    assert result.unverified_answer == "It is 42 furlongs."
    assert result.messages[-1].text == result.answer  # the next turn sees what the user saw
    assert sum(message.text == "It is 42 furlongs." for message in result.messages) == 0


RECOVERED: dict[str, tuple[list[str], dict[str, tuple[object, ...]]]] = {
    "same tool": (["a", "a"], {"a": (BAD, "!3")}),
    "another tool": (["a", "b"], {"a": (BAD,), "b": ("!3",)}),
    "a tool that is not interpreted": (["a", "b"], {"a": (BAD,), "b": ("3",)}),
    "two codes": (["a", "a", "a"], {"a": (BAD, ToolError("x", code="y"), "!3")}),
    "nothing found, then elsewhere": (["a", "b"], {"a": (NoResult("none"),), "b": ("!3",)}),
    "unknown tool, then the right one": (["nowhere", "a"], {"a": ("!3",)}),
}
"""Look-ups about one thing: each call has the same words."""


@pytest.mark.parametrize("case", RECOVERED)
def test_a_recovered_failure_does_not_void_the_answer(scripted_tool: Make, case: str) -> None:
    order, results = RECOVERED[case]
    tools = [scripted_tool(name, *outcomes, read_only=True) for name, outcomes in results.items()]
    replies = [calls((name, {"x": f"furlongs {n}"})) for n, name in enumerate(order)]
    result = run_agent([*replies, says("It is 3.")], tools=tools)
    assert (result.answer, result.success, list(result.unresolved)) == ("It is 3.", True, [])


def test_a_success_beside_a_failure_is_no_recovery(scripted_tool: Make) -> None:  # the model had not seen it
    tools = [scripted_tool("convert", BAD), scripted_tool("add", "!1 + 2 = 3")]
    result = run_agent([calls(("convert", {}), ("add", {})), says("It is 42.")], tools=tools)
    assert (result.stop_reason, result.unverified_answer) == (StopReason.UNRESOLVED_TOOL_FAILURE, "It is 42.")


def test_an_earlier_result_served_again_is_no_recovery(scripted_tool: Make) -> None:
    tools = [scripted_tool("add", "!1 + 2 = 3"), scripted_tool("convert", BAD)]
    replies = [calls(("add", {})), calls(("convert", {})), calls(("add", {})), says("It is 42.")]
    assert run_agent(replies, tools=tools).stop_reason == StopReason.UNRESOLVED_TOOL_FAILURE


def test_the_models_answer_is_kept_when_all_it_left_unresolved_is_opaque(scripted_tool: Make) -> None:
    result = run_agent([calls(("fetch", {})), says("The page is down.")], tools=[scripted_tool("fetch", OSError("x"))])
    assert (result.answer, result.success, result.stop_reason) == ("The page is down.", False, StopReason.COMPLETED)
    assert [(left.tool, left.code, left.opaque) for left in result.unresolved] == [("fetch", "execution_error", True)]


def test_a_failed_tool_leaves_facts_only_and_no_guess(scripted_tool: Make) -> None:
    tools = [scripted_tool("add", "!1 + 2 = 3"), scripted_tool("convert", BAD)]
    replies = [calls(("add", {})), calls(("convert", {"x": 1})), calls(("convert", {"x": 2}))]
    result = run_agent(replies, tools=tools)
    assert result.stop_reason == StopReason.TOOL_RETRY_EXHAUSTED
    assert result.answer == "Verified results:\n- 1 + 2 = 3\n\nUnresolved:\n- convert: no such unit"
    assert result.unverified_answer is None


def test_facts_are_listed_once_and_in_order(scripted_tool: Make) -> None:
    tools = [
        scripted_tool("b", "!two"),
        scripted_tool("a", "!one"),
        scripted_tool("c", "!two"),
        scripted_tool("d", BAD),
    ]
    result = run_agent([*[calls((name, {})) for name in "bacd"], says("?")], tools=tools)
    assert result.answer.startswith("Verified results:\n- two\n- one\n\nUnresolved:")


def test_an_empty_answer_is_no_success(scripted_tool: Make) -> None:  # F6
    result = run_agent([says("  ")], failure_handling="legacy")
    assert (result.success, result.stop_reason) == (False, StopReason.COMPLETED)


def test_legacy_grounds_nothing(scripted_tool: Make) -> None:  # F7
    result = run_agent(
        [calls(("convert", {})), says("It is 42.")], tools=[scripted_tool("convert", BAD)], failure_handling="legacy"
    )
    assert (result.answer, result.success) == ("It is 42.", False)  # F6 holds all the same


def test_a_streamed_claim_is_withdrawn(scripted_tool: Make) -> None:
    async def scenario() -> tuple[list[str], RunResult]:
        agent = agent_with([calls(("convert", {})), says("It is 42.")], tools=[scripted_tool("convert", BAD)])
        events = [event async for event in agent.stream("go")]
        kinds = [type(event).__name__ for event in events if isinstance(event, TextDelta | TextDiscarded)]
        assert isinstance(events[-1], RunResult)
        return kinds, events[-1]

    kinds, result = asyncio.run(scenario())
    assert kinds == ["TextDelta", "TextDelta", "TextDelta", "TextDiscarded"]
    assert result.unverified_answer == "It is 42."
