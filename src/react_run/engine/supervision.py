"""Runs the function of a tool within its time: at once, in a thread, or as a task (behaviour T2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextvars import copy_context
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from react_run.engine.state import EngineState
from react_run.engine.timer import Timer
from react_run.support.tasks import begun, cancellations, first_turn, forget, running_loop
from react_run.support.threads import started_in_thread

if TYPE_CHECKING:
    from react_run.run import ToolCall
    from react_run.tools.tool import Prepared, Tool

Supervision = Callable[[Callable[[], object], float, "ToolCall"], Coroutine[Any, Any, object]]

GRACE = 0.5
"""Seconds for a cancelled async tool to clean up when the run itself is cancelled."""


def _kwargs(call: ToolCall, tool: Tool, prepared: Prepared) -> dict[str, object]:
    """The keyword arguments of a call, including those that the runtime fills."""
    if not tool.context:
        return prepared.kwargs
    filled = {name: call.run if what == "run" else call for name, what in tool.context.items()}
    return {**prepared.kwargs, **filled}


def run_in_time(call: ToolCall, tool: Tool, prepared: Prepared) -> Coroutine[Any, Any, object]:
    """Run ``tool`` with prepared arguments and its timeout, as a task or in a thread."""
    supervised = _supervise if tool.is_async else _in_thread
    return _in_time(supervised, partial(tool.function, *prepared.args, **_kwargs(call, tool, prepared)), tool, call)


async def one_result(call: ToolCall, tool: Tool, result: object) -> object:
    """The result of a tool that returned something that may have to be awaited.

    Raises:
        TypeError: It is an iterator.
    """
    if isawaitable(result):
        result = await _in_time(_supervise, partial(_same, result), tool, call)
    if isinstance(result, (Iterator, AsyncIterator)):
        raise TypeError(f"{tool.name} returned {type(result).__name__}, but a model reads one result")
    return result


def paused_seconds(call: ToolCall) -> float:
    """Seconds spent waiting for a person about ``call``."""
    pauses = call.run.state(EngineState).call_pauses.get(call)
    return 0.0 if pauses is None else pauses.seconds


class ToolDeadline(TimeoutError):
    """Our own timeout, as opposed to a TimeoutError that the tool raised."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} seconds")
        self.seconds = seconds


def run_at_once(call: ToolCall, tool: Tool, prepared: Prepared) -> object:
    """Run an inline tool. Nothing can interrupt it, so a cancellation that comes out of it is its own."""
    kwargs = _kwargs(call, tool, prepared) if tool.context else prepared.kwargs
    try:  # in a copied context: context variables that it sets stay its own, as in a thread
        return copy_context().run(tool.function, *prepared.args, **kwargs)
    except asyncio.CancelledError as error:
        raise _cancelled_itself(tool, error) from error
    except StopIteration as error:  # no coroutine may let it out, so tools of all forms are told the same
        raise RuntimeError(f"{tool.name} raised StopIteration: {error}") from error


async def _in_time(supervised: Supervision, function: Callable[[], object], tool: Tool, call: ToolCall) -> object:
    """What ``function`` gives within the time for ``tool``; either the run may be cancelled meanwhile, or the tool
    cancels itself.
    """
    limit = tool.timeout if tool.timeout is not None else call.run.agent.config.limits.tool_timeout
    cancelled = cancellations()
    try:
        return await supervised(function, limit, call)
    except asyncio.CancelledError as error:
        if cancellations() > cancelled:
            raise
        raise _cancelled_itself(tool, error) from error


def _cancelled_itself(tool: Tool, error: asyncio.CancelledError) -> RuntimeError:
    return RuntimeError(f"{tool.name} cancelled itself: {error}")


async def _in_thread(function: Callable[[], object], limit: float, call: ToolCall) -> object:
    thread = started_in_thread(function)
    clock = Timer(partial(paused_seconds, call), limit, partial(_end, thread, ToolDeadline(limit)))
    try:
        return await thread
    finally:
        clock.stop()


def _same(value: object) -> object:
    return value


async def _shielded(function: Callable[[], object]) -> object:
    try:
        result = function()
        while isawaitable(result):
            result = await result
        return result
    except SystemExit as error:  # inside a task it would tear down the event loop
        raise ToolExited(error) from error
    except GeneratorExit as error:  # a task that raises it would look as if it had been closed
        if running_loop() is None:
            raise  # it was closed: the loop ended before a tool that ignores its cancellation did
        raise RuntimeError(f"GeneratorExit: {error}") from error


class ToolExited(Exception):
    def __init__(self, error: SystemExit) -> None:
        super().__init__(f"the tool called exit({error.code!r})")


async def _supervise(function: Callable[[], object], limit: float, call: ToolCall) -> object:
    """Await what ``function`` gives, for ``limit`` seconds; one that ignores its cancellation is left behind.

    Time in which a person is asked does not count: inside a tool, that is when it asks one, or is a subagent (T2).
    """
    task = begun(_shielded(function))
    try:
        await first_turn()
        if not task.done():
            await _over(task, limit, call)
    except BaseException:  # cancellation, as a rule
        task.cancel()
        await asyncio.wait((task,), timeout=GRACE)
        raise
    if not task.done():
        task.cancel()
        task.add_done_callback(forget)
        raise ToolDeadline(limit)
    return task.result()


async def _over(task: asyncio.Task[object], limit: float, call: ToolCall) -> None:
    """Wait until ``task`` is done, or its time is over."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    clock = Timer(partial(paused_seconds, call), limit, partial(_end, over))
    task.add_done_callback(lambda _: _end(over))
    try:
        await over
    finally:
        clock.stop()


def _end(awaited: asyncio.Future[Any], error: Exception | None = None) -> None:
    if awaited.done():
        return
    if error is None:
        awaited.set_result(None)
    else:
        awaited.set_exception(error)
