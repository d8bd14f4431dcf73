"""What DBOS does: it hands each row to one process, and to another when that one is gone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from react_run.batch.offers import Key
from react_run.errors import ConfigError
from react_run.journal.postgres import normal_url

try:
    from dbos import DBOS, DBOSConfig
except ImportError:
    raise ConfigError("--engine postgres://… needs: pip install 'react-run[batch-postgres]'") from None

_POLL = 0.25
"""Seconds between two looks for rows."""
_WATCH = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "5000",
}
_WORKFLOW = "react_run.row"
_ENQUEUE = """
select count(dbos.enqueue_workflow(
    %(workflow)s,
    batch,
    array[to_json(batch), to_json(position), to_json(generation)],
    workflow_id => concat_ws('/', batch, position, generation),
    app_version => %(version)s,
    priority => least(position + 1, 2147483647)::int,
    application_name => %(name)s
))
from react_run.rows where batch = %(batch)s and position = any(%(positions)s) and state = 0
"""
_dispatch: Dispatch | None = None


class Dispatch:
    """This process in the eyes of DBOS.

    Args:
        url: The database.
        executor: A name that no other process has or had.
        version: Rows of another version are not handed to this process.
        offered: Told each row that is handed to this process, on its event loop, and what to resolve in the end.
        queue: The only queue to be handed rows from.
    """

    def __init__(
        self,
        url: str,
        executor: str,
        version: str,
        offered: Callable[[Key, Future[None]], None],
        *,
        queue: str | None = None,
    ) -> None:
        self.url, self.executor, self.version, self.queue = _watched(normal_url(url)), executor, version, queue
        self._unknown: set[str] = set()
        self._offered = offered
        self._loop = asyncio.get_running_loop()

    def begin(self) -> None:
        """Be handed rows from now on."""
        global _dispatch
        if _dispatch is not None:
            raise ConfigError("a process works for one batch at a time on this engine")
        _dispatch = self
        config: DBOSConfig = {
            "name": application(self.version),
            "system_database_url": self.url,
            "executor_id": self.executor,
            "application_version": self.version,
            "log_level": "CRITICAL",
            "sys_db_idle_transaction_timeout_sec": 3.0,  # a suspended process keeps no locks
            "use_listen_notify": False,
        }
        try:
            DBOS(config=config)
            if self.queue is not None:
                DBOS.listen_queues([self.queue])
            DBOS.launch()
        except Exception as error:
            self.end()
            raise ConfigError(f"DBOS cannot begin: {error}") from error

    def end(self) -> None:
        """Be handed no more rows."""
        global _dispatch
        _dispatch = None
        with suppress(Exception):
            DBOS.destroy(workflow_completion_timeout_sec=0)

    def offer(self, key: Key) -> Future[None]:
        """A row was handed to this process."""
        done: Future[None] = Future()
        self._loop.call_soon_threadsafe(self._offered, key, done)
        return done

    def queue_for(self, batch: str, jobs: int) -> None:
        """Make the queue of a batch; each process gets twice the rows it runs at once, so that it never waits."""
        DBOS.register_queue(batch, worker_concurrency=2 * jobs, polling_interval_sec=_POLL)

    def hand_out_again(self, executors: Sequence[str]) -> None:
        """Put the rows that were handed to processes that are gone back into their queues."""
        _enqueue_again(_handed_to(executors))

    def hand_out_lost(self, known: Callable[[], Collection[str]]) -> None:
        """Put rows back into their queues that were handed to this process and never reached it.

        When a connection breaks while rows are handed out, the database holds that they are here and nobody here knows
        of them. Two looks in a row tell them from those that are on their way.

        Args:
            known: The rows that have reached this process.
        """
        found = [id_ for id_ in _handed_to([self.executor]) if id_ not in known()]
        lost = [id_ for id_ in found if id_ in self._unknown]
        self._unknown = {*found} - {*lost}
        _enqueue_again(lost)


def application(version: str) -> str:
    """The name of the application in DBOS: each agent has its own, so that workers ask no other agent's queues."""
    return f"react-run-{re.sub(r'[^a-z0-9]+', '-', version.lower())}"


async def enqueue(connection: Any, version: str, batch: str, positions: Sequence[int]) -> None:
    """Put rows into the queue of their batch, in the transaction that writes them; those that are there stay.

    DBOS documents this function of its database for the purpose. A call of its client for each row costs two round
    trips and ten times the time.

    Args:
        connection: In the transaction.
        version: Which processes may be handed the rows.
        batch: The id of the batch, which is the name of its queue.
        positions: Of the rows. The first are handed out first.
    """
    if positions:
        given = {"batch": batch, "version": version, "positions": list(positions)}
        await connection.execute(_ENQUEUE, {**given, "workflow": _WORKFLOW, "name": application(version)})


def _watched(url: str) -> str:
    """The address with what finds out within seconds that a connection was cut without a word."""
    parts = urlsplit(url)
    query = {**_WATCH, **dict(parse_qsl(parts.query))}
    return urlunsplit(parts._replace(query=urlencode(query)))


def _handed_to(executors: Sequence[str]) -> list[str]:
    found = DBOS.list_workflows(
        status="PENDING", executor_id=list(executors), load_input=False, load_output=False, name=_WORKFLOW
    )
    return [workflow.workflow_id for workflow in found]


def _enqueue_again(ids: Sequence[str]) -> None:
    by_queue: dict[str, list[str]] = {}
    for id_ in ids:
        by_queue.setdefault(id_.partition("/")[0], []).append(id_)
    for queue, some in by_queue.items():
        DBOS.resume_workflows(some, queue_name=queue)


def workflow_id(key: Key) -> str:
    """What DBOS calls a row."""
    return "/".join(map(str, key))


@DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=1_000_000)
async def _row(batch: str, position: int, generation: int) -> None:
    dispatch = _dispatch
    if dispatch is None:  # the process is about to end: the row must not pass for done
        await asyncio.get_running_loop().create_future()
    else:
        await asyncio.wrap_future(dispatch.offer((batch, position, generation)))
