"""Sends events from any thread, without waiting for their listeners."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.hooks import await_listener, dispatch
from react_run.support.tasks import cancellations, running_loop

if TYPE_CHECKING:
    from react_run.hooks import Chain
    from react_run.run import Run


def send_event(run: Run, listeners: Chain, *args: object) -> None:
    """Notify ``listeners`` of an event of ``run``, on the event-loop thread, without waiting for them."""
    state = run.state(EngineState)
    if state.loop is not None and running_loop() is not state.loop:
        with suppress(RuntimeError):  # the loop is closed: there are no listeners any more
            state.loop.call_soon_threadsafe(send_event, run, listeners, *args)
        return
    for impl, answer in dispatch(listeners, run, *args):
        task = asyncio.ensure_future(await_listener(impl, answer))
        state.listeners[task] = None
        task.add_done_callback(state.listeners.pop)


async def drain(run: Run) -> None:
    """Wait for the listeners of ``run`` that are still running, and run its cleanups."""
    state = run.state(EngineState)
    if not state.endings and not state.listeners:
        return  # the usual case
    async with AsyncExitStack() as stack:
        for give_back in state.endings:
            stack.push_async_callback(give_back)
        state.endings = []
        if state.listeners:
            await asyncio.wait([*state.listeners])


def let_go(run: Run) -> None:
    """Break reference cycles, so that an ended run is freed as soon as it is unused: servers may run the garbage
    collector rarely.

    As long as the run is in use, its iterations and calls still refer to it. Exceptions of tools lose their traceback,
    whose frames refer to the run.
    """
    ended = weakref.proxy(run)
    for iteration in run.iterations:
        iteration.run = ended
        for call in iteration.calls:
            call.run, error = ended, call.error
            while error is not None and error.__traceback__ is not None:
                error.__traceback__, error = None, error.__cause__ or error.__context__


def check_cancelled(run: Run) -> None:
    """Raise if ``run`` was cancelled, even if some code swallowed the cancellation."""
    state = run.state(EngineState)
    if cancellations(state.loop) > state.cancelling:
        raise asyncio.CancelledError
