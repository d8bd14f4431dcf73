"""The plugin ``prefetch``."""

from __future__ import annotations

from typing import Any

from tests.fired import Fired

from react_run import Observation, ToolRequest, hookimpl, tool
from react_run.testing import agent_with, says


@tool(read_only=True)
def search(query: str, limit: int = 3) -> str:
    """Search."""
    return f"{limit} hits for {query}"


def run_with(plugin: dict[str, Any], prompt: str = "red kites", **options: Any) -> Any:
    agent = agent_with([says("done")], tools=[search], plugins=[plugin, *options.pop("plugins", [])], **options)
    return agent.run_sync(prompt), agent.model


def test_the_result_is_before_the_model_when_it_is_first_asked() -> None:
    result, model = run_with({"kind": "prefetch", "tool": "search"})
    (request,) = model.requests
    assert [message.role for message in request.messages][-3:] == ["user", "assistant", "tool"]
    assert request.messages[-1].text == "3 hits for red kites"
    assert (result.success, result.usage.requests, result.iterations) == (True, 1, 2)
    assert [(step.action, step.executed) for step in result.steps] == [("search", True)]


def test_arguments_are_filled_with_the_prompt() -> None:
    arguments = {"query": "about {prompt}, please", "limit": 5}
    result, _ = run_with({"kind": "prefetch", "tool": "search", "arguments": arguments})
    assert result.steps[0].observation == "5 hits for about red kites, please"


def test_a_tool_that_is_not_there_is_noted_and_the_run_goes_on() -> None:
    fired = Fired()
    result, _ = run_with({"kind": "prefetch", "tool": "find"}, plugins=[fired])
    assert (result.success, result.steps) == (True, [])
    assert fired.details == [("prefetch", "find is not offered, so it was not called")]


def test_permission_is_asked_for_it() -> None:
    class Gate:
        @hookimpl
        def react_tool_permit(self) -> Observation:
            return Observation(content="Error: not now")

    result, model = run_with({"kind": "prefetch", "tool": "search"}, plugins=[Gate()])
    assert model.requests[0].messages[-1].text == "Error: not now"
    assert (result.steps[0].executed, result.success) == (False, False)


def test_each_turn_of_a_conversation_is_looked_up_anew() -> None:
    agent = agent_with([says("done")], tools=[search], plugins=[{"kind": "prefetch", "tool": "search"}])
    first = agent.run_sync("red kites")
    second = agent.run_sync("buzzards", messages=first.messages)
    assert second.steps[0].observation == "3 hits for buzzards"
    ids = [request.id for message in second.messages for request in message.tool_requests]
    assert len(set(ids)) == 2
    assert all(isinstance(request, ToolRequest) for message in second.messages for request in message.tool_requests)
