"""Delivers the results of a batch: in the order of its rows, or as they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from time import monotonic
from typing import Protocol, TypeVar

from react_run.batch.engine import Engine, Unreachable
from react_run.batch.rows import RowResult

T = TypeVar("T")
_PAGE = 200
_LOOK_AT_OTHERS = 5.0
"""Seconds between two looks for results of other workers, if this one has results of its own."""
_NO_ANSWER = 1.0


class Delivery(Protocol):
    """Finds results that were not delivered before."""

    def add(self, result: RowResult) -> None:
        """This process has stored a result."""

    def found(self) -> AsyncGenerator[RowResult, None]:
        """What can be delivered now."""


class InOrder:
    """Holds a result back until those of all earlier rows were delivered.

    Args:
        engine: Has the results.
        written: The number of rows whose results were delivered before.
    """

    def __init__(self, engine: Engine, written: int) -> None:
        self._engine, self._position = engine, written

    def add(self, result: RowResult) -> None:
        """Results are read from the engine: they may have to wait for long, and there may be many."""

    async def found(self) -> AsyncGenerator[RowResult, None]:
        while True:
            page = await _results(self._engine, self._position)
            for result in page:
                if result.index != self._position:
                    return
                self._position += 1
                yield result
            if len(page) < _PAGE:
                return


class AsTheyArrive:
    """Delivers each result once, in any order.

    Args:
        engine: Has the results, also those of other workers.
        written: The number of rows whose results were delivered before, or a flag for each row.
    """

    def __init__(self, engine: Engine, written: int | bytearray) -> None:
        self._engine = engine
        self._seen = written if isinstance(written, bytearray) else bytearray(written)
        self._own: list[RowResult] = []
        self._frontier, self._looked = 0, float("-inf")

    def add(self, result: RowResult) -> None:
        """Deliver this result without asking the engine."""
        self._own.append(result)

    async def found(self) -> AsyncGenerator[RowResult, None]:
        own, self._own = self._own, []
        for result in filter(self._is_new, own):
            yield result
        if monotonic() - self._looked < _LOOK_AT_OTHERS and own:
            return
        self._looked, start = monotonic(), self._frontier
        while page := await _results(self._engine, start):
            for result in filter(self._is_new, page):
                yield result
            start = page[-1].index + 1
        while self._frontier < len(self._seen) and self._seen[self._frontier]:
            self._frontier += 1

    def _is_new(self, result: RowResult) -> bool:
        if len(self._seen) <= result.index:
            self._seen.extend(bytes(result.index + 1 - len(self._seen)))
        new, self._seen[result.index] = not self._seen[result.index], 1
        return new


async def patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """What the engine answers, however long it cannot be reached; its worker says so."""
    while True:
        try:
            return await ask()
        except Unreachable:
            await asyncio.sleep(_NO_ANSWER)


async def _results(engine: Engine, start: int) -> Sequence[RowResult]:
    return await patiently(lambda: engine.results(start, _PAGE))
