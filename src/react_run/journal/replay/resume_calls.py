"""Tool calls in a resumed run: finished ones are answered, started ones run again only if that is safe (J4)."""

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
    """Answers finished calls, and lets calls run that had not been started (behaviour J4).

    A call that was started but did not finish runs again only if that does no harm.

    Args:
        recording: The recorded run.
        answers: The numbers of the model calls to answer from the recording.
        go_live: Called before each new effect.
    """

    def __init__(self, recording: Journal, answers: Container[int], go_live: Callable[[], None]) -> None:
        super().__init__(recording, answers)
        self.go_live = go_live
        self.below_again: dict[ToolCall, Journal] = {}
        """The subagents to continue, by the call that started them."""
        self.different: set[ToolCall] = set()
        """The calls whose subagent diverged from the recording."""

    def go_on(self, run: Run) -> None:
        super().go_on(run)
        self.go_live()

    @hookimpl(tryfirst=True)
    def react_run(self, run: Run) -> None:
        """Start with the recorded conversation, even if guides would say something else today (L7)."""
        begun = self.recording.opening
        if different_message(begun, run.messages, (run.id, run.id)) is not None:
            run.messages = list(begun)

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        attempt = self.attempt(run, call)
        if attempt is not None and attempt.finished is not None:
            return self.answer(run, call, attempt, attempt.finished)
        begun = attempt is not None and attempt.started is not None  # otherwise it only asked for permission
        if begun and call.tool is not None and call.tool.delegates and (below := self.below(run, call)):
            return await self._with_subagent(run, call, below[-1], proceed)
        await self.beyond(run, f"the call of {call.name}")
        for one in self.below(run, call):
            spend_for(run, call, one.stats.usage)  # earlier usage counts, whatever becomes of the call
        if not begun or (call.tool is not None and (call.tool.read_only or call.tool.idempotent)):
            return await proceed()
        self.start(run, call)
        return _unknown(run, call)

    async def _with_subagent(self, run: Run, call: ToolCall, below: Journal, proceed: Proceed) -> Observation:
        """Repeat a delegating call, whose only effects are its subagent's; the subagent continues where it was."""
        self.below_again[call] = below
        try:
            observation = await proceed()
        finally:
            self.below_again.pop(call, None)
        await self.beyond(run, f"the call of {call.name}")
        return _unknown(run, call) if call in self.different else observation


def _unknown(run: Run, call: ToolCall) -> Observation:
    run.note("resume", f"{call.name}: it had started, and its outcome is unknown; it was not repeated")
    return refused(UNKNOWN, code="cancelled")
