"""The time limit of a run: when it is reached, the task of the run is cancelled (behaviours S4, T2)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from react_run.engine.timer import Clock

if TYPE_CHECKING:
    from react_run.run import Run


class Deadline:
    """Cancels the task of a run when its time is up."""

    def __init__(self) -> None:
        self.expired = False
        self._run: Run | None = None
        self._task: asyncio.Task[object] | None = None
        self._clock: Clock | None = None

    def start(self, run: Run, seconds: float) -> None:
        """Start the clock, for the current task."""
        self._run, self._task = run, asyncio.current_task()
        self._clock = Clock(lambda: run.time_waited, seconds, self.expire)

    def stop(self) -> None:
        """Stop the clock; its cancellation, if there was one, is done with."""
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
        if self.expired and self._task is not None:
            self._task.uncancel()

    @property
    def started(self) -> bool:
        """Whether the clock was ever started."""
        return self._task is not None

    @property
    def running(self) -> bool:
        """Whether the clock is running."""
        return self._clock is not None and not self.expired

    @property
    def overdue(self) -> bool:
        """Whether the time is up, and nobody has noticed: what never waits lets no clock strike."""
        return self._clock is not None and not self.expired and self._clock.left <= 0

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
