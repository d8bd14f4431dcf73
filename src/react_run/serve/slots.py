"""Limits how many runs are active, and how many may wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from react_run.serve.errors import ApiError


class Slots:
    """Gives each run its turn, in order of arrival.

    Args:
        runs: Runs at the same time.
        queue: Runs that may wait.
    """

    def __init__(self, runs: int, queue: int) -> None:
        self.runs, self.queue = runs, queue
        self.free = asyncio.Semaphore(runs)
        self.admitted = self.working = 0

    @property
    def queued(self) -> int:
        """Runs that wait for their turn now."""
        return self.admitted - self.working

    @property
    def full(self) -> bool:
        """Whether another run would have to be refused."""
        return self.admitted >= self.runs + self.queue

    def admit(self) -> Turn:
        """Let a run in.

        Raises:
            ApiError: Too many wait already.
        """
        self.check()
        return Turn(self)

    def check(self) -> None:
        """Refuse another run when there is no room.

        Raises:
            ApiError: Too many wait already.
        """
        if self.full:
            raise ApiError(429, f"{self.runs} runs are at work and {self.queue} wait for their turn: try again later")


class Turn:
    """The turn of one run: it is counted from the beginning, and works between :meth:`take` and :meth:`give`."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._working = False
        slots.admitted += 1

    async def take(self) -> None:
        """Wait until there is room to work."""
        await self._slots.free.acquire()
        self._working = True
        self._slots.working += 1

    def give(self) -> None:
        """Let another run work; doing so twice changes nothing."""
        if self._working:
            self._working = False
            self._slots.working -= 1
            self._slots.free.release()

    def end(self) -> None:
        """The run is over."""
        self.give()
        self._slots.admitted -= 1

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """Let others work while a person is waited for, then wait until there is room again."""
        self.give()
        self._slots.admitted -= 1
        try:
            yield
        finally:
            self._slots.admitted += 1
        await self.take()
