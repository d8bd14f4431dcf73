"""A clock that stands still while a person is asked (behaviour T2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.run import Run

SHORTEST = 0.02
"""Seconds between two looks at the clock, at least."""


class Clock:
    """Calls ``expire`` when ``seconds`` have passed in which ``run`` waited for nobody; it starts at once."""

    __slots__ = ("_end", "_expire", "_loop", "_run", "_timer")

    def __init__(self, run: Run, seconds: float, expire: Callable[[], object]) -> None:
        self._run, self._expire = run, expire
        self._end = perf_counter() + seconds - run.time_waited
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(seconds, self._look)

    def stop(self) -> None:
        """It expires no more."""
        self._timer.cancel()

    @property
    def left(self) -> float:
        """Seconds until it expires, if nobody is waited for."""
        return self._end + self._run.time_waited - perf_counter()

    def _look(self) -> None:
        left = self.left
        if left > 0:
            self._timer = self._loop.call_later(max(left, SHORTEST), self._look)
        else:
            self._expire()
