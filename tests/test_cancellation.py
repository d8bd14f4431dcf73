"""A run that is cancelled at any await: it ends as cancelled, leaves nothing behind, and goes on from its journal.

The run has tools in threads and on the event loop, a subagent, a journal and, if asked, a reply that is streamed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.driving import Driven, Faults

from react_run import (
    Iteration,
    JournalError,
    Message,
    ModelRequest,
    ModelResponse,
    Observation,
    ReActAgent,
    Run,
    RunResult,
    TextDelta,
    ToolRequest,
    hookimpl,
    read_journal,
    tool,
)
from react_run.journal.replay.resume import resume
from react_run.models.base import Model
from react_run.support.threads import busy_threads
from react_run.testing import Functions
from react_toolsets.agents import AgentsToolset

PATIENCE = 60.0
"""Seconds after which a run counts as hung, also on a busy machine."""
CHILD = """\
name: helper
model:
  kind: scripted
  replies:
    - {delay: 0.001, tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}
    - {delay: 0.001, text: "42"}
toolsets: [math]
"""
CALLS: list[list[tuple[str, dict[str, object]]]] = [
    [("read", {}), ("wait", {}), ("send", {})],
    [("helper", {"task": "What is 6 times 7?"})],
    [("note", {}), ("wait", {})],
]


class Talking(Model):
    """Asks for what ``CALLS`` says, and answers; each reply takes a suspension or two."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(0)
        said = sum(message.role == "assistant" for message in request.messages)
        wanted = CALLS[said] if said < len(CALLS) else []
        requests = tuple(ToolRequest(id=f"c{said}_{name}", name=name, arguments=given) for name, given in wanted)
        return ModelResponse(message=Message(role="assistant", content="" if wanted else "ok", tool_requests=requests))

    async def stream(self, request: ModelRequest) -> Any:
        response = await self.complete(request)
        if response.text:
            yield TextDelta(text=response.text)
            await asyncio.sleep(0)
        yield response


@dataclass
class Listening:
    """Suspends wherever a hook may, and has the calls of a reply driven by hand, too."""

    faults: Faults
    ended: list[str] = field(default_factory=list)

    @hookimpl
    async def react_run_started(self) -> None:
        await asyncio.sleep(0)

    @hookimpl
    async def react_iteration(self, proceed: Callable[[], Awaitable[Iteration]]) -> Iteration:
        await asyncio.sleep(0)
        result = await proceed()
        await asyncio.sleep(0)
        return result

    @hookimpl
    async def react_settle(self) -> None:
        await asyncio.sleep(0)

    @hookimpl
    async def react_check_answer(self) -> None:
        await asyncio.sleep(0)

    @hookimpl
    async def react_tool_call(self, proceed: Callable[[], Coroutine[Any, Any, Observation]]) -> Observation:
        result: Observation = await Driven(proceed(), self.faults)
        return result

    @hookimpl
    def react_run_finished(self) -> None:
        self.ended.append("finished")

    @hookimpl
    def react_run_failed(self, error: BaseException) -> None:
        self.ended.append(type(error).__name__)


class Streaming:
    """Has the model streamed."""

    @hookimpl
    def react_text_delta(self, text: str) -> None:
        pass


@dataclass
class World:
    """What the tools did, and the agent that has them."""

    folder: Path
    stream: bool
    done: list[str] = field(default_factory=list)

    def agent(self, *plugins: object) -> ReActAgent:
        @tool(read_only=True)
        def read() -> str:
            """Read, in a thread."""
            return "text"

        @tool(read_only=True)
        async def wait() -> str:
            """Suspend a few times."""
            for _ in range(3):
                await asyncio.sleep(0)
            return "waited"

        @tool(read_only=False)
        def send() -> str:
            """Change something, in a thread."""
            self.done.append("send")
            return "sent"

        @tool(read_only=False, serial=True)
        async def note() -> str:
            """Change something, on the event loop."""
            await asyncio.sleep(0)
            self.done.append("note")
            await asyncio.sleep(0)
            return "noted"

        child = self.folder / "helper.yaml"
        child.write_text(CHILD, encoding="utf-8")
        return ReActAgent(
            {"run_timeout": 600.0},
            model=Talking(),
            toolsets=[Functions(functions=[read, wait, send, note]), AgentsToolset(agents=[str(child)])],
            plugins=[*plugins, *([Streaming()] if self.stream else [])],
        )


@dataclass(frozen=True)
class Ended:
    """How a driven run ended."""

    suspensions: int
    result: RunResult | None
    hooks: list[str]


def cancelled_at(number: int, world: World, journal: Path) -> Ended:
    """Run the agent once, and cancel the run at the ``number``-th suspension of anything in it."""

    async def scenario() -> Ended:
        def cancel(_: Run | None) -> None:
            task.cancel()

        faults = Faults(number, cancel)
        listening = Listening(faults)
        agent = world.agent(listening).replace(journal=journal)

        async def driven() -> RunResult:
            result: RunResult = await Driven(agent.run("go"), faults)
            return result

        before = asyncio.all_tasks()
        task = asyncio.ensure_future(driven())
        await asyncio.wait((task,), timeout=PATIENCE)
        assert task.done(), f"cancelled at {number}, the run hangs"
        others = asyncio.all_tasks() - before - {task}
        if others:  # what is written to the disk may still be on its way
            await asyncio.wait(others, timeout=PATIENCE)
        assert not [other for other in others if not other.done()], f"cancelled at {number}, tasks are left"
        return Ended(faults.count, None if task.cancelled() else task.result(), listening.ended)

    return asyncio.run(scenario())


def goes_on(world: World, journal: Path) -> RunResult:
    return asyncio.run(resume(journal, world.agent(), ended="result"))


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_run_cancelled_at_any_await_says_so_and_goes_on_from_its_journal(
    tmp_path: Path, stream: bool, record_property: Callable[[str, object], None]
) -> None:
    busy = busy_threads()
    undisturbed = cancelled_at(0, World(tmp_path, stream), tmp_path / "0.jsonl")
    assert undisturbed.result is not None
    assert (undisturbed.result.answer, undisturbed.hooks) == ("ok", ["finished"])
    assert undisturbed.suspensions > 25
    cancelled = 0
    for number in range(1, undisturbed.suspensions + 1):
        world, journal = World(tmp_path, stream), tmp_path / f"{number}.jsonl"
        ended = cancelled_at(number, world, journal)
        begun = journal.exists() and bool(journal.stat().st_size)
        if ended.result is None:
            cancelled += 1
            assert ended.hooks in ([], ["CancelledError"]), number
            if not begun:  # it had no time to write anything
                assert not world.done
                with pytest.raises(JournalError):
                    read_journal(journal)
                continue
            recorded = read_journal(journal)
            footer = recorded.footer
            assert footer is not None, number
            guards = [record["guard"] for record in recorded.records if record["type"] == "guard"]
            assert guards == [], f"cancelled at {number}, somebody else claims to have ended the run"
            assert (footer["status"], footer["stop_reason"]) == ("failed", "cancelled"), number
        result = goes_on(world, journal)
        assert result.answer == "ok", number
        assert len(world.done) == len(set(world.done)), f"cancelled at {number}, an effect happened twice"
        told = {step.action: step.observation for step in result.steps}
        for name in {"send", "note"} - set(world.done):
            assert "outcome is unknown" in told[name], f"cancelled at {number}, {name} got lost"
        assert read_journal(journal).footer is not None
    assert cancelled > undisturbed.suspensions * 0.9
    record_property("faults", cancelled)
    patience = time.monotonic() + PATIENCE
    while busy_threads() > busy:  # a thread that was given up ends when its tool returns
        assert time.monotonic() < patience
        time.sleep(0.01)
