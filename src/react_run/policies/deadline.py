"""The clock of a run, which stands still while a person is asked (behaviour T2)."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.run import Run

SHORTEST = 0.02
"""Seconds between two looks at the clock, at least."""


class Deadline:
    """Cancels the task of a run when its time is up."""

    def __init__(self) -> None:
        self.expired = False
        self._run: Run | None = None
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._started = self._seconds = 0.0

    def start(self, run: Run, seconds: float) -> None:
        """Start the clock, for the current task."""
        self._run, self._seconds = run, seconds
        self._task = asyncio.current_task()
        self._started = perf_counter() - run.time_waited
        self._set(seconds)

    def stop(self) -> None:
        """Stop the clock; its cancellation, if there was one, is done with."""
        if self._timer is not None:
            self._timer.cancel()
        if self.expired and self._task is not None:
            self._task.uncancel()

    @property
    def running(self) -> bool:
        """Whether the clock is running."""
        return self._timer is not None and not self._timer.cancelled() and not self.expired

    def expire(self) -> None:
        """The time is up."""
        assert self._task is not None  # started before
        self.expired = True
        self._task.cancel()

    @property
    def alone(self) -> bool:
        """Whether a cancellation that arrived is this deadline's, and nobody else's as well."""
        assert self._task is not None  # as above
        assert self._run is not None  # as above
        return self.expired and self._task.cancelling() <= self._run.cancelling + 1

    def _set(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        assert self._run is not None  # as above
        left = self._seconds - (perf_counter() - self._started - self._run.time_waited)
        if left > 0:
            self._set(max(left, SHORTEST))
        else:
            self.expire()
