"""Timers that pause while a person is asked (behaviour T2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from time import perf_counter

SHORTEST = 0.02
"""Minimum seconds between two checks of the clock."""


_pausing = Lock()
"""One lock for all runs, because it is held for less than a microsecond and most runs never need it."""


class Pauses:
    """Measures pauses; they may overlap, and begin and end in any thread."""

    __slots__ = ("_count", "_since", "_total")

    def __init__(self) -> None:
        self._count = 0
        self._since = self._total = 0.0

    def begin(self) -> None:
        """Begin a pause."""
        with _pausing:
            if self._count == 0:
                self._since = perf_counter()
            self._count += 1

    def end(self) -> None:
        """End a pause."""
        with _pausing:
            self._count -= 1
            if self._count == 0:
                self._total += perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """Seconds paused so far, including a pause in progress."""
        with _pausing:
            return self._total + (perf_counter() - self._since if self._count else 0.0)


class Timer:
    """Calls ``expire`` after ``seconds``, not counting pauses; it starts at once.

    Args:
        paused: Returns the seconds of pauses so far.
        seconds: The time limit.
        expire: Called when the time is up.
    """

    __slots__ = ("_end", "_expire", "_loop", "_paused", "_timer")

    def __init__(self, paused: Callable[[], float], seconds: float, expire: Callable[[], object]) -> None:
        self._paused, self._expire = paused, expire
        self._end = perf_counter() + seconds - paused()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(seconds, self._look)

    def stop(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    @property
    def left(self) -> float:
        """Seconds left, if there are no further pauses."""
        return self._end + self._paused() - perf_counter()

    def _look(self) -> None:
        left = self.left
        if left > 0:
            self._timer = self._loop.call_later(max(left, SHORTEST), self._look)
        else:
            self._expire()
