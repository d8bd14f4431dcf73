"""No repeats: an identical call is answered from the earlier result (behaviours F3, F4)."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar
from unicodedata import normalize

from react_run.hookspecs import hookimpl
from react_run.outcome import Disposition, Observation
from react_run.policies.order import Policy
from react_run.run import canonical

if TYPE_CHECKING:
    from react_run.run import Iteration, Run, ToolCall

Key = tuple[str, Hashable]

SAME = (
    "You already ran this exact call in round {round}, so it was not run again. Change your approach, or answer from "
    "its result, which was:"
)
ALIKE = (
    "You already ran this call in round {round}, worded a little differently, and it found nothing, so it was not run "
    "again. Change your approach: use materially different arguments or another tool, or say what was not found."
)
SHARED = Observation(content="Asked for twice in one reply: runs once, and the result is shared.")


class Memory:
    """What one run has already been told, by tool and arguments."""

    def __init__(self) -> None:
        self.round = 0
        self.current: dict[Key, ToolCall] = {}
        self.shared: list[tuple[ToolCall, ToolCall]] = []
        self.answered: dict[Key, tuple[ToolCall, int]] = {}
        self.nothing: dict[Key, tuple[ToolCall, int]] = {}

    def enter(self, number: int) -> None:
        """Start a round, unless it has started already."""
        if number != self.round:
            self.round = number
            self.current = {}

    def forget_reads(self) -> None:
        """Something was changed: what was read before may no longer be so."""
        for known in (self.answered, self.nothing):
            for key in [key for key, (call, _) in known.items() if goes_stale(call)]:
                del known[key]


class Repeats(Policy):
    """An identical call of a tool that is not ``repeatable`` gets the earlier result instead of running again.

    Failures may run once more. A call of a tool that changes things (``read_only: false``) makes earlier reads stale.
    """

    kind: ClassVar[str] = "repeats"
    guard: ClassVar[str] = "repeats"

    @hookimpl
    def react_tool_call(self, run: Run, call: ToolCall) -> Observation | None:
        tool = call.tool
        if tool is None or tool.repeatable or call.problem is not None:
            return None
        memory = run.state(Memory)
        memory.enter(len(run.iterations))
        key = (call.request.name, call.key)
        first = memory.current.setdefault(key, call)
        if first is not call:
            memory.shared.append((call, first))
            return SHARED  # until the round is judged
        if (known := memory.answered.get(key)) is not None:
            return self._served(run, call, known, SAME)
        if memory.nothing and (known := memory.nothing.get((call.name, loose(call.arguments)))) is not None:
            return self._served(run, call, known, ALIKE)
        return None

    def _served(self, run: Run, call: ToolCall, known: tuple[ToolCall, int], head: str) -> Observation:
        earlier, number = known
        assert earlier.observation is not None  # only judged calls are remembered
        run.note(self.guard, f"{call.name}: answered from round {number}")
        return Observation(content=f"{head.format(round=number)}\n\n{earlier.observation.content}")

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        memory = run.state(Memory)
        memory.enter(len(run.iterations))
        for call, first in memory.shared:
            assert first.observation is not None  # a round is judged when all its calls are in
            call.observation, call.opaque = first.observation, first.opaque
            run.note(self.guard, f"{call.name}: asked for twice in one reply")
        memory.shared.clear()
        executed, changed = 0, int(iteration.changed)
        for call in iteration.calls:
            if call.executed and call.tool is not None:
                executed += 1
                changed += call.tool.read_only is False
        if changed:
            memory.forget_reads()
        for key, call in memory.current.items():
            # It may have read before the change.
            raced = changed and (executed > 1 or iteration.changed) and goes_stale(call)
            if call.executed and not raced:
                self._remember(memory, key, call)

    def _remember(self, memory: Memory, key: Key, call: ToolCall) -> None:
        assert call.observation is not None  # as above
        outcome = call.observation.outcome
        if outcome is None or outcome.disposition is Disposition.SUCCESS:
            memory.answered[key] = (call, memory.round)
        elif outcome.disposition is Disposition.NO_RESULT:
            memory.answered[key] = memory.nothing[key[0], loose(call.arguments)] = (call, memory.round)


def goes_stale(call: ToolCall) -> bool:
    """Whether a change elsewhere can make the result of ``call`` untrue.

    Reads go stale. So does a change that can be made twice without harm: after another change it may be needed again.
    """
    return call.tool is not None and (call.tool.read_only is not False or call.tool.idempotent)


def loose(arguments: object) -> str:
    """One text for ``arguments``, equal when they differ only in case, punctuation, spaces and word order (F3)."""
    return canonical(_loose(arguments))


def _loose(value: object) -> object:
    if isinstance(value, str):
        text = normalize("NFKC", value).casefold()
        return " ".join(sorted(re.findall(r"\w+", text))) or text
    if isinstance(value, dict):
        return {key: _loose(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_loose(item) for item in value]
    return value
