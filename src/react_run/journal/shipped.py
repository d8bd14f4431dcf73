"""Journals in PostgreSQL: a run is worked on in a local file, and every chunk of it is shipped to the database.

A process that takes a run raises the epoch; a chunk is stored only under the epoch of its writer. So if two processes
believe that a run is theirs, one finds out before its next side effect. Order is kept: a crash loses a suffix at most,
and never the knowledge of a side effect, which is shipped before it happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from react_run.errors import ConfigError, JournalError
from react_run.journal.files import FileSink
from react_run.journal.lines import as_bytes
from react_run.journal.postgres import connect, database_error, database_errors, shown_url
from react_run.journal.shipping import PATIENCE, Chunk, Shipper
from react_run.journal.values import Record

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
TAKE = """
insert into react_run.journals (run, epoch, owner) values (%(run)s, 1, %(owner)s) on conflict (run) do update
set epoch = journals.epoch + 1, owner = excluded.owner, changed = clock_timestamp() returning epoch
"""
"""Takes ownership of a run, and returns its new epoch."""


class Journals:
    """The journals of one database.

    Args:
        pool: Connections to it.
        folder: The directory of the working copies.
    """

    def __init__(self, pool: AsyncConnectionPool, folder: Path) -> None:
        self.pool, self.folder = pool, folder
        self.shipper = Shipper(pool)

    async def make(self) -> None:
        """Create the tables."""
        async with self.pool.connection() as connection:
            await self.make_in(connection)

    async def make_in(self, connection: Any) -> None:
        """Create the tables within a transaction of ``connection``."""
        await connection.execute(files(__package__).joinpath("shipped.sql").read_text(encoding="utf-8"))

    async def take(self, connection: Any, run: str, owner: str) -> int:
        """Take ownership of a run, within a transaction of ``connection``; return its new epoch."""
        found = await connection.execute(TAKE, {"run": run, "owner": owner})
        (epoch,) = await found.fetchone()
        return int(epoch)

    async def open(self, run: str, epoch: int) -> ShippedSink:
        """Fetch a run's journal, and open it for appending.

        Raises:
            JournalError: The database does not answer, or the working copy cannot be written.
        """
        path = self.folder / f"{run}.{epoch}.jsonl"
        is_new = epoch == 1  # the run is new: there is nothing to fetch
        size = 0 if is_new else await _persistently(lambda: self.fetch(run, path))
        return ShippedSink(self.shipper, run, epoch, path, size)

    async def fetch(self, run: str, path: Path) -> int:
        """Write a run's journal to a file, and return its size."""
        size = 0
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with self.pool.connection() as connection:
            found = await connection.execute("select at, data from react_run.chunks where run = %s order by at", (run,))
            chunks = await found.fetchall()
        with path.open("wb") as file:
            for at, data in chunks:
                file.seek(at)
                size = at + file.write(data)
            file.truncate(size)
        return size


class ShippedSink:
    """Appends to the working copy of a run at once, and to the database soon, or before :meth:`sync` returns.

    Args:
        shipper: Sends to the database.
        run: The id of the run.
        epoch: The epoch under which it was taken.
        path: The working copy.
        size: How much of it the database has, in bytes.
    """

    def __init__(self, shipper: Shipper, run: str, epoch: int, path: Path, size: int) -> None:
        self.shipper, self.run, self.epoch, self.path = shipper, run, epoch, path
        self._file = FileSink(path, fsync=lambda _: None)
        self._at = size
        self._pending = bytearray()
        self._problem: JournalError | None = None
        self._landing: asyncio.Future[None] | None = None

    def write(self, record: Record, text: str) -> None:
        """Append one record.

        Raises:
            JournalFenced: Another process has taken the run.
            JournalError: It cannot be stored.
        """
        if self._problem is not None:
            raise self._problem
        self._file.write(record, text)
        self._pending += as_bytes(text) + b"\n"
        self.shipper.soon(self)

    async def sync(self) -> None:
        """Return when the database has everything, and the run is still ours.

        Raises:
            JournalFenced: Another process has taken the run.
            JournalError: The database does not answer.
        """
        wanted = self._at + len(self._pending)
        while self._at < wanted and self._problem is None:
            self.shipper.now()
            if self._landing is None:
                self._landing = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._landing)
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Take no more records, and remove the working copy."""
        self.shipper.forget(self)
        self._end(JournalError(f"the journal of run {self.run[:12]} was closed"))
        self._file.close()
        with suppress(OSError):
            self.path.unlink()

    # -- what the shipper calls --------------------------------------------------------------------------------------

    def chunk(self) -> Chunk:
        return Chunk(self.run, self.epoch, self._at, bytes(self._pending))

    def sent(self, chunk: Chunk) -> bool:
        self._at += len(chunk.data)
        del self._pending[: len(chunk.data)]
        self._land()
        return bool(self._pending)

    def fail(self, error: JournalError) -> None:
        self._end(error)

    def _end(self, error: JournalError) -> None:
        self._problem = self._problem or error
        self._land()

    def _land(self) -> None:
        landing, self._landing = self._landing, None
        if landing is not None and not landing.done():
            landing.set_result(None)


async def _persistently(ask: Callable[[], Awaitable[T]]) -> T:
    """Run a database operation, retrying failures for a while.

    Raises:
        JournalError: The database did not answer in time.
    """
    give_up, wait = monotonic() + PATIENCE, 0.05
    while True:
        try:
            return await ask()
        except database_errors() as error:
            if monotonic() + wait > give_up:
                raise JournalError(f"the journal's database does not answer: {database_error(error)}") from error
        await asyncio.sleep(wait)
        wait = min(1.0, wait * 2)


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncIterator[Journals]:
    """Open the journals of a database for the duration of the block.

    Raises:
        ConfigError: The database cannot be reached.
    """
    pool = connect(url, size=2)
    try:
        try:
            await pool.open(wait=True, timeout=10)
        except Exception as error:
            raise ConfigError(f"cannot reach the database {shown_url(url)}: {database_error(error)}") from error
        yield Journals(pool, folder)
    finally:
        await pool.close()
