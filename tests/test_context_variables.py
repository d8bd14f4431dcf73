"""Every kind of tool call sees the caller's context variables, and none leaks back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from react_run import ReActAgent, ReActToolset, Run, Tool, ToolCall, ToolSpec, hookimpl
from react_run.testing import agent_with, calls, says

WHO: ContextVar[str] = ContextVar("who", default="nobody")


def look() -> str:
    """Say who is asking, then pretend to be somebody else."""
    seen = WHO.get()
    WHO.set("the tool")
    return seen


async def look_async() -> str:
    """Say who is asking, then pretend to be somebody else."""
    await asyncio.sleep(0)
    return look()


def look_later() -> Any:
    """Say who is asking, from what is to be awaited."""
    return look_async()


class Declared(ReActToolset):
    """A toolset of the class-style."""

    def get_toolspecs(self) -> list[ToolSpec]:
        from pydantic import BaseModel

        class Nothing(BaseModel):
            """No arguments."""

        return [ToolSpec(name="t", description="Look.", parameter_class=Nothing)]

    def execute(self, tool_name: str, args: Any) -> str:
        return look()


def function(function: Callable[[], Any], **flags: Any) -> Callable[[list[object]], ReActAgent]:
    def make(replies: list[object]) -> ReActAgent:
        return agent_with(replies, tools=[Tool.from_function(function, name="t", **flags)])

    return make


KINDS: dict[str, Callable[[list[object]], ReActAgent]] = {
    "plain": function(look),
    "inline": function(look, inline=True),
    "async": function(look_async),
    "returns something to await": function(look_later),
    "inline, returns something to await": function(look_later, inline=True),
    "serial": function(look, serial=True),
    "async serial": function(look_async, serial=True),
    "class-style": lambda replies: agent_with(replies, toolsets=[Declared()]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [1, 3])
def test_a_tool_sees_the_callers_context_and_leaves_it_alone(kind: str, together: int) -> None:
    async def scenario() -> tuple[list[str], str]:
        WHO.set("me")
        agent = KINDS[kind]([calls(*[("t", {})] * together), says("done")])
        agent.config.failure_handling = "legacy"
        result = await agent.run("go")
        return [step.observation for step in result.steps if step.executed], WHO.get()

    seen, after = asyncio.run(scenario())
    assert set(seen) == {"me"}
    assert after == "me"


@pytest.mark.parametrize("kind", KINDS)
def test_one_call_does_not_see_what_another_set(kind: str) -> None:
    async def scenario() -> list[str]:
        WHO.set("me")
        result = await KINDS[kind]([calls(("t", {})), calls(("t", {})), says("done")]).run("go")
        return [step.observation for step in result.steps if step.executed]

    assert set(asyncio.run(scenario())) == {"me"}


@pytest.mark.parametrize("kind", KINDS)
def test_concurrent_runs_see_each_its_own(kind: str) -> None:
    async def one(agent: ReActAgent, who: str) -> bool:
        WHO.set(who)
        return (await agent.run("go")).steps[0].observation == who

    async def scenario() -> list[bool]:
        agent = KINDS[kind]([calls(("t", {})), says("done")])
        return await asyncio.gather(*(one(agent, f"caller {n}") for n in range(30)))

    assert all(asyncio.run(scenario()))


@pytest.mark.parametrize("kind", KINDS)
def test_callers_without_a_loop_are_seen_too(kind: str) -> None:
    token = WHO.set("me")
    try:
        agent = KINDS[kind]([calls(("t", {})), says("done")])
        assert agent.run_sync("go").steps[0].observation == "me"

        async def notebook() -> str:
            return KINDS[kind]([calls(("t", {})), says("done")]).run_sync("go").steps[0].observation

        assert asyncio.run(notebook()) == "me"
        assert WHO.get() == "me"
    finally:
        WHO.reset(token)


def test_hooks_see_the_callers_context_and_what_a_layer_sets_reaches_the_tool() -> None:
    seen: list[str] = []

    class Identify:
        @hookimpl
        def react_run_started(self, run: Run) -> None:
            seen.append(WHO.get())

        @hookimpl
        def react_tool_call(self, call: ToolCall) -> None:
            seen.append(WHO.get())
            WHO.set("the layer")

    async def scenario() -> str:
        WHO.set("me")
        tools = [Tool.from_function(look, name="t"), Tool.from_function(look, name="u")]
        agent = agent_with([calls(("t", {}), ("u", {})), says("done")], tools=tools, plugins=[Identify()])
        result = await agent.run("go")
        assert [step.observation for step in result.steps] == ["the layer", "the layer"]
        return WHO.get()

    assert asyncio.run(scenario()) == "me"
    assert seen == ["me", "me", "me"]
