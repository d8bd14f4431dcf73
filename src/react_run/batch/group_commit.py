"""Group commit: tasks that write to the queue at the same time share one transaction, one thread and one fsync."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from react_run.batch.queue_file import QueueFile
from react_run.errors import ReactError
from react_run.support.threads import in_thread

T = TypeVar("T")
_GATHER = 0.003
"""Seconds to wait for others that are about to write. A row of a real model takes a thousand times as long."""


@dataclass(frozen=True, kw_only=True)
class _Write:
    do: Callable[[sqlite3.Connection], Any]
    durable: bool
    ended: Callable[[bool], None]
    answer: asyncio.Future[Any]


class GroupCommit:
    """Runs writes in the order in which they were asked for, several in one transaction.

    Args:
        file: The queue.
        more_soon: Whether other tasks may be about to write, so that waiting for them is worthwhile: called with the
            number of writes that are here.
    """

    def __init__(self, file: QueueFile, more_soon: Callable[[int], bool]) -> None:
        self._file, self._more_soon = file, more_soon
        self._waiting: list[_Write] = []
        self._committing: asyncio.Task[None] | None = None

    async def run(
        self, do: Callable[[sqlite3.Connection], T], *, durable: bool, ended: Callable[[bool], None] = lambda kept: None
    ) -> T:
        """Run ``do`` in a transaction, and return its result when the transaction is committed.

        Args:
            do: Runs in a thread. If it raises a :class:`ReactError`, it must not have changed anything.
            durable: Whether the transaction must survive a crash of the machine.
            ended: Called in the thread after the transaction, even if the caller was cancelled: with whether it was
                committed.

        Raises:
            EngineError: The queue cannot be used; nothing was changed.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Write(do=do, durable=durable, ended=ended, answer=answer))
        self._start()
        return await answer

    def _start(self) -> None:
        if self._waiting and (self._committing is None or self._committing.done()):
            self._committing = asyncio.ensure_future(self._commit())
            # Whoever cancels all tasks, as asyncio.run() does at its end, cancels this one too, and rows that are being
            # given back still wait for it.
            self._committing.add_done_callback(lambda _: self._start())

    async def _commit(self) -> None:
        while self._waiting:
            if self._more_soon(len(self._waiting)):
                await asyncio.sleep(_GATHER)
            writes, self._waiting = self._waiting, []
            try:
                results = await in_thread(partial(self._together, writes))
            except BaseException as error:
                for write in writes:
                    if not write.answer.done():
                        write.answer.set_exception(error)
                continue
            for write, result in zip(writes, results, strict=True):
                if write.answer.done():
                    continue
                if isinstance(result, ReactError):
                    write.answer.set_exception(result)
                else:
                    write.answer.set_result(result)

    def _together(self, writes: Sequence[_Write]) -> list[Any]:
        kept = False
        try:
            with self._file.transaction(durable=any(write.durable for write in writes)) as db:
                results = [_attempt(write, db) for write in writes]
            kept = True
            return results
        finally:
            for write in writes:
                write.ended(kept)

    async def close(self) -> None:
        """Wait until everything is committed."""
        while self._committing is not None and not self._committing.done():
            await asyncio.wait((self._committing,))


def _attempt(write: _Write, db: sqlite3.Connection) -> Any:
    try:
        return write.do(db)
    except ReactError as error:  # the other writes do not suffer from it
        return error
