"""A run that has ended is freed when nobody holds it: a server may put the collector off."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from react_run import Run, hookimpl, tool
from react_run.run import ToolCall
from react_run.testing import agent_with, calls, run_agent


@tool
def look(x: str) -> str:
    """Look."""
    if x == "bad":
        raise ValueError(x)
    return f"{x} seen"


@tool
async def wait(x: str) -> str:
    """Wait."""
    await asyncio.sleep(0)
    return x


class Watch:
    """Remembers runs and calls without holding the runs."""

    def __init__(self) -> None:
        self.runs: list[weakref.ref[Run]] = []
        self.calls: list[ToolCall] = []

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        self.runs.append(weakref.ref(run))

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall) -> None:
        self.calls.append(call)


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


REPLIES: dict[str, list[Any]] = {
    "an answer": ["done"],
    "calls": [calls(("look", {"x": "a"}), ("look", {"x": "b"})), calls(("wait", {"x": "c"})), "done"],
    "failed calls": [calls(("look", {"x": "bad"})), calls(("nothing", {})), calls(("look", {"x": "a"})), "done"],
    "repeats": [calls(("look", {"x": "a"})), calls(("look", {"x": "a"})), "done"],
    "a limit": [calls(("look", {"x": "a"})), calls(("look", {"x": "b"})), calls(("look", {"x": "c"})), "done"],
}


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("replies", REPLIES.values(), ids=REPLIES)
def test_an_ended_run_needs_no_collector(replies: list[Any]) -> None:
    watch = Watch()
    run_agent(replies, tools=[look, wait], plugins=[watch], max_iterations=3)
    assert [run() for run in watch.runs] == [None]


@pytest.mark.usefixtures("no_collector")
def test_a_streamed_run_needs_no_collector() -> None:
    watch = Watch()
    agent = agent_with(REPLIES["calls"], tools=[look, wait], plugins=[watch])

    async def scenario() -> None:
        async for _ in agent.stream("go"):
            pass

    asyncio.run(scenario())
    assert [run() for run in watch.runs] == [None]


def test_a_call_names_its_run_for_as_long_as_somebody_holds_the_run() -> None:
    class Holder(Watch):
        held: Run

        @hookimpl
        def react_run_finished(self, run: Run) -> None:
            self.held = run

    holder = Holder()
    run_agent(REPLIES["calls"], prompt="look around", tools=[look, wait], plugins=[holder])
    assert holder.calls[0].run.prompt == "look around"
    del holder.held
    gc.collect()
    with pytest.raises(ReferenceError):
        _ = holder.calls[0].run.prompt
