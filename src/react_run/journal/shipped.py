"""Journals in PostgreSQL: a run is written to a local file, and shipped to the database in chunks.

Taking a run raises its epoch, and a chunk is stored only under its writer's epoch. So if two processes both believe
that they own a run, one of them finds out before its next effect. Order is preserved: a crash loses a suffix at most,
and never the record of an effect, because that is shipped before the effect.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from react_run.errors import ConfigError, JournalError
from react_run.journal.files import FileSink
from react_run.journal.lines import as_bytes
from react_run.journal.values import Record
from react_run.support.tasks import running_loop

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
SOON = 0.02
"""Seconds after which a record is shipped that nothing is waiting for."""
PATIENCE = 10.0
"""Seconds for which failed database operations are retried."""
_CONNECTION = {
    "autocommit": True,
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
    "options": "-c idle_in_transaction_session_timeout=3000",
}
"""Detects a silently broken connection within seconds, and lets a suspended process hold no locks."""
_SHIP = """
insert into react_run.chunks (run, at, data)
select %(run)s, %(at)s, %(data)s from react_run.journals where run = %(run)s and epoch = %(epoch)s for share
on conflict (run, at) do update set data = excluded.data
"""


class JournalFenced(JournalError):
    """Another process has taken the run, so this process's records are rejected."""


def normal_url(url: str) -> str:
    """The URL in the form that libpq accepts."""
    return "postgresql://" + url.partition("://")[2] if url.startswith("postgres") else url


def connect(url: str, *, size: int = 8) -> AsyncConnectionPool:
    """Create a connection pool without opening it.

    Raises:
        ConfigError: The driver is not installed.
    """
    try:
        from psycopg_pool import AsyncConnectionPool
    except ImportError:
        raise ConfigError("--engine postgres://… needs: pip install 'react-run[batch-postgres]'") from None
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # its messages are reported in other words, once
    return AsyncConnectionPool(normal_url(url), min_size=1, max_size=size, timeout=5, open=False, kwargs=_CONNECTION)


class Journals:
    """The journals of one database.

    Args:
        pool: Connections to it.
        folder: The directory of the working copies.
    """

    def __init__(self, pool: AsyncConnectionPool, folder: Path) -> None:
        self.pool, self.folder = pool, folder

    async def make(self) -> None:
        """Create the tables."""
        async with self.pool.connection() as connection:
            await self.make_in(connection)

    async def make_in(self, connection: Any) -> None:
        """Create the tables within a transaction of ``connection``."""
        await connection.execute(files(__package__).joinpath("shipped.sql").read_text(encoding="utf-8"))

    async def take(self, connection: Any, run: str, owner: str) -> int:
        """Take ownership of a run, within a transaction of ``connection``; return its new epoch."""
        found = await connection.execute(
            "insert into react_run.journals (run, epoch, owner) values (%s, 1, %s) on conflict (run) do update "
            "set epoch = journals.epoch + 1, owner = excluded.owner, changed = clock_timestamp() returning epoch",
            (run, owner),
        )
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
        return ShippedSink(self.pool, run, epoch, path, size)

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
    """Appends to a run's working copy at once, and to the database soon, or before :meth:`sync` returns.

    Args:
        pool: Connections to the database.
        run: The id of the run.
        epoch: The epoch under which it was taken.
        path: The path of the working copy.
        size: How many bytes of it the database has.
    """

    def __init__(self, pool: AsyncConnectionPool, run: str, epoch: int, path: Path, size: int) -> None:
        self.run, self.epoch, self.path = run, epoch, path
        self.pool = pool
        self._file = FileSink(path, fsync=lambda _: None)
        self._at = size
        self._pending = bytearray()
        self._problem: JournalError | None = None
        self._shipping: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def write(self, record: Record, text: str) -> None:
        """Append one record.

        Raises:
            JournalFenced: Another process has taken the run.
            JournalError: It cannot be written.
        """
        if self._problem is not None:
            raise self._problem
        self._file.write(record, text)
        self._pending += as_bytes(text) + b"\n"
        if self._timer is None and self._shipping is None and (loop := running_loop()) is not None:
            self._timer = loop.call_later(SOON, self._begin)

    async def open(self) -> None:
        """Open the pool, unless it is open."""
        await self.pool.open()

    async def sync(self) -> None:
        """Return once the database has everything and the run is still ours.

        Raises:
            JournalFenced: Another process has taken the run.
            JournalError: The database does not answer.
        """
        while self._pending and self._problem is None:
            self._begin()
            assert self._shipping is not None  # set by _begin()
            await asyncio.shield(self._shipping)
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Close the sink, and delete the working copy."""
        if self._timer is not None:
            self._timer.cancel()
        self._problem = self._problem or JournalError(f"the journal of run {self.run[:12]} was closed")
        self._file.close()
        with suppress(OSError):
            self.path.unlink()

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._shipping is None and self._problem is None:
            self._shipping = asyncio.ensure_future(self._ship())

    async def _ship(self) -> None:
        try:
            while self._pending and self._problem is None:
                data = bytes(self._pending)
                if await _persistently(lambda data=data: self._insert(data)) == 0:  # type: ignore[misc]  # bound now
                    raise JournalFenced(f"another process has taken run {self.run[:12]}")
                self._at += len(data)
                del self._pending[: len(data)]
        except JournalError as error:
            self._problem = self._problem or error
        finally:
            self._shipping = None

    async def _insert(self, data: bytes) -> int:
        async with self.pool.connection() as connection:
            values = {"run": self.run, "at": self._at, "data": data, "epoch": self.epoch}
            return (await connection.execute(_SHIP, values)).rowcount


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


def database_errors() -> tuple[type[Exception], ...]:
    """The errors of a database that cannot be reached."""
    from psycopg import InterfaceError, OperationalError
    from psycopg_pool import PoolTimeout

    return (OperationalError, InterfaceError, PoolTimeout)


def database_error(error: BaseException) -> str:
    """The first line of a database error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


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


def shown_url(url: str) -> str:
    """The URL without its password."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
