"""Coroutines of a run driven by hand: at the N-th suspension something else comes back than what was waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from react_run import (
    Iteration,
    Message,
    ModelRequest,
    ModelResponse,
    Observation,
    Run,
    TextDelta,
    ToolRequest,
    hookimpl,
    tool,
)
from react_run.models.base import Model

PATIENCE = 60.0
"""Seconds after which a run counts as hung, also on a busy machine."""


@dataclass
class Faults:
    """Counts the suspensions of everything that is driven by hand, and lets one of them go wrong."""

    number: int
    fault: Callable[[Run | None], BaseException | None]
    runs: list[Run] = field(default_factory=list)
    count: int = 0

    def at_suspension(self) -> BaseException | None:
        self.count += 1
        return self.fault(self.runs[0] if self.runs else None) if self.count == self.number else None


@dataclass
class Driven:
    """Awaits ``work``, step by step."""

    work: Coroutine[Any, Any, Any]
    faults: Faults

    def __await__(self) -> Generator[Any, Any, Any]:
        send: Any = None
        error: BaseException | None = None
        while True:
            try:
                waited_for = self.work.send(send) if error is None else self.work.throw(error)
            except StopIteration as stop:
                return stop.value
            send, error = None, self.faults.at_suspension()
            if error is not None:
                continue
            try:
                send = yield waited_for
            except BaseException as thrown:  # also cancellation, handed on to the run
                error = thrown


class Suspending(Model):
    """Asks for calls, and answers ``ok`` when there are none left; each reply takes a suspension or two.

    Args:
        calls: For each reply, the names and arguments of its calls.
    """

    calls: Sequence[Sequence[tuple[str, Mapping[str, object]]]]

    async def complete(self, request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(0)
        said = sum(message.role == "assistant" for message in request.messages)
        wanted = self.calls[said] if said < len(self.calls) else []
        requests = tuple(ToolRequest(id=f"c{said}_{name}", name=name, arguments=dict(given)) for name, given in wanted)
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
        if run.parent is None:
            self.faults.runs.append(run)
        await asyncio.sleep(0)

    @hookimpl
    async def react_tool_call(self, proceed: Callable[[], Coroutine[Any, Any, Observation]]) -> Observation:
        result: Observation = await Driven(proceed(), self.faults)
        return result

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


async def finished(task: asyncio.Task[Any], before: set[asyncio.Task[Any]]) -> None:
    """Wait until a task has ended, and everything that was started with it; it fails if anything hangs."""
    await asyncio.wait((task,), timeout=PATIENCE)
    assert task.done(), "the run hangs"
    others = asyncio.all_tasks() - before - {task}
    if others:  # what is written to the disk may still be on its way
        await asyncio.wait(others, timeout=PATIENCE)
    left = [other for other in others if not other.done()]
    assert not left, f"left behind: {left}"
