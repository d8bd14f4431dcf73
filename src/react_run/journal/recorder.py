"""The plugin that writes the journal: each effect before it happens, all interventions, and the end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field, PrivateAttr

from react_run.components import LocalPath, Plugin
from react_run.engine.state import EngineState
from react_run.errors import JournalError
from react_run.hooks import inline
from react_run.hookspecs import hookimpl
from react_run.journal.files import FileSink
from react_run.journal.header import described_agent, header_of
from react_run.journal.records import Recording, Recordings
from react_run.journal.sinks import Sink
from react_run.journal.writer import JournalWriter

if TYPE_CHECKING:
    from react_run.journal.values import Record
    from react_run.messages import ModelResponse
    from react_run.outcome import Observation
    from react_run.questions import Answer, Question
    from react_run.run import Iteration, ReActAgent, Run, RunResult, ToolCall

logger = logging.getLogger(__name__)


class _Place:
    """A recorder's state for one run."""

    def __init__(self) -> None:
        self.recording: Recording | None = None
        self.owns = False
        """Whether the run has a journal of its own, rather than its parent's."""
        self.early: list[tuple[str, object]] = []
        """Values recorded before the run was set up, when the header cannot be written yet."""


class Recorder(Plugin):
    """Writes each run to an append-only file of JSON lines: trace, recording and checkpoint in one.

    It is the innermost plugin, so that it sees every attempt. Runs of subagents go to the same file.
    """

    kind: ClassVar[str] = "journal"
    inherited_by_subagents: ClassVar[bool | None] = True

    path: LocalPath
    """The file, or a directory that gets one file per run, named by the run's id."""
    session: str | None = None
    """The name of the conversation that the runs belong to."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """The options that built the agent from its file, for building it again."""

    _open: Callable[[Run], Sink] | None = PrivateAttr(default=None)
    _described: tuple[ReActAgent, Record] | None = PrivateAttr(default=None)

    @classmethod
    def into(cls, sink: Sink | Callable[[Run], Sink], **fields: Any) -> Self:
        """A recorder that writes to a sink instead of a file.

        Args:
            sink: A sink for one run, or a function that makes the sink of each run when it starts.
            fields: The other options, such as ``session``.
        """
        recorder = cls(path=Path(), **fields)
        recorder._open = sink if callable(sink) else lambda run: sink
        return recorder

    def file_for(self, run: Run) -> Path:
        """The path of the journal of ``run``."""
        return self.path / f"{run.id}.jsonl" if self.path.is_dir() else self.path

    def session_of(self, run: Run) -> str | None:
        """The name of the conversation that ``run`` belongs to."""
        return self.session

    def options_of(self, run: Run) -> dict[str, Any]:
        """How the agent of ``run`` was built, for the header."""
        return dict(self.options)

    # -- effects: recorded before they happen, so these hooks fail closed ---------------------------------------------

    @hookimpl(trylast=True)
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        recording = self._recording(run)
        call = recording.request(iteration)
        started = perf_counter()
        try:
            response = await proceed()
        except Exception as error:
            recording.model_error(call, error, perf_counter() - started)
            raise
        recording.response(call, response, perf_counter() - started)
        return response

    @hookimpl(trylast=True)
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        recording = self._recording(run)
        recording.enter(call)
        started = perf_counter()
        try:
            observation = await proceed()
            recording.finished(call, observation, perf_counter() - started)
            if _changes(call) and call.executed:
                await recording.writer.sink.sync()
        finally:
            recording.leave(call)
        return observation

    @hookimpl(trylast=True)
    def react_tool_permit(self, run: Run, call: ToolCall) -> Awaitable[None] | None:
        recording = self._recording(run)
        if call not in recording.attempts:
            return None  # another plugin answers the call: no tool is about to run
        recording.started(call)
        return recording.writer.sink.sync() if _changes(call) else None

    @hookimpl(tryfirst=True)
    @inline
    def react_guide(self, run: Run) -> None:
        """Record from here on what the run finds out about the outside world: this hook comes first in a run."""
        state = run.state(EngineState)
        if state.remember is None:
            state.remember = partial(self._remember, run)

    def _remember(self, run: Run, what: str, value: object) -> None:
        place = run.state(self._place)
        if place.recording is None and not run.messages:
            place.early.append((what, value))
        else:
            self._recording(run).looked(what, value)

    @hookimpl(trylast=True)
    def react_run_started(self, run: Run) -> None:
        with suppress(JournalError):
            self._recording(run)

    # -- events: if one cannot be written, the next effect fails ------------------------------------------------------

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        with suppress(JournalError):
            self._recording(run).answered(call, observation)

    @hookimpl
    def react_iteration_finished(self, run: Run, iteration: Iteration) -> None:
        with suppress(JournalError):
            self._recording(run).iteration_finished(iteration)

    @hookimpl
    def react_guard_fired(self, run: Run, guard: str, detail: str) -> None:
        with suppress(JournalError):
            self._recording(run).guard(guard, detail)

    @hookimpl
    def react_asked(self, run: Run, question: Question) -> Awaitable[None] | None:
        with suppress(JournalError):
            recording = self._recording(run)
            recording.asked(question)
            return recording.writer.sink.sync()  # the answer may take days
        return None

    @hookimpl
    def react_decided(self, run: Run, question: Question, answer: Answer | None) -> None:
        with suppress(JournalError):
            self._recording(run).decided(question, answer)

    @hookimpl
    def react_tool_progress(
        self, run: Run, call: ToolCall, done: float | None, total: float | None, message: str
    ) -> None:
        with suppress(JournalError):
            self._recording(run).progress(call, done, total, message)

    @hookimpl(trylast=True)
    def react_run_finished(self, run: Run, result: RunResult) -> None:
        self._end(run, result, None)

    @hookimpl(trylast=True)
    def react_run_failed(self, run: Run, error: BaseException) -> None:
        self._end(run, run.result(), error)

    def _end(self, run: Run, result: RunResult, error: BaseException | None) -> None:
        try:
            if not isinstance(error, JournalError):
                self._recording(run).footer(result, error)
        except JournalError as problem:  # no later effect can fail because of it
            logger.warning("%s", problem)
        finally:
            self._close(run)

    # -- the recording of a run ---------------------------------------------------------------------------------------

    def _place(self) -> _Place:
        return _Place()

    def _recording(self, run: Run) -> Recording:
        place = run.state(self._place)
        return place.recording or self._begin(run, place)

    def _begin(self, run: Run, place: _Place) -> Recording:
        """Open the journal of ``run``, or join its parent's, and write the header."""
        agent = run.agent
        above = None if run.parent is None else run.parent.state(self._place).recording
        if above is None:
            writer = JournalWriter(self._sink_for(run), agent.config.masker)
            place.owns = True
        else:
            writer = above.writer
            writer.masker.update(agent.config.masker)
        recording = place.recording = Recording(run, writer)
        run.state(Recordings).append(recording)
        if self._described is None or self._described[0] is not agent:
            self._described = (agent, described_agent(agent, agent.config.masker))
        header = header_of(
            run,
            self._described[1],
            time=writer.now(),
            options=self.options_of(run),
            session=self.session_of(run),
            keep=writer.keep,
        )
        recording.header(header)
        for what, value in place.early:
            recording.looked(what, value)
        return recording

    def _sink_for(self, run: Run) -> Sink:
        return FileSink(self.file_for(run)) if self._open is None else self._open(run)

    def _close(self, run: Run) -> None:
        place = run.state(self._place)
        if place.recording is not None and place.owns:
            place.recording.writer.sink.close()


def _changes(call: ToolCall) -> bool:
    return call.tool is None or call.tool.read_only is not True
