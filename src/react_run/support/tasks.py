"""Helpers for asyncio tasks."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop running in this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def cancellations(loop: asyncio.AbstractEventLoop | None = None) -> int:
    """How often the current task was cancelled; a :class:`CancelledError` without a new request was raised by other
    code.

    Args:
        loop: The running event loop, if it is known: before Python 3.12, finding it takes a system call.
    """
    task = asyncio.current_task(loop)
    return 0 if task is None else task.cancelling()


def forget(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception of a finished task that nobody awaits, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


def begun(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that has already run ``work`` up to its first suspension; before Python 3.12 it starts in the next turn of
    the loop.

    Most coroutines of tools never suspend, so nothing has to be scheduled.
    """
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
    return asyncio.ensure_future(work)


async def first_turn() -> None:
    """Wait until the tasks created by :func:`begun` have reached their first suspension."""
    if sys.version_info < (3, 12):
        await asyncio.sleep(0)
