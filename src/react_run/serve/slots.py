"""Limits how many runs are active, and how many may wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from react_run.serve.errors import ApiError


class Slots:
    """Gives each run its turn, in order of arrival.

    Args:
        runs: How many may run at the same time.
        queue: How many may wait.
    """

    def __init__(self, runs: int, queue: int) -> None:
        self.runs, self.queue = runs, queue
        self.free = asyncio.Semaphore(runs)
        self.admitted = self.working = 0

    @property
    def queued(self) -> int:
        """The number of runs waiting for their turn."""
        return self.admitted - self.working

    @property
    def full(self) -> bool:
        """Whether another run would be refused."""
        return self.admitted >= self.runs + self.queue

    def admit(self) -> Turn:
        """Admit a run.

        Raises:
            ApiError: The queue is full.
        """
        self.check()
        return Turn(self)

    def check(self) -> None:
        """Refuse another run if the queue is full.

        Raises:
            ApiError: The queue is full.
        """
        if self.full:
            raise ApiError(429, f"{self.runs} runs are active and {self.queue} are waiting: try again later")


class Turn:
    """The turn of one run: counted from the start, and active between :meth:`take` and :meth:`give`."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._working = False
        slots.admitted += 1

    async def take(self) -> None:
        """Wait for a free slot."""
        await self._slots.free.acquire()
        self._working = True
        self._slots.working += 1

    def give(self) -> None:
        """Free the slot; a second call does nothing."""
        if self._working:
            self._working = False
            self._slots.working -= 1
            self._slots.free.release()

    def end(self) -> None:
        """The run has ended: free its slot and its place in the queue."""
        self.give()
        self._slots.admitted -= 1

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """Lend the slot to others while waiting for a person, then wait for a free one."""
        self.give()
        self._slots.admitted -= 1
        try:
            yield
        finally:
            self._slots.admitted += 1
        await self.take()
