"""Questions about asyncio's tasks that its own functions leave to the caller."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def cancellations(loop: asyncio.AbstractEventLoop | None = None) -> int:
    """How often the current task was asked to stop; a :class:`CancelledError` without a new one is somebody's own.

    Args:
        loop: The running event loop, where it is known: before Python 3.12, asking for it takes a call of the system.
    """
    task = asyncio.current_task(loop)
    return 0 if task is None else task.cancelling()


def forget(task: asyncio.Task[Any]) -> None:
    """Look at what became of a finished task that nobody waits for any more, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


def begun(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that has run ``work`` up to where it first waits; before Python 3.12 it starts a turn of the loop later.

    Most coroutines of tools never wait, or not for long: then nothing has to be scheduled at all.
    """
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
    return asyncio.ensure_future(work)


async def first_turn() -> None:
    """Wait until the tasks that :func:`begun` has made have come to where they first wait."""
    if sys.version_info < (3, 12):
        await asyncio.sleep(0)
