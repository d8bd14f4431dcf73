"""Active runs: each waits for its turn, runs, and notifies its listeners."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from react_run.engine.state import paused_seconds
from react_run.serve.errors import ApiError
from react_run.serve.signals import Signal
from react_run.serve.slots import Slots, Turn
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent, StreamEvent
    from react_run.messages import Message
    from react_run.parts import Part
    from react_run.questions import Question
    from react_run.results import RunResult
    from react_run.run import Run
    from react_run.serve.agents import ServedAgent

logger = logging.getLogger(__name__)

Ending = Literal["stopped", "disconnected", "drained", "parked", "timeout"]
current_job: ContextVar[Job | None] = ContextVar("react_run_job", default=None)
_KEPT_EVENTS = 20_000
"""How many events of a run are kept for readers that join late."""


@dataclass(kw_only=True, eq=False)
class Job:
    """One run on this server, from request to end.

    Args:
        served: The agent.
        prompt: The prompt.
        attached: Images and files that belong to the prompt.
        messages: The conversation so far.
        id: The id of the run.
        settings: Settings passed to the model with every request.
        system: The client's instructions, appended to the agent's own prompt.
        workspace: The directory to work in.
        session: The name of the conversation it belongs to.
        by: Who started it.
        streams: Whether to stream the model's text.
        options: How the run was started, for the journal.
        agent: The agent to run instead of the served one, when resuming from a journal.
        around: A context manager around the run, such as a turn of a conversation.
        unused: Called if the run ends before it gets its turn.
    """

    served: ServedAgent
    prompt: str
    messages: Sequence[Message] = ()
    attached: Sequence[Part] = ()
    id: str = field(default_factory=lambda: uuid4().hex)
    settings: Mapping[str, object] = field(default_factory=dict)
    system: str = ""
    workspace: Path | None = None
    session: str | None = None
    by: str = ""
    streams: bool = False
    options: dict[str, object] = field(default_factory=dict)
    agent: ReActAgent | None = None
    around: Callable[[Job], Any] | None = None
    unused: Callable[[], None] | None = None

    spooled: bool = False
    """Whether it is stored on disk until its journal begins."""
    created: float = field(default_factory=time)
    started: float | None = None
    events: list[StreamEvent] = field(default_factory=list)
    questions: list[tuple[str, Question]] = field(default_factory=list)
    """The open questions, each with the id of its approval."""
    decisions: dict[str, Any] = field(default_factory=dict)
    """Answers given while the run was parked, by the digest of the question."""
    run: Run | None = None
    result: RunResult | None = None
    error: BaseException | None = None
    ending: Ending | None = None
    ended: bool = False
    watchers: int = 0
    detached: bool = False
    """Whether it continues when no client is watching."""
    changed: Signal = field(default_factory=Signal)
    recorded: Signal = field(default_factory=Signal)
    turn: Turn | None = None
    task: asyncio.Task[None] | None = None

    @property
    def asked(self) -> str | list[str | Part]:
        """The prompt together with its attachments."""
        return [self.prompt, *self.attached] if self.attached else self.prompt

    @property
    def status(self) -> str:
        """``queued``, ``running``, ``waiting`` (for a person) or ``ended``."""
        if self.ended:
            return "ended"
        if self.questions:
            return "waiting"
        return "queued" if self.started is None else "running"

    def emit(self, event: StreamEvent) -> None:
        """Pass on an event of the run."""
        if len(self.events) < _KEPT_EVENTS:
            self.events.append(event)
        self.changed.fire()

    def cancel(self, ending: Ending, note: str = "") -> None:
        """Cancel the run; the journal says why, and it can be resumed."""
        if self.ended or self.ending is not None:
            return
        self.ending = ending
        if self.run is not None and note:
            self.run.note("serve", note)
        if self.task is not None:
            self.task.cancel()

    async def wait(self) -> None:
        """Wait until the run ends or asks a question."""
        while not (self.ended or self.questions):
            await self.changed.wait(3600)


class Jobs:
    """All runs in flight.

    Args:
        slots: How many may run at the same time.
        run_timeout: The most seconds that a run may take.
        on_end: Called with each run that has ended.
    """

    def __init__(
        self, slots: Slots, *, run_timeout: float | None, on_end: Sequence[Callable[[Job], None]] = ()
    ) -> None:
        self.slots, self.run_timeout, self.on_end = slots, run_timeout, list(on_end)
        self.live: dict[str, Job] = {}
        self.draining = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._idle = Signal()

    def check(self) -> None:
        """Refuse a new run if none can be started.

        Raises:
            ApiError: The server is shutting down, or the queue is full.
        """
        if self.draining:
            raise ApiError(503, "the server is shutting down and accepts no new runs: try again later")
        self.slots.check()

    def start(self, job: Job) -> Job:
        """Start a run.

        Raises:
            ApiError: The server is shutting down, or the queue is full.
        """
        self.check()
        if job.id in self.live:
            raise ApiError(409, f"run {job.id} is already running")
        job.turn = self.slots.admit()
        self.live[job.id] = job
        job.task = self.spawn(self._work(job))
        return job

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def drain(self, seconds: float) -> list[str]:
        """Take no new runs, wait for those in flight, then cancel the rest; return the ids of the cancelled ones."""
        self.draining = True
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self._working() and (left := until - loop.time()) > 0:
            await self._idle.wait(min(left, 1.0))
        cut = [job.id for job in self.live.values()]
        for job in list(self.live.values()):
            job.cancel("drained", "the server was stopped")
        until = loop.time() + 5
        while self.live and loop.time() < until:
            await self._idle.wait(0.2)
        return cut

    def _working(self) -> bool:
        """Whether any run is not waiting for a person."""
        return any(not job.questions for job in self.live.values())

    async def _work(self, job: Job) -> None:
        token = current_job.set(job)
        assert job.turn is not None  # set before the task was made
        try:
            async with _nothing() if job.around is None else job.around(job):
                await job.turn.take()
                job.started = time()
                job.changed.fire()
                async with self._deadline(job):
                    job.result = await _run_agent(job)
        except asyncio.CancelledError as error:
            job.error = error
        except BaseException as error:
            job.error = error
            if not isinstance(error, Exception):
                raise
        finally:
            current_job.reset(token)
            job.turn.end()
            if job.started is None and job.unused is not None:
                job.unused()
            job.ended = True
            self.live.pop(job.id, None)
            for told in self.on_end:
                told(job)
            job.recorded.fire()
            job.changed.fire()
            self._idle.fire()

    @asynccontextmanager
    async def _deadline(self, job: Job) -> AsyncIterator[None]:
        if self.run_timeout is None:
            yield
            return
        watch = self.spawn(_end_in(job, self.run_timeout))
        try:
            yield
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait((watch,))


async def _end_in(job: Job, seconds: float) -> None:
    """Cancel the run after ``seconds`` of work; time spent waiting for a person does not count."""
    begun = asyncio.get_running_loop().time()
    while (left := seconds - (asyncio.get_running_loop().time() - begun - _waited(job))) > 0:
        await Signal().wait(max(left, 0.01))
    job.cancel("timeout", f"the server's limit of {seconds:g} s was reached")


def _waited(job: Job) -> float:
    return 0.0 if job.run is None else paused_seconds(job.run)


async def _run_agent(job: Job) -> RunResult:
    from react_run.results import RunResult

    agent = job.agent or job.served.agent
    options: dict[str, Any] = {"run_id": job.id, "settings": job.settings, "workspace": job.workspace}
    if not job.streams:
        return await agent.run(job.asked, job.messages, **options)
    result: RunResult | None = None
    async for event in agent.stream(job.asked, job.messages, **options):
        if isinstance(event, RunResult):
            result = event
        else:
            job.emit(event)
    assert result is not None  # the last event
    return result


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield
