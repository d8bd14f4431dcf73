"""Runs one row: from its prompt, or from its journal if it was started before."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from react_run.batch.engine import Claim, OpenRun
from react_run.batch.rows import RowResult, row_result
from react_run.errors import JournalBusy, JournalError, ModelError
from react_run.journal.reading import read_journals
from react_run.journal.result import result_of
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.journal.sinks import Sink
    from react_run.results import RunResult
    from react_run.run import Run

MOST_ATTEMPTS = 25
"""How often a row may be begun: one that ends its worker every time must not end all of them."""


class Again(Exception):  # an outcome, not an error
    """The row is to be tried again after ``after`` seconds; ``result`` is what it is when it may not."""

    def __init__(self, result: RowResult, after: float) -> None:
        super().__init__(result.error)
        self.result, self.after = result, after


class _Kept:
    """The sink of a row, which stays open when its run ends: it is the lease, until the result is handed in."""

    def __init__(self, sink: Sink) -> None:
        self.write, self.sync = sink.write, sink.sync

    def close(self) -> None:
        """The engine closes it."""


class Runner(Protocol):
    """What a worker runs rows with."""

    async def run(self, claim: Claim, opened: OpenRun) -> RowResult:
        """Run a row to its end; see :meth:`RowRunner.run`."""


class RowRunner:
    """Runs rows of one batch with one agent.

    Args:
        agent: The agent.
        plugins: Stand next to the journal in every run.
        workspaces: Where each row gets a directory of its own; none for a row where it is ``None``.
        options: How the agent was made from its file, for the journals.
        ended: Told each run that ended with a result, before its row has one: what it returns is the row's result. It
            may raise as the run itself may.
    """

    def __init__(
        self,
        agent: ReActAgent,
        *,
        plugins: Sequence[object] = (),
        workspaces: Path | None = None,
        options: Mapping[str, object] | None = None,
        ended: Callable[[Claim, OpenRun, RunResult, RowResult], Awaitable[RowResult]] | None = None,
    ) -> None:
        from react_run.journal.recorder import Recorder

        self.agent, self.plugins, self.workspaces, self._ended = agent, plugins, workspaces, ended
        self._sinks: dict[str, Sink] = {}
        self._fresh = agent.replace(
            model=agent.model, journal=[*plugins, Recorder.into(self._sink_of, options=options or {})]
        )

    def _sink_of(self, run: Run) -> Sink:
        return self._sinks[run.id]

    async def run(self, claim: Claim, opened: OpenRun) -> RowResult:
        """Run a row to its end.

        Raises:
            Again: The provider or the infrastructure failed in a way that may pass.
            JournalError: Somebody else has the row.
        """
        if claim.attempts > MOST_ATTEMPTS:
            return self._failed(claim, f"it was started {claim.attempts - 1} times, and its worker died each time")
        started = perf_counter()
        try:
            result = await self._result(claim, opened)
            seconds = perf_counter() - started
            masker = self.agent.config.masker
            row = row_result(claim.row, result, masker, seconds=seconds, attempts=claim.attempts)
            return row if self._ended is None else await self._ended(claim, opened, result, row)
        except Again:
            raise
        except (ModelError, JournalError, OSError) as error:
            if isinstance(error, JournalBusy) or getattr(error, "fenced", False):
                raise
            failed = self._failed(claim, str(error) or type(error).__name__, error, perf_counter() - started)
            if isinstance(error, ModelError) and not error.retryable:
                return failed
            raise Again(failed, waiting_time(claim.failures, error)) from error
        except Exception as error:  # one row's misfortune, whatever it is, is not that of the others
            return self._failed(claim, str(error), error, perf_counter() - started)

    async def _result(self, claim: Claim, opened: OpenRun) -> RunResult:
        from react_run.journal.replay.resume import RunEnded, prepare

        workspace, sink = self._workspace(claim), _Kept(opened.sink)
        try:
            if opened.path.stat().st_size == 0 or not await in_thread(lambda: read_journals(opened.path)):
                self._sinks[claim.run_id] = sink
                try:
                    return await self._fresh.run(
                        claim.row.prompt, claim.row.messages, run_id=claim.run_id, workspace=workspace
                    )
                finally:
                    del self._sinks[claim.run_id]
            try:
                ready = prepare(opened.path, self.agent, open_file=lambda _: sink, plugins=self.plugins)
            except RunEnded as ended:
                return result_of(ended.journal)
            return await ready.agent.run(ready.prompt, ready.incoming, workspace=workspace)
        finally:
            if workspace is not None:
                with suppress(OSError):
                    workspace.rmdir()  # nothing was put there

    def _workspace(self, claim: Claim) -> Path | None:
        if self.workspaces is None:
            return None
        workspace = self.workspaces / claim.run_id
        workspace.mkdir(parents=True, exist_ok=True)
        return workspace

    def _failed(self, claim: Claim, why: str, error: BaseException | None = None, seconds: float = 0.0) -> RowResult:
        reached = error.result if isinstance(error, ModelError) else None
        why = self.agent.config.masker.mask(why)
        return RowResult(
            index=claim.row.index,
            id=claim.row.id,
            stop_reason=None if reached is None else str(reached.stop_reason),
            usage=None if reached is None else reached.usage.to_dict(),
            cost=None if reached is None else reached.usage.cost,
            seconds=round(seconds, 3),
            attempts=claim.attempts,
            run_id=claim.run_id,
            error=why if error is None else f"{type(error).__name__}: {why}",
        )


def waiting_time(failures: int, error: BaseException) -> float:
    """Seconds until a row is tried again, longer each time, and at least what the provider asked for."""
    backed_off: float = min(60.0, 2.0**failures) * random.uniform(0.5, 1.0)
    asked = error.retry_after if isinstance(error, ModelError) else None
    return max(backed_off, asked or 0.0)
