"""Sends what several runs have written to the database together: one statement and one commit for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

from react_run.errors import JournalError
from react_run.journal.postgres import database_error, database_errors
from react_run.support.tasks import running_loop

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

SOON = 0.02
"""Seconds within which a record is sent that nobody waits for."""
PATIENCE = 10.0
"""Seconds during which a statement is retried while the database is unavailable."""
_MOST = 4_000_000
"""Bytes in one statement, unless the chunk of a single run is larger."""
_SHIP = """
insert into react_run.chunks (run, at, data)
select run, at, data
from unnest(%(runs)b::text[], %(epochs)b::bigint[], %(ats)b::bigint[], %(data)b::bytea[])
    as chunk (run, epoch, at, data)
join react_run.journals using (run, epoch)
for share of journals
on conflict (run, at) do update set data = excluded.data
returning run
"""


class JournalFenced(JournalError):
    """Another process has taken the run: what this one does no longer counts."""


class Chunk(NamedTuple):
    """The end of a journal, which the database does not have yet."""

    run: str
    epoch: int
    at: int
    data: bytes


class Source(Protocol):
    """A journal of which chunks are sent."""

    def chunk(self) -> Chunk:
        """Everything that the database does not have yet."""

    def sent(self, chunk: Chunk) -> bool:
        """The database has a chunk now; returns whether there is more."""

    def fail(self, error: JournalError) -> None:
        """The chunk cannot be stored."""


class Shipper:
    """Sends chunks of journals, one statement at a time, so that those of a run stay in order.

    Args:
        pool: Connections to the database.
    """

    def __init__(self, pool: AsyncConnectionPool) -> None:
        self.pool = pool
        self._waiting: dict[Source, None] = {}
        self._failing: dict[Source, float] = {}
        """When the first statement that failed was begun."""
        self._asked = False
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    def soon(self, source: Source) -> None:
        """Send what a journal has within :data:`SOON`."""
        self._waiting[source] = None
        if self._timer is None and self._sending is None and (loop := running_loop()) is not None:
            self._timer = loop.call_later(SOON, self.now)

    def now(self) -> None:
        """Send what all journals have, as soon as the statement that is being executed has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._asked = True
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send())
            self._sending.add_done_callback(self._ended)  # also if it is cancelled before it has begun

    def forget(self, source: Source) -> None:
        """Send no more of a journal."""
        self._waiting.pop(source, None)
        self._failing.pop(source, None)

    async def _send(self) -> None:
        wait = 0.05
        while self._asked and self._waiting:
            self._asked = False
            group, started = self._group(), monotonic()
            try:
                kept = await self._insert(group.values())
            except database_errors() as error:
                self._give_up(group, started, wait, error)
                await asyncio.sleep(wait)
                wait, self._asked = min(1.0, wait * 2), True
                continue
            except Exception as error:  # no other try would help
                for source in group:
                    self._fail(source, error)
                continue
            wait = 0.05
            for source, chunk in group.items():
                self._settle(source, chunk, kept)

    def _ended(self, sending: asyncio.Task[None]) -> None:
        self._sending = None
        if not self._waiting:
            return
        if self._asked or sending.cancelled():
            self.now()
        else:
            self.soon(next(iter(self._waiting)))

    def _group(self) -> dict[Source, Chunk]:
        group: dict[Source, Chunk] = {}
        size = 0
        for source in self._waiting:
            chunk = source.chunk()
            if group and size + len(chunk.data) > _MOST:
                self._asked = True  # the others follow
                break
            group[source], size = chunk, size + len(chunk.data)
        return group

    def _settle(self, source: Source, chunk: Chunk, kept: set[str]) -> None:
        self._failing.pop(source, None)
        if source not in self._waiting:  # forgotten meanwhile
            return
        if chunk.run not in kept:
            self.forget(source)
            source.fail(JournalFenced(f"another process has taken run {chunk.run[:12]}"))
        elif not source.sent(chunk):
            self.forget(source)

    def _give_up(self, group: Iterable[Source], started: float, wait: float, error: Exception) -> None:
        for source in group:
            if monotonic() + wait > self._failing.setdefault(source, started) + PATIENCE:
                self._fail(source, error)

    def _fail(self, source: Source, error: Exception) -> None:
        self.forget(source)
        source.fail(JournalError(f"the journal's database does not answer: {database_error(error)}"))

    async def _insert(self, chunks: Collection[Chunk]) -> set[str]:
        columns: Sequence[Sequence[object]] = list(zip(*chunks, strict=True))
        values = dict(zip(("runs", "epochs", "ats", "data"), map(list, columns), strict=True))
        async with self.pool.connection() as connection:
            found = await connection.execute(_SHIP, values)
            return {run for (run,) in await found.fetchall()}
