"""Tool calls in a replay: answered from the recording, or run again and compared with it (behaviour J3)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NoReturn

from react_run.engine.state import EngineState
from react_run.errors import ReactError
from react_run.hookspecs import hookimpl
from react_run.journal.iterations import Attempt
from react_run.journal.replay.differences import Difference, same
from react_run.journal.replay.player import Player, Proceed
from react_run.journal.values import Record
from react_run.outcome import Observation

if TYPE_CHECKING:
    from react_run.run import Run, ToolCall


class RecordingEnded(ReactError):
    """The replay has reached the point where its recording was interrupted, without any difference."""


class RecordedTools(Player):
    """Answers every tool call from the recording; a call that differs from it ends the replay."""

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        attempt, finished = await self.recorded(run, call)
        if call.problem is not None and attempt.started is None:
            return await proceed()  # the call is invalid: the refusal is computed again and compared
        return self.answer(run, call, attempt, finished)

    async def recorded(self, run: Run, call: ToolCall) -> tuple[Attempt, Record]:
        """The recorded attempt for this attempt of a call, and its result.

        Raises:
            ReplayMismatch: The call differs from the recording.
            RecordingEnded: The recording was interrupted before the call ended.
        """
        attempt = self.attempt(run, call)
        if attempt is None:
            await self.beyond(run, f"the call of {call.name}")
        self.check(run, call, attempt)
        if attempt.finished is None:
            self.start(run, call)
            await self.beyond(run, f"the end of {call.name}")
        return attempt, attempt.finished

    def check(self, run: Run, call: ToolCall, attempt: Attempt) -> None:
        """Compare a call with the recorded attempt.

        Raises:
            ReplayMismatch: The call differs.
        """
        if attempt.started is None:
            return
        if call.problem is not None:
            self.differs(run, f"the call of {call.name}", "executed", call.problem.content)
        if not same(attempt.started["arguments"], call.arguments):
            self.differs(run, f"the call of {call.name}", attempt.started["arguments"], call.arguments)

    def differs(self, run: Run, what: str, expected: object, got: object) -> NoReturn:
        """End the replay with its first difference."""
        raise Difference(iteration=len(run.iterations), what=what, expected=expected, got=got).error()

    async def beyond(self, run: Run, what: str) -> NoReturn:
        ended = self.recording.footer
        if ended is not None and ended["stop_reason"] == "timeout" and _has_clock(run):
            await _time_is_up(run)
        if ended is None or ended["status"] == "failed":
            raise RecordingEnded(f"the recording ends before {what}: the run was interrupted there")
        self.differs(run, what, "nothing more", what)


class LiveTools(RecordedTools):
    """Runs tools again and compares their results with the recorded ones; subagents are answered from the recording."""

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        attempt, finished = await self.recorded(run, call)
        if self.below(run, call):
            return self.answer(run, call, attempt, finished)
        observation = await proceed()
        if not same(finished["content"], observation.content):
            self.differs(run, f"the result of {call.name}", finished["content"], observation.content)
        return observation


def _has_clock(run: Run) -> bool:
    from react_run.policies.limits import RunTimeout

    return any(isinstance(impl.plugin, RunTimeout) for impl in run.state(EngineState).hooks.react_run)


async def _time_is_up(run: Run) -> None:
    """Let the run's own timeout fire now, as it did when the run was recorded."""
    from react_run.policies.deadline import Deadline

    run.state(Deadline).expire()
    await asyncio.Event().wait()
