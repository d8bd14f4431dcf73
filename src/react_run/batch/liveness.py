"""Signs of life of a worker in the database, and the rows of workers that give none."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from react_run.batch.engine import BEAT, LEASE
from react_run.journal.postgres import database_errors
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg_pool import AsyncConnectionPool

    from react_run.batch.dispatch import Dispatch

_LOST = 10.0
"""Seconds between two looks for rows that were handed to this process and never reached it."""
_ALIVE = """
insert into react_run.workers (executor, version, beat) values (%s, %s, clock_timestamp())
on conflict (executor) do update set beat = excluded.beat
"""
_SILENT = """
select executor from react_run.workers where version = %s and beat < clock_timestamp() - %s * interval '1 second'
"""
_REAPER = "select pg_try_advisory_xact_lock(hashtext(%s))"
_PAUSE = """
insert into react_run.pauses values (%s, clock_timestamp() + %s * interval '1 second')
on conflict (model) do update set until = greatest(pauses.until, excluded.until)
"""
_PAUSES = """
select model, extract(epoch from until - clock_timestamp())::float8 from react_run.pauses
where until > clock_timestamp()
"""


class Liveness:
    """One worker among those of a database. All times are those of the database.

    Args:
        pool: Its connections.
        worker: The name of the worker.
        dispatch: Hands out rows again.
        known: The rows that have reached this process.
    """

    def __init__(
        self, pool: AsyncConnectionPool, worker: str, dispatch: Dispatch, known: Callable[[], Collection[str]]
    ) -> None:
        self.pool, self.worker, self.dispatch, self._known = pool, worker, dispatch, known
        self._looked = monotonic()
        self._signs: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Give signs of life until the worker does: while DBOS starts and rows are added it may be offered rows."""
        await self._say_alive()
        self._signs = asyncio.create_task(self._stay_alive())

    async def _stay_alive(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            with suppress(*database_errors()):
                await self._say_alive()

    async def beat(self) -> None:
        """Give a sign of life, and look after rows that nobody works on."""
        self._rest()
        await self._say_alive()
        await self._reap()
        if monotonic() - self._looked >= _LOST:
            self._looked = monotonic()
            await in_thread(lambda: self.dispatch.hand_out_lost(self._known))

    async def end(self) -> None:
        """Pass for gone from now on: the rows that this process has are handed out again at once."""
        self._rest()
        with suppress(Exception):
            async with self.pool.connection(timeout=1) as connection:
                await connection.execute(
                    "update react_run.workers set beat = '-infinity' where executor = %s", (self.worker,)
                )

    def _rest(self) -> None:
        if self._signs is not None:
            self._signs.cancel()
            self._signs = None

    async def _say_alive(self) -> None:
        async with self.pool.connection() as connection:
            await connection.execute(_ALIVE, (self.worker, self.dispatch.version))

    async def _reap(self) -> None:
        """Hand out the rows of this agent's silent workers again: one worker does it at a time."""
        async with self.pool.connection() as connection, connection.transaction():
            version = self.dispatch.version
            lock = await connection.execute(_REAPER, (f"react_run.reaper {version}",))
            (mine,) = await lock.fetchone() or (False,)
            if not mine:
                return
            found = await connection.execute(_SILENT, (version, LEASE))
            silent = [executor for (executor,) in await found.fetchall()]
            if silent:
                await in_thread(lambda: self.dispatch.hand_out_again(silent))
                await connection.execute("delete from react_run.workers where executor = any(%s)", (silent,))


async def exchange_pauses(pool: AsyncConnectionPool, news: Mapping[str, float]) -> dict[str, float]:
    """Tell the others how long to leave models alone, and learn what they tell: seconds by model."""
    async with pool.connection() as connection:
        for model, seconds in news.items():
            await connection.execute(_PAUSE, (model, seconds))
        return dict(await (await connection.execute(_PAUSES)).fetchall())
