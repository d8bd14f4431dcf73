"""Detects iterations that only repeat answered calls, or in which every call fails: a nudge, then the end (S1, F1)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from react_run.engine.context import MovedOut
from react_run.hookspecs import hookimpl
from react_run.policies.order import Policy
from react_run.policies.safe import safe_handling
from react_run.results import StopReason
from react_run.tools.arguments.key import arguments_key

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run, ToolCall

NUDGE = (
    "[You are repeating yourself: these calls were answered before, and the results are the same. Change your "
    "approach: use other arguments or another tool, or answer with what you have. The run ends if you go on like this.]"
)
STUCK = "The same calls were repeated although their results did not change."
FAILING = (
    "[Nothing you called in the last {count} iterations worked. Read the errors again and change your approach: use "
    "another tool, or answer with what you have and say what did not work. The run ends if you go on like this.]"
)
NOTHING_WORKED = "Every call failed in {count} iterations in a row."

Key = tuple[str, Hashable]


class Answers:
    """The results of a run's calls, and how long the run has made no progress."""

    __slots__ = ("failing", "known", "moves", "stale")

    def __init__(self) -> None:
        self.known: dict[Key, tuple[str, int, str]] = {}
        """By call: the latest result, how many times in a row it was the same, and the id of the request."""
        self.stale: dict[frozenset[Key], int] = {}
        """How often each stale iteration has occurred since the last one with something new."""
        self.failing = 0
        """How many iterations in a row in which every call failed."""
        self.moves = 0

    def forget_moved(self, moved: MovedOut) -> None:
        """Calls whose results compaction removed may be repeated."""
        if moved.times != self.moves:
            self.moves = moved.times
            self.known = {key: known for key, known in self.known.items() if known[2] not in moved.ids}

    def is_old(self, key: Key, call: ToolCall, patience: int) -> bool:
        """Whether ``call`` was answered before with the same result; otherwise remember the result."""
        before = self.known.get(key)
        if before is not None and call.repeated:
            return True
        content = call.result.content
        count = before[1] + 1 if before is not None and before[0] == content else 1
        self.known[key] = (content, count, call.request.id)
        return count >= (patience if call.tool is not None and call.tool.repeatable else 2)


class Stuck(Policy):
    """Ends a run that keeps asking for what it has been told, or whose calls all fail.

    An iteration is stale if every call in it was answered before with the same result. The guard counts how often the
    same stale iteration comes back, so repeating several different calls once, or polling, is not a loop.
    """

    kind: ClassVar[str] = "stuck"
    inside: ClassVar[Mapping[str, str]] = {
        "failures": "a failure that ends the run is the reason, not the circle",
        "result_limit": "the nudge is added after the result is cut",
        "truncated_calls": "cut replies that end the run are the reason, not the circle",
    }

    nudge_at: int = Field(default=2, ge=1)
    """How often the same stale iteration may occur before the model gets a nudge: by default, the second time."""
    stop_at: int = Field(default=3, ge=1)
    """How often the same stale iteration may occur before the run ends."""
    polls: int = Field(default=6, ge=2)
    """After this many identical results in a row from a repeatable tool, another call is stale."""
    failing_nudge_at: int = Field(default=4, ge=1)
    """After this many consecutive iterations in which every call failed, the model gets a nudge."""
    failing_stop_at: int = Field(default=6, ge=1)
    """After this many consecutive iterations in which every call failed, the run ends."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        safe = safe_handling(config)
        return None if safe is None else cls(nudge_at=safe.nudge_at, stop_at=safe.stop_at)

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        answers = run.state(Answers)
        if answers.known:
            answers.forget_moved(run.state(MovedOut))
        self._look_for_failing(run, iteration, answers)
        keys, new = [], False
        for call in iteration.calls:
            keys.append(key := _key(call))
            if not answers.is_old(key, call, self.polls):
                new = True
        if new:
            if answers.stale:
                answers.stale = {}
            return
        same = frozenset(keys)
        answers.stale[same] = count = answers.stale.get(same, 0) + 1
        if count < self.nudge_at:
            return
        what = f"the same iteration brought nothing new, {count} times"
        self._react(run, iteration, count >= self.stop_at, what, (NUDGE, STUCK))

    def _look_for_failing(self, run: Run, iteration: Iteration, answers: Answers) -> None:
        for call in iteration.calls:
            if not call.failed:
                answers.failing = 0
                return
        answers.failing = count = answers.failing + 1
        if count >= self.failing_nudge_at:
            texts = (FAILING.format(count=count), NOTHING_WORKED.format(count=count))
            self._react(run, iteration, count >= self.failing_stop_at, f"nothing worked in {count} iterations", texts)

    def _react(self, run: Run, iteration: Iteration, ends: bool, what: str, texts: tuple[str, str]) -> None:
        if run.outcome.stop_reason is not None:
            return
        nudge, reason = texts
        run.note(self.guard, f"{what}: {'stopped' if ends else 'nudged'}")
        if ends:
            run.stop(StopReason.STUCK, reason)
        else:
            iteration.calls[-1].append(nudge)


def _key(call: ToolCall) -> Key:
    return call.request.name, call.key if call.problem is None else arguments_key(call.request.arguments)
