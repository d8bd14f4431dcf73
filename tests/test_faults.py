"""Faults at the N-th await, for every N: nothing is lost, nothing is left behind (reliability 4, behaviour H2).

The coroutine of a run is driven by hand: at its N-th suspension something else comes back than what it waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.driving import Driven, Faults

from react_run import (
    Iteration,
    Message,
    ModelRequest,
    ModelResponse,
    Observation,
    ReActAgent,
    Run,
    RunResult,
    StopReason,
    TextDelta,
    ToolRequest,
    hookimpl,
    read_journal,
    tool,
)
from react_run.models.base import Model
from react_run.models.protocol import ProtocolChecker
from react_run.policies.deadline import Deadline
from react_run.support.threads import busy_threads
from react_run.testing import Functions


class Fault(Exception):
    """What is thrown in."""


class Slow(Model):
    """Asks for three calls and then for one more, then answers; each reply takes a suspension or two."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(0)
        iterations = sum(message.role == "assistant" for message in request.messages)
        wanted = {0: ["read", "wait", "write"], 1: ["wait"]}.get(iterations, [])
        requests = tuple(ToolRequest(id=f"c{iterations}_{name}", name=name, arguments={}) for name in wanted)
        return ModelResponse(message=Message(role="assistant", content="" if wanted else "ok", tool_requests=requests))

    async def stream(self, request: ModelRequest) -> Any:
        response = await self.complete(request)
        if response.text:
            yield TextDelta(text=response.text)
            await asyncio.sleep(0)
        yield response


@dataclass
class Watch:
    """Sees the run, suspends wherever a hook may, and has the calls of a reply driven by hand, too."""

    faults: Faults
    ended: list[str] = field(default_factory=list)

    @hookimpl
    async def react_run_started(self, run: Run) -> None:
        self.faults.runs.append(run)
        await asyncio.sleep(0)

    @hookimpl
    async def react_tool_call(self, proceed: Callable[[], Coroutine[Any, Any, Observation]]) -> Observation:
        result: Observation = await Driven(proceed(), self.faults)
        return result

    @hookimpl
    async def react_iteration(self, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]) -> Iteration:
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
    def react_run_finished(self) -> None:
        self.ended.append("finished")

    @hookimpl
    def react_run_failed(self, error: BaseException) -> None:
        self.ended.append(type(error).__name__)


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


@tool(read_only=False, serial=True, inline=True)
def write() -> str:
    """Write, at once."""
    return "written"


@dataclass
class Outcome:
    """How a driven run ended."""

    count: int
    result: RunResult | None
    error: BaseException | None
    run: Run | None
    ended: list[str]


def drive(number: int, fault: Callable[[Run | None], BaseException | None], *, stream: bool = False) -> Outcome:
    """Run the agent once, with a fault at the ``number``-th suspension."""

    async def scenario() -> Outcome:
        faults = Faults(number, fault)
        watch = Watch(faults)
        agent = ReActAgent(
            {"run_timeout": 600.0},
            model=Slow(),
            toolsets=[Functions(functions=[read, wait, write])],
            plugins=[watch, *([Listener()] if stream else [])],
            journal=journal,
        )

        async def driven() -> RunResult:
            result: RunResult = await Driven(agent.run("go"), faults)
            return result

        before = asyncio.all_tasks()
        task = asyncio.ensure_future(driven())
        await asyncio.wait((task,), timeout=20)
        assert task.done(), "the run hangs"
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        others = asyncio.all_tasks() - before - {task}
        if others:  # what is written to the disk may still be on its way
            await asyncio.wait(others, timeout=2)
        left = [other for other in others if not other.done()]
        assert not left, f"left behind: {left}"
        run = faults.runs[0] if faults.runs else None
        if run is not None:
            recorded = read_journal(journal)
            assert recorded.run_id == run.id
            assert recorded.footer is not None
        return Outcome(faults.count, None if error else task.result(), error, run, watch.ended)

    with TemporaryDirectory() as directory:
        journal = Path(directory, "run.jsonl")
        return asyncio.run(scenario())


class Listener:
    """Has the model streamed."""

    @hookimpl
    def react_text_delta(self, text: str) -> None:
        pass


def whole(run: Run) -> None:
    """Every request has one result, in order, and the next request would be valid."""
    checker = ProtocolChecker()
    checker.advance([*run.messages, Message(role="user", content="go on")])
    assert len(run.outcome.steps) == sum(message.role == "tool" for message in run.messages)


NUMBERS = range(1, 1 + max(drive(0, lambda run: None, stream=stream).count for stream in (False, True)))


def test_there_is_something_to_interrupt() -> None:
    outcome = drive(0, lambda run: None)
    assert outcome.result is not None
    assert (outcome.result.answer, outcome.result.success, len(outcome.result.steps)) == ("ok", True, 4)
    assert outcome.count > 15


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
def test_an_exception_at_any_await_ends_the_run_with_a_valid_history(number: int, stream: bool) -> None:
    outcome = drive(number, lambda run: Fault("injected"), stream=stream)
    if outcome.error is not None:
        assert isinstance(outcome.error, Fault)
        assert outcome.ended == (["Fault"] if outcome.run is not None else [])
    else:
        assert outcome.result is not None  # it hit a tool, a listener, or the very end
    if outcome.run is not None:
        whole(outcome.run)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
def test_cancellation_at_any_await_propagates_and_leaves_a_valid_history(number: int, stream: bool) -> None:
    def cancel(run: Run | None) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    outcome = drive(number, cancel, stream=stream)
    if outcome.run is not None:
        whole(outcome.run)
    if outcome.result is None:
        assert isinstance(outcome.error, asyncio.CancelledError)
        assert outcome.ended in ([], ["CancelledError"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_deadline_at_any_await_gives_a_result_with_everything_so_far(number: int, stream: bool) -> None:
    def expire(run: Run | None) -> None:
        if run is not None and run.state(Deadline).running:
            run.state(Deadline).expire()

    outcome = drive(number, expire, stream=stream)
    assert outcome.result is not None, outcome.error
    assert outcome.result.stop_reason in (StopReason.TIMEOUT, StopReason.COMPLETED)
    assert outcome.result.answer.strip()
    assert outcome.ended == ["finished"]
    assert outcome.run is not None
    whole(outcome.run)


def test_no_thread_is_left_at_work() -> None:
    before = busy_threads()
    for number in NUMBERS:
        drive(number, lambda run: Fault("injected"))
    patience = time.monotonic() + 60
    while busy_threads() > before:  # a thread that was given up ends when its tool returns
        assert time.monotonic() < patience
        time.sleep(0.01)
