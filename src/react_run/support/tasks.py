"""Questions about asyncio's tasks that its own functions leave to the caller."""

from __future__ import annotations

import asyncio
from typing import Any


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def cancellations() -> int:
    """How often the current task was asked to stop; a :class:`CancelledError` without a new one is somebody's own."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def forget(task: asyncio.Task[Any]) -> None:
    """Look at what became of a finished task that nobody waits for any more, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()
