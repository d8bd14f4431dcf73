"""Runs synchronous functions of guides, sensors and checks in a thread, one at a time, with a timeout (behaviour
T2).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeVar

from react_run.engine.state import paused_seconds
from react_run.engine.timer import Timer
from react_run.hooks import Implementation
from react_run.support.threads import started_in_thread

if TYPE_CHECKING:
    from react_run.run import Run

T = TypeVar("T")


class OutOfTime(TimeoutError):
    """A function took longer than the agent's ``tool_timeout``."""


class Turn:
    """The lock that makes the functions of a run take turns."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()


async def in_worker(run: Run, function: Callable[[], T]) -> T:
    """Run a synchronous function of a guide, a sensor or a check in its own thread.

    Functions of one run take turns, so they need no locks; other runs are not held up.

    Args:
        run: The run.
        function: The function to call.

    Raises:
        OutOfTime: It took longer than the agent's ``tool_timeout``; the thread is abandoned.
    """
    seconds = run.agent.config.limits.tool_timeout
    async with run.state(Turn).lock:
        thread = started_in_thread(function)
        clock = Timer(partial(paused_seconds, run), seconds, partial(_give_up, thread, seconds))
        try:
            return await thread
        finally:
            clock.stop()


def _give_up(thread: asyncio.Future[Any], seconds: float) -> None:
    if not thread.done():
        thread.set_exception(OutOfTime(f"no answer within {seconds:g} seconds, so it was given up"))


async def ask_one(impl: Implementation, run: Run, *args: object) -> Any:
    """Ask one plugin a question, and return its answer or ``None``; synchronous implementations run in a worker thread.

    Raises:
        OutOfTime: It took too long.
    """
    try:
        if impl.in_thread:
            answer = await in_worker(run, partial(impl.start, run, *args))
        else:
            answer = impl.start(run, *args)
        if answer is not None and isawaitable(answer):
            answer = await answer
        if answer is not None:
            impl.check(answer)
        return answer
    except BaseException as error:
        impl.blame(error)
        raise
