"""Starts, finds, stops and shows the batches of a database."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import uuid4

from react_run.batch.engine import Progress, Terms
from react_run.batch.hold import Hold, holder_of
from react_run.batch.identity import agent_changes, agent_record
from react_run.batch.postgres import BatchRecord, PostgresEngine
from react_run.batch.rows import RowResult
from react_run.errors import ConfigError
from react_run.journal.lines import to_json

if TYPE_CHECKING:
    from react_run.agent import ReActAgent

PROTOCOL = 1
"""The version of what workers and batches have in common besides the agent."""
_PAGE = 500
_COLUMNS = "id, name, agent, output"


def version_of(agent: ReActAgent) -> str:
    """What a worker and a batch must have in common: the protocol, and everything about the agent."""
    return f"{PROTOCOL}+{sha256(shared_record(agent).encode()).hexdigest()[:16]}"


def shared_record(agent: ReActAgent) -> str:
    """What is said of an agent, without the place of its file, which differs from machine to machine."""
    record = json.loads(agent_record(agent))
    record["agent"]["file"] = None
    return to_json(record)


async def begun(
    url: str,
    name: str,
    agent: ReActAgent,
    terms: Terms,
    *,
    jobs: int = 8,
    fresh: bool = False,
    output: str | None = None,
) -> tuple[PostgresEngine, bool]:
    """The engine of a batch, which is begun when there is none of its name; and whether there was one.

    Raises:
        ConfigError: The database cannot be reached, another command runs the batch, or it was begun with another agent.
    """
    engine = PostgresEngine(url, version=version_of(agent), jobs=jobs)
    try:
        await engine.reach()
        engine.hold = Hold(engine.pool, name)
        await engine.hold.take()
        if fresh:
            await _remove(engine, name)
        now = shared_record(agent)
        async with engine.pool.connection() as connection:
            await connection.execute(
                "insert into react_run.batches (id, name, agent, output) values (%s, %s, %s, %s) "
                "on conflict do nothing",
                (new := uuid4().hex, name, now, output),
            )
        engine.batch = await _found(engine, name)
        if found := agent_changes(engine.batch.agent, now):
            listed = "\n".join(f"  {line}" for line in found)
            raise ConfigError(f"the agent has changed since batch {name} was started:\n{listed}\n--fresh starts over")
        await engine.set_terms(terms)
        return engine, engine.batch.id != new
    except BaseException:
        await engine.close()
        raise


async def _remove(engine: PostgresEngine, name: str) -> None:
    async with engine.pool.connection() as connection, connection.transaction():
        await connection.execute(
            "delete from react_run.journals where run in (select run from react_run.rows join react_run.batches "
            "on batch = batches.id where name = %s)",
            (name,),
        )
        await connection.execute("delete from react_run.batches where name = %s", (name,))


async def _found(engine: PostgresEngine, name: str) -> BatchRecord:
    async with engine.pool.connection() as connection:
        query = f"select {_COLUMNS} from react_run.batches where name = %s or starts_with(name, %s) order by begun desc"
        rows = await (await connection.execute(query, (name, name))).fetchall()
    exact = [row for row in rows if row[1] == name] or rows
    if not exact:
        raise ConfigError(f"there is no batch {name!r} in this database; react-run batch status --engine … lists them")
    if len(exact) > 1:
        raise ConfigError(f"{name!r} begins the names of {len(exact)} batches: {', '.join(r[1] for r in exact[:5])}")
    return BatchRecord(*exact[0])


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a list of batches says about one."""

    name: str
    progress: Progress
    output: str | None
    holder: str | None
    """The command that writes its results now."""


async def seen(url: str, name: str | None = None) -> list[Seen]:
    """How far the batches of a database are, the latest first; or one of them.

    Raises:
        ConfigError: The database cannot be reached, or there is no such batch.
    """
    async with _Looking(url) as engine:
        if name is not None:
            records = [await _found(engine, name)]
        else:
            async with engine.pool.connection() as connection:
                query = f"select {_COLUMNS} from react_run.batches order by begun desc"
                records = [BatchRecord(*row) for row in await (await connection.execute(query)).fetchall()]
        found = []
        for record in records:
            engine.batch = record
            progress, holder = await engine.progress(), await holder_of(engine.pool, record.name)
            found.append(Seen(name=record.name, progress=progress, output=record.output, holder=holder))
        return found


async def stop(url: str, name: str) -> str:
    """Have no more rows of a batch begun; its whole name."""
    async with _Looking(url) as engine:
        engine.batch = await _found(engine, name)
        await engine.cancel()
        return engine.batch.name


async def results(url: str, name: str) -> AsyncGenerator[RowResult, None]:
    """The results that there are, in order."""
    async with _Looking(url) as engine:
        engine.batch = await _found(engine, name)
        start = 0
        while page := await engine.results(start, _PAGE):
            for result in page:
                yield result
            start = page[-1].index + 1


class _Looking:
    """An engine that is handed no rows."""

    def __init__(self, url: str) -> None:
        self.engine = PostgresEngine(url, version="")

    async def __aenter__(self) -> PostgresEngine:
        try:
            await self.engine.reach()
        except BaseException:
            await self.engine.close()
            raise
        return self.engine

    async def __aexit__(self, *_: object) -> None:
        await self.engine.close()
