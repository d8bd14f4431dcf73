"""The time limit of a run: when it is reached, the task of the run is cancelled (behaviours S4, T2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState, paused_seconds
from react_run.engine.timer import Timer
from react_run.support.tasks import forget

if TYPE_CHECKING:
    from react_run.run import Run


More = Callable[["Run", float], Awaitable[float]]


class Deadline:
    """Cancels the task of a run when its time is up."""

    def __init__(self) -> None:
        self.expired = False
        self._run: Run | None = None
        self._task: asyncio.Task[object] | None = None
        self._clock: Timer | None = None
        self._seconds = 0.0
        self._more: More | None = None
        self._asking: asyncio.Task[None] | None = None
        self.extra = 0.0
        """Seconds granted beyond the limit."""

    def start(self, run: Run, seconds: float, more: More | None = None) -> None:
        """Start the clock for the current task; ``more`` returns how many more seconds are granted when the time is
        up.
        """
        self._run, self._task = run, asyncio.current_task()
        self._seconds, self._more = seconds, more
        self._clock = Timer(partial(paused_seconds, run), seconds, self._struck)

    async def strike(self) -> None:
        """The time is up, unless more is granted."""
        if self._more is None:
            self.expire()
            return
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._extend(self._more))
        await asyncio.shield(self._asking)

    def _struck(self) -> None:
        if self._more is None:
            self.expire()
        elif self._asking is None:
            self._asking = asyncio.ensure_future(self._extend(self._more))

    async def _extend(self, more: More) -> None:
        assert self._run is not None  # started before
        run, allowed = self._run, 0.0
        try:
            allowed = await more(self._run, self._seconds + self.extra)
        except Exception as error:  # the plugin that answers is broken: nothing was granted
            self._run.note("run_timeout", f"nobody could be asked for more time: {type(error).__name__}: {error}")
        finally:
            self._asking = None
            if allowed and self._clock is not None:
                self.extra += allowed
                self._clock = Timer(partial(paused_seconds, run), allowed, self._struck)
            elif self._clock is not None:
                self.expire()

    def stop(self) -> None:
        """Stop the clock, and clear its cancellation, if there was one."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking.add_done_callback(forget)
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
        if self.expired and self._task is not None:
            self._task.uncancel()

    @property
    def started(self) -> bool:
        """Whether the clock was started."""
        return self._task is not None

    @property
    def running(self) -> bool:
        """Whether the clock is running."""
        return self._clock is not None and not self.expired

    @property
    def share(self) -> float:
        """The share of the time used, from 0 to 1; 0 if there is no clock."""
        whole = self._seconds + self.extra
        return 0.0 if self._clock is None or whole <= 0 else min(1.0, max(0.0, 1 - self._clock.left / whole))

    @property
    def overdue(self) -> bool:
        """Whether the time is up but the timer has not fired yet: code that never awaits prevents it."""
        return self._clock is not None and not self.expired and self._clock.left <= 0

    def expire(self) -> None:
        """The time is up."""
        assert self._task is not None  # started before
        self.expired = True
        self._task.cancel()

    @property
    def alone(self) -> bool:
        """Whether this deadline alone caused a cancellation."""
        assert self._task is not None  # as above
        assert self._run is not None  # as above
        return self.expired and self._task.cancelling() <= self._run.state(EngineState).cancelling + 1
