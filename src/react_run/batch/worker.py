"""A worker: takes rows, runs them, and reports their results until there are none left."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar
from uuid import uuid4

from react_run.batch.engine import BEAT, Claim, Engine, EngineError, Unreachable
from react_run.batch.gate import Gate
from react_run.batch.row_run import Again, Runner
from react_run.batch.rows import RowResult
from react_run.errors import JournalError
from react_run.support.tasks import cancellations

T = TypeVar("T")
_LOOK_AGAIN = 0.2
_NO_DATABASE = 2.0


def worker_name() -> str:
    """A name that no other worker has or had."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:12]}"


class Worker:
    """Runs rows of one engine, as many at once as its gate lets through.

    Args:
        engine: Where rows come from.
        runner: What runs them.
        gate: How many run at once; the runner's runs pass it, too.
        retries: How often a row is tried again after a failure of the provider or the infrastructure.
        finished: Told each result that was kept.
        say: Told what people should know.
    """

    def __init__(
        self,
        engine: Engine,
        runner: Runner,
        gate: Gate,
        *,
        retries: int = 2,
        finished: Callable[[RowResult], None] = lambda result: None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.engine, self.runner, self.gate, self.retries = engine, runner, gate, retries
        self.finished, self.say = finished, say
        self.name = worker_name()
        self.tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._lost = False
        self._error: BaseException | None = None
        gate.admit = self._admit

    def stop(self) -> None:
        """Begin no more rows; :meth:`run` returns when those at work have ended."""
        self._stopping.set()

    async def run(self, *, stay: bool = False) -> None:
        """Work until all rows have their results; with ``stay``, until :meth:`stop`.

        Cancelling it cancels the rows at work. Their journals stay, so that they can go on.
        """
        beats = asyncio.create_task(self._beats())
        try:
            while not self._stopping.is_set():
                begun = await self._begin()
                if not begun and not self.tasks and not stay and await self._is_done():
                    break
                await self._pause(begun)
            while self.tasks:
                await asyncio.wait(self.tasks)
            if self._error is not None:
                raise self._error
        finally:
            beats.cancel()
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(beats, *self.tasks, return_exceptions=True)

    async def _begin(self) -> int:
        free = self.gate.width - len(self.tasks)
        if free <= 0:
            return 0
        claims = await self._reaching(lambda: self.engine.take(self.name, free))
        for claim in claims or ():
            task = asyncio.create_task(self._work(claim))
            self.tasks.add(task)
            task.add_done_callback(self._ended)
        return len(claims or ())

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
            self._stopping.set()

    async def _pause(self, begun: int) -> None:
        """Until a row ends, or it is time to look again."""
        if begun and len(self.tasks) < self.gate.width:
            return await asyncio.sleep(0)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({*self.tasks, stopping}, timeout=_LOOK_AGAIN, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        return None

    async def _is_done(self) -> bool:
        progress = await self._reaching(self.engine.progress)
        return progress is not None and (
            progress.done == progress.total or progress.stopped or (progress.exhausted and not progress.running)
        )

    async def _work(self, claim: Claim) -> None:
        try:
            opened = await self.engine.open(claim)
            result = await self.runner.run(claim, opened)
        except Again as outcome:
            after, result = outcome.after, outcome.result
            if claim.failures < self.retries:
                await self._reaching(lambda: self.engine.give_back(claim, after), persist=True)
                return
        except JournalError:  # somebody else has the row, or had it in the meantime
            await self._reaching(lambda: self.engine.give_back(claim, 0), persist=True)
            return
        except asyncio.CancelledError:
            with suppress(EngineError):
                await self.engine.give_back(claim, 0)
            raise
        if cancellations():
            return
        if await self._reaching(lambda: self.engine.finish(claim, result), persist=True):
            self.finished(result)

    async def _admit(self, run_id: str) -> float:
        return await self._reaching(lambda: self.engine.admit(run_id), persist=True) or 0.0

    async def _beats(self) -> None:
        while True:
            beat = await self._reaching(lambda: self.engine.beat(self.name, self.gate.news()))
            if beat is not None:
                self.gate.learn(beat.pauses)
            await asyncio.sleep(BEAT)

    async def _reaching(self, ask: Callable[[], Awaitable[T]], *, persist: bool = False) -> T | None:
        """What the engine answers; ``None`` while it cannot be reached, unless the answer is worth any wait."""
        while True:
            try:
                answer = await ask()
            except Unreachable as error:
                self._say_lost(error)
                if not persist:
                    await asyncio.sleep(_NO_DATABASE)
                    return None
            else:
                self._say_found()
                return answer
            await asyncio.sleep(_NO_DATABASE)

    def _say_lost(self, error: Unreachable) -> None:
        if not self._lost:
            self.say(f"{error}; no rows start until it answers again")
        self._lost = True

    def _say_found(self) -> None:
        if self._lost:
            self.say("the database answers again")
        self._lost = False
