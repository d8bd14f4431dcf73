"""Tool calls in a resumed run: what finished is answered, what had begun runs again only when it is safe (J4)."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from react_run.engine.execution import refused
from react_run.hookspecs import hookimpl
from react_run.journal.reading import Journal
from react_run.journal.replay.differences import different_message
from react_run.journal.replay.player import Player, Proceed, spend_for
from react_run.outcome import Observation

if TYPE_CHECKING:
    from react_run.run import Run, ToolCall

UNKNOWN = (
    "the run was interrupted while this call was being executed, so its outcome is unknown: it may or may not have "
    "taken effect. It was not repeated. Find out before you ask for it again."
)


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
        self.below_again: dict[ToolCall, Journal] = {}
        """The runs of subagents that go on, by the call that handed them their task."""
        self.different: set[ToolCall] = set()
        """The calls whose subagent does not do again what it did."""

    def go_on(self, run: Run) -> None:
        super().go_on(run)
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
        begun = attempt is not None and attempt.started is not None  # else it was at most asked for permission
        if begun and call.tool is not None and call.tool.delegates and (below := self.below(run, call)):
            return await self._with_subagent(run, call, below[-1], proceed)
        await self.beyond(run, f"the call of {call.name}")
        for one in self.below(run, call):
            spend_for(run, call, one.stats.usage)  # what was used until then was used, whatever becomes of the call
        if not begun or (call.tool is not None and (call.tool.read_only or call.tool.idempotent)):
            return await proceed()
        self.start(run, call)
        return _unknown(run, call)

    async def _with_subagent(self, run: Run, call: ToolCall, below: Journal, proceed: Proceed) -> Observation:
        """Have a tool run again whose only effects are those of a subagent, which goes on where it was."""
        self.below_again[call] = below
        try:
            observation = await proceed()
        finally:
            self.below_again.pop(call, None)
        await self.beyond(run, f"the call of {call.name}")
        return _unknown(run, call) if call in self.different else observation


def _unknown(run: Run, call: ToolCall) -> Observation:
    run.note("resume", f"{call.name}: it had been started and its outcome is unknown; it was not repeated")
    return refused(UNKNOWN, code="cancelled")
