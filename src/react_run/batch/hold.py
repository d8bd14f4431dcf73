"""One command at a time writes the results of a batch: the one that holds its name in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from react_run.batch.engine import BEAT, LEASE
from react_run.batch.home import this_process
from react_run.errors import ConfigError
from react_run.journal.postgres import database_errors

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

_TAKE = """
insert into react_run.holders as held (name, holder, about, beat)
values (%(name)s, %(holder)s, %(about)s, clock_timestamp())
on conflict (name) do update set holder = excluded.holder, about = excluded.about, beat = excluded.beat
where held.beat < clock_timestamp() - %(lease)s * interval '1 second'
"""
_RENEW = "update react_run.holders set beat = clock_timestamp() where name = %s and holder = %s"
_RELEASE = "delete from react_run.holders where name = %s and holder = %s"
_FOUND = (
    "select about, beat, beat < clock_timestamp() - %s * interval '1 second' from react_run.holders where name = %s"
)
_LOOK_AGAIN = 0.2


class _Lease(NamedTuple):
    about: str
    beat: datetime
    is_over: bool


class Hold:
    """A lease on the name of a batch, which ends with the process that has it. All times are those of the database.

    Args:
        pool: Connections to the database.
        name: The name of the batch.
    """

    def __init__(self, pool: AsyncConnectionPool, name: str) -> None:
        self.pool, self.name = pool, name
        self._holder = uuid4().hex
        self._renewing: asyncio.Task[None] | None = None
        self._lost: str | None = None

    async def take(self) -> None:
        """Take the name, and keep it until :meth:`release`.

        If another process has it, wait until that one renews its lease, or until the lease ends: the same command can
        be given again right after it was killed.

        Raises:
            ConfigError: Another process has it; the message says which.
        """
        given = {"name": self.name, "holder": self._holder, "about": this_process(), "lease": LEASE}
        seen = None
        while not await self._took(given):
            found = await _lease(self.pool, self.name)
            if found is not None and seen not in (None, found.beat):
                raise self._taken(found.about)
            seen = found.beat if found is not None else None
            await asyncio.sleep(_LOOK_AGAIN)
        self._renewing = asyncio.create_task(self._renew())

    async def _took(self, given: Mapping[str, object]) -> bool:
        async with self.pool.connection() as connection:
            return (await connection.execute(_TAKE, given)).rowcount == 1

    def check(self) -> None:
        """Do nothing while this process has the name.

        Raises:
            ConfigError: Another process took it while this one was suspended or cut off.
        """
        if self._lost is not None:
            raise self._taken(self._lost)

    async def release(self) -> None:
        """Let others take the name at once, if the database can be reached; otherwise when the lease ends."""
        if self._renewing is None:
            return
        self._renewing.cancel()
        with suppress(Exception):
            async with self.pool.connection(timeout=1) as connection:
                await connection.execute(_RELEASE, (self.name, self._holder))

    async def _renew(self) -> None:
        while self._lost is None:
            await asyncio.sleep(BEAT)
            with suppress(*database_errors()):
                async with self.pool.connection() as connection:
                    if (await connection.execute(_RENEW, (self.name, self._holder))).rowcount == 0:
                        self._lost = await self._who()

    async def _who(self) -> str:
        return await holder_of(self.pool, self.name) or "another process"

    def _taken(self, who: str) -> ConfigError:
        return ConfigError(f"batch {self.name} is running: {who} has it")


async def holder_of(pool: AsyncConnectionPool, name: str) -> str | None:
    """The process that writes the results of a batch now; ``None`` if there is none."""
    found = await _lease(pool, name)
    return None if found is None or found.is_over else found.about


async def _lease(pool: AsyncConnectionPool, name: str) -> _Lease | None:
    async with pool.connection() as connection:
        found = await (await connection.execute(_FOUND, (LEASE, name))).fetchone()
    return None if found is None else _Lease(*found)
