"""The runs in a database, handed out as local copies to readers of files."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from react_run.errors import ConfigError, JournalBusy, JournalError
from react_run.journal.postgres import connect
from react_run.journal.shipped import Journals, ShippedSink, opened
from react_run.journal.shipping import Shipper
from react_run.journal.summaries import Summary, summaries
from react_run.support.threads import run_blocking

if TYPE_CHECKING:
    from react_run.journal.values import Record

T = TypeVar("T")
_AT_WORK = """
select 1 from react_run.rows join react_run.workers on owner = executor
where run = %s and state = 1 and beat > clock_timestamp() - interval '5 seconds'
"""


class PostgresStore:
    """The runs that batches store in a database (a :class:`~react_run.journal.summaries.RunStore`).

    Args:
        url: The URL of the database.
        number: How many of the latest runs :meth:`summaries` covers.
    """

    def __init__(self, url: str, *, number: int = 1_000) -> None:
        self.url, self.number = url, number
        folder = tempfile.TemporaryDirectory(prefix="react-run-")
        self._folder = Path(folder.name)
        finalize(self, folder.cleanup)

    def find(self, name: str | None) -> Path:
        """A copy of a run's journal, by the start of the run's id; ``None`` means the latest run.

        Raises:
            ConfigError: There is no such run, or there are several, or the database cannot be reached.
        """
        if name is not None and (path := Path(name)).is_file():
            return path
        return self._ask(lambda journals: self._found(journals, name))

    async def _found(self, journals: Journals, name: str | None) -> Path:
        runs = await _runs(journals, name or "", 6)
        if not runs:
            raise ConfigError("the database has no runs" if name is None else f"the database has no run {name!r}")
        if name is not None and len(runs) > 1:
            listed = ", ".join(run[:12] for run in runs[:5])
            raise ConfigError(f"several runs have ids that begin with {name!r}: {listed}")
        await journals.fetch(runs[0], path := self._folder / f"{runs[0]}.jsonl")
        return path

    def summaries(self) -> Iterator[Summary]:
        """Summaries of the latest runs."""
        yield from self._ask(self._summaries)

    async def _summaries(self, journals: Journals) -> list[Summary]:
        found = []
        for run in await _runs(journals, "", self.number):
            await journals.fetch(run, path := self._folder / f"{run}.jsonl")
            at_work = await _at_work(journals, run)
            found += [replace(summary, running=at_work) for summary in summaries([path])]
        return found

    def open(self, path: Path) -> StoredSink:
        """Take a run that :meth:`find` returned a copy of, to continue it.

        Raises:
            JournalBusy: A worker is running it.
        """
        epoch = self._ask(lambda journals: self._taken(journals, path))
        shipper = Shipper(connect(self.url, size=1))
        return StoredSink(ShippedSink(shipper, path.stem, epoch, path, path.stat().st_size))

    async def _taken(self, journals: Journals, path: Path) -> int:
        if await _at_work(journals, path.stem):
            raise JournalBusy(f"a worker is running run {path.stem[:12]}")
        async with journals.pool.connection() as connection, connection.transaction():
            epoch = await journals.take(connection, path.stem, "resume")
        await journals.fetch(path.stem, path)
        return epoch

    def remove(self, summary: Summary) -> None:
        """Remove a run.

        Raises:
            JournalError: The run is still active.
        """
        if summary.running:
            raise JournalError(f"run {summary.run_id[:12]} is still running: stop it first")

        async def removed(journals: Journals) -> None:
            async with journals.pool.connection() as connection:
                await connection.execute("delete from react_run.journals where run = %s", (summary.run_id,))

        self._ask(removed)

    def _ask(self, ask: Callable[[Journals], Awaitable[T]]) -> T:
        async def asked() -> T:
            async with opened(self.url, self._folder) as journals:
                await journals.make()
                return await ask(journals)

        return run_blocking(asked())


class StoredSink:
    """The sink of a run that is resumed alone; what it holds is shipped once the run has ended."""

    def __init__(self, sink: ShippedSink) -> None:
        self._sink = sink

    def write(self, record: Record, text: str) -> None:
        self._sink.write(record, text)

    async def sync(self) -> None:
        await self._sink.shipper.pool.open()
        await self._sink.sync()

    def close(self) -> None:
        """Do nothing: :meth:`end` ships the rest and closes the sink."""

    async def end(self) -> None:
        """Ship the rest, and close everything.

        Raises:
            JournalError: It cannot be stored.
        """
        try:
            await self.sync()
        finally:
            self._sink.close()
            await self._sink.shipper.pool.close()


async def _runs(journals: Journals, name: str, number: int) -> list[str]:
    async with journals.pool.connection() as connection:
        query = "select run from react_run.journals where starts_with(run, %s) order by changed desc limit %s"
        found: Any = await connection.execute(query, (name, number))
        return [run for (run,) in await found.fetchall()]


async def _at_work(journals: Journals, run: str) -> bool:
    async with journals.pool.connection() as connection:
        there: Any = await connection.execute("select to_regclass('react_run.rows') is not null")
        if not (await there.fetchone())[0]:
            return False
        found: Any = await connection.execute(_AT_WORK, (run,))
        return await found.fetchone() is not None
