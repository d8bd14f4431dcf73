"""The last answer (behaviour S2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from react_run import ModelRequest, ReActAgent, StopReason, Tool, ToolError
from react_run.models.scripted import ScriptedModel
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]


def requests(agent: ReActAgent) -> list[ModelRequest]:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model.requests


@pytest.mark.parametrize("limit", [1, 3])
def test_the_budget_forces_an_answer_without_tools(scripted_tool: Make, limit: int) -> None:
    replies = [*[calls(("read", {"x": n})) for n in range(limit)], says("So far it says: text. The end is missing.")]
    agent = agent_with(replies, tools=[scripted_tool("read", "text")], max_iterations=limit)
    result = agent.run_sync("go")
    assert result.answer.startswith("So far")
    assert (result.stop_reason, result.finish_reason, result.success) == (StopReason.MAX_ITERATIONS, "length", False)
    assert (result.iterations, result.usage.requests) == (limit, limit + 1)  # L2
    assert (requests(agent)[-1].tools, requests(agent)[-1].tool_choice) == ((), None)
    assert [message.role for message in result.messages][-2:] == ["user", "assistant"]


def test_a_call_instead_of_the_last_answer_is_ignored_and_asked_about_once(scripted_tool: Make) -> None:
    replies = [calls(("read", {"x": 1})), calls(("read", {"x": 2}), text="Let me see."), says("text")]
    agent = agent_with(replies, tools=[scripted_tool("read", "text")], max_iterations=1)
    result = agent.run_sync("go")
    assert (result.answer, len(result.steps), result.usage.requests) == ("text", 1, 3)
    assert not any(message.tool_requests for message in result.messages[4:])


def test_calls_for_ever_end_with_what_is_known(scripted_tool: Make) -> None:
    agent = agent_with([calls(("read", {"x": 1}))], tools=[scripted_tool("read", "!12 pages")], max_iterations=1)
    result = agent.run_sync("go")
    assert result.answer.startswith("Verified results:\n- 12 pages\n\nUnresolved:\n- Maximum iterations reached")
    assert (result.stop_reason, result.usage.requests) == (StopReason.MAX_ITERATIONS, 3)
    assert result.messages[-1].text == result.answer


def test_the_text_beside_a_last_call_is_taken_when_there_is_nothing_better(scripted_tool: Make) -> None:
    replies = [calls(("read", {"x": 1})), calls(("read", {"x": 2})), calls(("read", {"x": 3}), text="It is text.")]
    result = run_agent(replies, tools=[scripted_tool("read", "text")], max_iterations=1)
    assert result.answer == "It is text."
    assert not result.messages[-1].tool_requests


def test_a_call_written_as_text_is_no_last_answer(scripted_tool: Make) -> None:
    replies = [calls(("read", {"x": 1})), says('{"name": "read", "arguments": {"x": 2}}'), says("It is text.")]
    result = run_agent(replies, tools=[scripted_tool("read", "text")], max_iterations=1)
    assert (result.answer, len(result.steps), result.usage.requests) == ("It is text.", 1, 3)


def test_an_empty_last_answer_falls_back_to_facts() -> None:
    result = run_agent([calls(("nowhere", {})), says(""), says(" ")], max_iterations=1)
    assert result.answer.startswith("Unresolved:\n- nowhere: unknown tool")


def test_a_provider_that_fails_then_does_not_void_the_run(scripted_tool: Make) -> None:
    replies = [calls(("read", {"x": 1})), {"error": {"status": 401, "message": "expired"}}]
    result = run_agent(replies, tools=[scripted_tool("read", "!12 pages")], max_iterations=1)
    assert (result.stop_reason, result.answer[:17]) == (StopReason.MAX_ITERATIONS, "Verified results:")


def test_a_last_answer_is_grounded_like_any_other(scripted_tool: Make) -> None:  # F5
    tools = [scripted_tool("convert", ToolError("no such unit"))]
    result = run_agent([calls(("convert", {})), says("It is 42.")], tools=tools, max_iterations=1)
    assert (result.stop_reason, result.unverified_answer) == (StopReason.MAX_ITERATIONS, "It is 42.")
    assert result.answer.startswith("Unresolved:\n- convert: no such unit")
    assert [message.text for message in result.messages][-1] == result.answer


def test_the_conversation_can_go_on_after_a_limit(scripted_tool: Make) -> None:
    agent = agent_with([calls(("read", {"x": 1})), says("half")], tools=[scripted_tool("read", "t")], max_iterations=1)
    first = agent.run_sync("go")
    assert agent.run_sync("and the rest?", messages=first.messages).answer == "half"
