"""Clocks that stand still while a person is asked (behaviour T2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from time import perf_counter

SHORTEST = 0.02
"""Seconds between two looks at the clock, at least."""


class Pauses:
    """How long something stood still; pauses may overlap, and begin and end in any thread."""

    __slots__ = ("_count", "_lock", "_since", "_total")

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._since = self._total = 0.0

    def begin(self) -> None:
        """One more pause begins."""
        with self._lock:
            if self._count == 0:
                self._since = perf_counter()
            self._count += 1

    def end(self) -> None:
        """One of the pauses is over."""
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._total += perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """Seconds so far, a pause that is going on included."""
        with self._lock:
            return self._total + (perf_counter() - self._since if self._count else 0.0)


class Timer:
    """Calls ``expire`` when ``seconds`` have passed that were not paused; it starts at once.

    Args:
        paused: How many seconds of pauses there were until now.
        seconds: How long it runs.
        expire: What to call then.
    """

    __slots__ = ("_end", "_expire", "_loop", "_paused", "_timer")

    def __init__(self, paused: Callable[[], float], seconds: float, expire: Callable[[], object]) -> None:
        self._paused, self._expire = paused, expire
        self._end = perf_counter() + seconds - paused()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(seconds, self._look)

    def stop(self) -> None:
        """It expires no more."""
        self._timer.cancel()

    @property
    def left(self) -> float:
        """Seconds until it expires, if nothing pauses it."""
        return self._end + self._paused() - perf_counter()

    def _look(self) -> None:
        left = self.left
        if left > 0:
            self._timer = self._loop.call_later(max(left, SHORTEST), self._look)
        else:
            self._expire()
