"""Runs a batch from its rows to its results, for programs and for the command."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from react_run.batch.delivery import AsTheyArrive, Delivery, InOrder, patiently
from react_run.batch.engine import Engine, Progress, Terms
from react_run.batch.gate import Gate
from react_run.batch.home import Home
from react_run.batch.identity import agent_changes, agent_record, changes_things
from react_run.batch.inputs import rows_of
from react_run.batch.row_run import RowRunner, Runner
from react_run.batch.rows import RowResult
from react_run.batch.sqlite import SqliteEngine
from react_run.batch.worker import Worker
from react_run.errors import ConfigError, ReactError
from react_run.support.display import usd

if TYPE_CHECKING:
    from react_run.agent import ReActAgent

T = TypeVar("T")
ALIKE = 10
"""A batch ends if this many first rows fail in the same way."""
_LOOK_AGAIN = 0.25
_TOGETHER = 0.02
"""Seconds in which results gather, to be fetched at once."""


class BatchHalted(ReactError):
    """A batch ended before all rows had their results.

    Args:
        message: The reason. exit_status: The exit status of the command: 3 if the provider failed, 5 at a limit, 1
            otherwise. progress: The progress.
    """

    def __init__(self, message: str, exit_status: int, progress: Progress) -> None:
        super().__init__(message)
        self.exit_status = exit_status
        self.progress = progress


class Batch:
    """Many runs of one agent: iterate over it for results as they arrive, or await it for all of them.

    Args: See :func:`run_batch`.
    """

    def __init__(
        self,
        agent: ReActAgent,
        rows: Iterable[object] = (),
        *,
        name: str | None = None,
        prompt: str | None = None,
        id_field: str = "id",
        concurrency: int = 8,
        ordered: bool = True,
        retries: int = 2,
        retry_errors: bool = False,
        max_cost: float | None = None,
        rate: float | None = None,
        keep_going: bool = False,
        workspaces: str | Path | None = None,
        engine: Engine | None = None,
        written: int | bytearray = 0,
        whole: bool = True,
        options: Mapping[str, object] | None = None,
        say: Callable[[str], None] = lambda text: None,
        runner: Callable[[Gate], Runner] | None = None,
    ) -> None:
        if concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
        self.agent, self.rows = agent, rows_of(rows, prompt=prompt, id_field=id_field)
        self.name, self.ordered, self.retries, self.retry_errors = name, ordered, retries, retry_errors
        self.terms = Terms(max_cost=max_cost, reserve=agent.config.limits.max_cost or 0.0, rate=rate)
        self.keep_going, self.written, self.whole, self.say = keep_going, written, whole, say
        self.options = options
        self._make_runner = runner or self._row_runner
        self.workspaces = None if workspaces is None else Path(workspaces)
        self.engine = engine
        self.gate = Gate(concurrency)
        self.worker: Worker | None = None
        self.ended = Progress()
        """How far it was when the iteration ended."""
        self._changed = asyncio.Event()
        self._delivery: Delivery | None = None
        self._first: list[RowResult] = []
        self._alike: str | None = None
        self._stack = ExitStack()

    def __await__(self) -> Generator[Any, None, list[RowResult]]:
        return self._all().__await__()

    async def _all(self) -> list[RowResult]:
        return [result async for result in self]

    def stop(self) -> None:
        """Stop starting rows; the iteration ends when the rows in progress have finished."""
        if self.worker is not None:
            self.worker.stop()

    async def progress(self) -> Progress:
        """How far it is."""
        return Progress() if self.engine is None else await self.engine.progress()

    async def __aiter__(self) -> AsyncGenerator[RowResult, None]:
        with self._stack:
            try:
                await self.begin()
                assert self.engine is not None  # begin() made it
                async with aclosing(self._work(self.engine)) as results:
                    async for result in results:
                        yield result
                self.ended = await patiently(self.engine.progress)
                self._check_end(self.ended)
            finally:
                if self.engine is not None:
                    await self.engine.close()

    async def begin(self) -> None:
        """Make the queue, and put the rows into it that are not there yet."""
        if self.engine is None:
            self.engine = self._embedded()
        elif self.worker is not None:
            return
        runner = self._make_runner(self.gate)
        self.worker = Worker(
            self.engine, runner, self.gate, retries=self.retries, finished=self._finished, say=self.say
        )
        await self.engine.begin(self.worker.name)
        await _fill(self.engine, self.rows, whole=self.whole)
        if isinstance(self.engine, SqliteEngine) and self.retry_errors:
            self.engine.retry_errors()

    def _row_runner(self, gate: Gate) -> Runner:
        assert self.engine is not None  # begin() made it
        workspaces = self.workspaces or workspaces_for(self.agent, self.engine)
        return RowRunner(self.agent, plugins=[gate], workspaces=workspaces, options=self.options)

    def _embedded(self) -> SqliteEngine:
        if self.name is None:
            home = Home(Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="react-run-"))) / "batch")
        else:
            home = Home.named(self.name)
            self._stack.enter_context(home.held())
        return open_queue(home, self.agent, self.terms)

    async def _work(self, engine: Engine) -> AsyncGenerator[RowResult, None]:
        assert self.worker is not None  # begin() made it
        task = asyncio.create_task(self.worker.run())
        delivery = self._deliver(engine)
        try:
            ended = False
            while not ended:
                ended = task.done()  # looked at before the last results are fetched
                self._changed.clear()
                async with aclosing(delivery.found()) as results:
                    async for result in results:
                        yield result
                if not ended:
                    waiting = asyncio.ensure_future(self._changed.wait())
                    await asyncio.wait((task, waiting), timeout=_LOOK_AGAIN, return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
                    await asyncio.sleep(_TOGETHER)
            await task
        finally:
            if not task.done():
                task.cancel()
            await asyncio.wait((task,))

    def _deliver(self, engine: Engine) -> Delivery:
        if self.ordered:
            self._delivery = InOrder(engine, self.written if isinstance(self.written, int) else 0)
        else:
            self._delivery = AsTheyArrive(engine, self.written)
        return self._delivery

    def _finished(self, result: RowResult) -> None:
        self._changed.set()
        if self._delivery is not None:
            self._delivery.add(result)
        if len(self._first) < ALIKE:
            self._first.append(result)
            if len(self._first) == ALIKE and not self.keep_going and (alike := _alike(self._first)):
                self._alike = alike
                self.stop()

    def _check_end(self, progress: Progress) -> None:
        if self._alike is not None:
            text = f"the first {ALIKE} rows all failed in the same way: {self._alike}"
            raise BatchHalted(text, 3, progress)
        if not progress.left and not progress.running:
            return
        left = f"{progress.left + progress.running} of {progress.total} rows are left"
        if progress.exhausted:
            spent = "an unknown sum" if progress.cost is None else usd(progress.cost)
            limit = "cost" if self.terms.max_cost is None else f"${self.terms.max_cost:g}"
            raise BatchHalted(f"the limit of {limit} was reached ({spent} spent): {left}", 5, progress)
        raise BatchHalted(f"stopped: {left}", 1, progress)


def run_batch(agent: ReActAgent, rows: Iterable[object], **options: Any) -> Batch:
    """Run ``agent`` on many rows: ``async for result in run_batch(…)``, or ``results = await run_batch(…)``.

    Args:
        agent: The agent. It is not closed.
        rows: Texts, mappings with ``prompt`` (and ``id``, ``messages``, ``vars``), or :class:`Row` objects.
        name: The name of the batch, so that the same call continues it after an interruption; without a name, nothing
            outlives the call. prompt: A template filled from each row, such as ``"Summarise {text}"``.
        id_field: The field with the id of a row. concurrency: Number of concurrent rows. ordered: Whether results
            arrive in the order of the rows. retries: Retries of a row after a failure of the provider or the
            infrastructure. retry_errors: Whether rows that ended with an error continue from their journals. max_cost:
            Maximum cost of all rows together, in USD. rate: Model requests per minute, for all workers together.
            keep_going: Continue even if the first ten rows fail in the same way. workspaces: A directory in which each
            row gets its own directory. engine: An engine to replace the embedded one. say: Called with messages for
            people. runner: Creates the runner of rows from the plugins next to the model; by default one that runs
            ``agent``.

    Raises (while iterating): ConfigError: A row, or the agent, has changed since the batch was started. BatchHalted:
    The batch ended before all rows had their results.
    """
    return Batch(agent, rows, **options)


def open_queue(home: Home, agent: ReActAgent, terms: Terms | None = None) -> SqliteEngine:
    """The queue of a batch, made when it is not there.

    Raises:
        ConfigError: The batch was begun with another agent.
    """
    engine = SqliteEngine(home, batch=uuid4().hex, terms=terms)
    now, before = agent_record(agent), engine.get("agent")
    if before is None:
        engine.set("agent", now)
    elif found := agent_changes(before, now):
        engine.close_now()
        listed = "\n".join(f"  {line}" for line in found)
        raise ConfigError(f"the agent has changed since batch {home.name} was started:\n{listed}\n--fresh starts over")
    if terms is not None:
        engine.set("stopped", None)
    return engine


async def _fill(engine: Engine, rows: Iterable[Any], *, whole: bool) -> None:
    number = 0

    def counted() -> Iterable[Any]:
        nonlocal number
        for row in rows:
            number += 1
            yield row

    await engine.add(counted())
    progress = await engine.progress()
    if whole and number < progress.total:
        raise ConfigError(
            f"the input has {number} rows, but the batch was started with {progress.total}: restore the missing ones, "
            "or start over with --fresh"
        )
    if not progress.total:
        raise ConfigError("the input has no rows")
    if progress.total == progress.error and progress.done:
        first = (await engine.results(0, 1))[0]
        if not first.attempts:
            raise ConfigError(f"no row of the input can run; the first: {first.error}")


def workspaces_for(agent: ReActAgent, engine: Engine) -> Path | None:
    """Where rows get directories of their own: an agent that changes things must not change those of another row."""
    home = getattr(engine, "home", None)
    return home.directory / "workspaces" if isinstance(home, Home) and changes_things(agent) else None


def _alike(results: list[RowResult]) -> str | None:
    kinds = {re.sub(r"[0-9a-f]{8,}|\d+", "…", result.error or "")[:80] for result in results}
    return results[0].error if len(kinds) == 1 and all(result.status == "error" for result in results) else None
