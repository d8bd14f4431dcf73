"""Plugins that stand between a recorder and the loop, and answer tool calls from a recording (behaviours J3, J4)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Container
from typing import TYPE_CHECKING, NoReturn

from react_run.errors import ReactError
from react_run.execution import refused
from react_run.hookspecs import hookimpl
from react_run.journal.comparing import Difference, different_message, same
from react_run.journal.raised import error_from
from react_run.journal.reading import Journal
from react_run.journal.recording import Recordings
from react_run.journal.rounds import Attempt
from react_run.journal.values import Record, outcome_from_data
from react_run.outcome import Observation

if TYPE_CHECKING:
    from react_run.messages import ModelResponse
    from react_run.run import Iteration, Run, ToolCall

    Proceed = Callable[[], Awaitable[Observation]]

UNKNOWN = (
    "the run was interrupted while this call was being executed, so its outcome is unknown: it may or may not have "
    "taken effect. It was not repeated. Find out before you ask for it again."
)


class RecordingEnded(ReactError):
    """A replay has come to where its recording was interrupted; everything before was as recorded."""


class _Attempts(dict[tuple[int, int], int]):
    """How often each call of one run has come to its tool."""


class Player:
    """Follows a recording: the run gets its id, and goes live with the first effect that was not recorded.

    Args:
        recording: What was recorded.
        answers: The numbers of the model calls that the recording answers.
    """

    def __init__(self, recording: Journal, answers: Container[int]) -> None:
        self.recording, self.answers = recording, answers
        self.uses = {(use.round, use.position): use for round_ in recording.rounds for use in round_.tools}

    @hookimpl(tryfirst=True)
    def react_run_started(self, run: Run) -> None:
        run.id = self.recording.run_id
        run.replaying = True

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse | None:
        if run.model_calls + 1 not in self.answers:
            await self.beyond(run, f"model call {run.model_calls + 1}")
        return None

    async def beyond(self, run: Run, what: str) -> None:
        """An effect that has no recorded end is about to happen."""
        run.replaying = False

    def attempt(self, run: Run, call: ToolCall) -> Attempt | None:
        """What was recorded of this attempt of a call."""
        counts = run.state(_Attempts)
        place = len(run.iterations), call.position
        counts[place] = number = counts.get(place, 0) + 1
        use = self.uses.get(place)
        return use.attempts[number - 1] if use is not None and len(use.attempts) >= number else None

    def answer(self, run: Run, call: ToolCall, attempt: Attempt, finished: Record) -> Observation:
        """The recorded result, with everything else that the tool left behind."""
        if attempt.started is not None:
            self.start(run, call)
        call.opaque = finished["opaque"]
        outcome = outcome_from_data(finished.get("outcome"))
        call.error = error_from(finished["error"], outcome.code if outcome else "") if "error" in finished else None
        return Observation(
            content=finished["content"],
            outcome=outcome,
            repaired=tuple(finished.get("repaired", ())),
            raw=_raw(finished["content"]) if finished.get("structured") else finished["content"],
        )

    def start(self, run: Run, call: ToolCall) -> None:
        """Have it recorded that the tool was started."""
        call.executed = True
        for recording in run.state(Recordings):
            recording.started(call)


class RecordedTools(Player):
    """Answers every tool call from the recording; a call that is not as recorded is a difference."""

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        attempt, finished = await self.recorded(run, call)
        if call.problem is not None and attempt.started is None:
            return await proceed()  # it cannot run: found anew, and compared
        return self.answer(run, call, attempt, finished)

    async def recorded(self, run: Run, call: ToolCall) -> tuple[Attempt, Record]:
        """What was recorded of this attempt, and its end.

        Raises:
            ReplayMismatch: The call is not as recorded.
            RecordingEnded: The recording was interrupted before it ended.
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
        """Compare a call with what was recorded of it.

        Raises:
            ReplayMismatch: It is not as recorded.
        """
        if attempt.started is None:
            return
        if call.problem is not None:
            self.differs(run, f"the call of {call.name}", "executed", call.problem.content)
        if not same(attempt.started["arguments"], call.arguments):
            self.differs(run, f"the call of {call.name}", attempt.started["arguments"], call.arguments)

    def differs(self, run: Run, what: str, expected: object, got: object) -> NoReturn:
        """End the replay with its first difference."""
        raise Difference(round=len(run.iterations), what=what, expected=expected, got=got).error()

    async def beyond(self, run: Run, what: str) -> NoReturn:
        ended = self.recording.footer
        if ended is not None and ended["stop_reason"] == "timeout" and _has_clock(run):
            await _time_is_up(run)
        if ended is None or ended["status"] == "failed":
            raise RecordingEnded(f"the recording ends before {what}: the run was interrupted there")
        self.differs(run, what, "nothing more", what)


class LiveTools(RecordedTools):
    """Lets tools run again and compares their results with those recorded."""

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        _, finished = await self.recorded(run, call)
        observation = await proceed()
        if not same(finished["content"], observation.content):
            self.differs(run, f"the result of {call.name}", finished["content"], observation.content)
        return observation


class ResumedTools(Player):
    """Answers the calls that finished, and lets those run that had not begun (behaviour J4).

    What had begun and not finished runs again only when that can do no harm.

    Args:
        recording: What was recorded.
        answers: The numbers of the model calls that the recording answers.
        go_live: Called before each effect that is a new one.
    """

    def __init__(self, recording: Journal, answers: Container[int], go_live: Callable[[], None]) -> None:
        super().__init__(recording, answers)
        self.go_live = go_live

    async def beyond(self, run: Run, what: str) -> None:
        run.replaying = False
        self.go_live()

    @hookimpl(tryfirst=True)
    def react_run(self, run: Run) -> None:
        """Begin as the run began: what was sent stays as it was, though guides may say something else today (L7)."""
        begun = self.recording.opening
        if different_message(begun, run.messages, (run.id, run.id)) is not None:
            run.messages = list(begun)

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        attempt = self.attempt(run, call)
        if attempt is not None and attempt.finished is not None:
            return self.answer(run, call, attempt, attempt.finished)
        await self.beyond(run, f"the call of {call.name}")
        if attempt is None or (call.tool is not None and (call.tool.read_only or call.tool.idempotent)):
            return await proceed()
        self.start(run, call)
        run.note("resume", f"{call.name}: it had been started and its outcome is unknown; it was not repeated")
        return refused(UNKNOWN, code="cancelled")


def _has_clock(run: Run) -> bool:
    from react_run.policies.limits import RunTimeout

    return any(isinstance(impl.plugin, RunTimeout) for impl in run.hooks.react_run)


async def _time_is_up(run: Run) -> None:
    """Let the run's own clock end it here, as it did when it was recorded."""
    from react_run.policies.deadline import Deadline

    run.state(Deadline).expire()
    await asyncio.Event().wait()


class _Shown:
    """Stands for a value of which only the text is known."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _raw(content: str) -> object:
    """The value that a structured result was, as far as its text tells."""
    try:
        value, _ = json.JSONDecoder().raw_decode(content)
    except (ValueError, RecursionError):
        value = content
    return _Shown(content) if isinstance(value, str) else value
