"""Prevents repeats: an identical call is answered with the earlier result (behaviours F3, F4)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Self
from unicodedata import normalize

from react_run.engine.context import MovedOut
from react_run.hookspecs import hookimpl
from react_run.outcome import Disposition, Observation, Outcome
from react_run.policies.order import Policy
from react_run.policies.safe import safe_handling
from react_run.tools.arguments.key import arguments_key

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run, ToolCall

Key = tuple[str, Hashable]
Known = dict[Hashable, tuple["ToolCall", int]]

SAME = (
    "You already ran this exact call in iteration {iteration}, so it was not run again. Change your approach, or "
    "answer from its result, which was:"
)
ALIKE = (
    "You already ran this call in iteration {iteration}, worded a little differently, and it found nothing, so it was "
    "not run again. Change your approach: use materially different arguments or another tool, or say what was not "
    "found."
)
IN_DOUBT = (
    "{tool} was called with these arguments in iteration {iteration} and gave no answer, so it was not run again. "
    "What is known of that call: {earlier}"
)
NOTHING: Known = {}
SHARED = Observation(content="Asked for twice in one reply: runs once, and the result is shared.")
ONCE = "[You asked for this exact call more than once in one reply. It ran once, and this is its one result.]"


class Memory:
    """The results that a run already has, by tool and then by arguments, and the calls whose outcome is unknown."""

    __slots__ = ("answered", "current", "in_doubt", "iteration", "moves", "nothing", "only", "shared")

    def __init__(self) -> None:
        self.iteration = 0
        self.only: ToolCall | None = None
        """The first call of the iteration, until there is a second."""
        self.current: dict[Key, ToolCall] = {}
        """The calls of the iteration, once there are several."""
        self.shared: list[tuple[ToolCall, ToolCall]] = []
        self.answered: dict[str, Known] = {}
        self.nothing: dict[str, Known] = {}
        self.in_doubt: dict[Key, tuple[ToolCall, int, str]] = {}
        self.moves = 0

    def enter(self, number: int) -> None:
        """Start an iteration, unless it has started already."""
        if number != self.iteration:
            self.iteration, self.only = number, None
            if self.current:
                self.current = {}

    def first(self, key: Key, call: ToolCall) -> ToolCall:
        """The first call of the iteration with this ``key``: ``call`` itself, if there was none before."""
        if self.only is call:
            return call
        if self.only is not None:
            self.current[self.only.request.name, self.only.key], self.only = self.only, None
        elif not self.current:
            self.only = call
            return call
        return self.current.setdefault(key, call)

    def forget_moved(self, moved: MovedOut) -> None:
        """Forget the results that are no longer in the conversation: the model may need them again."""
        if moved.times != self.moves:
            self.moves = moved.times
            for known in chain(self.answered.values(), self.nothing.values()):
                for key in [key for key, (call, _) in known.items() if call.request.id in moved.ids]:
                    del known[key]

    def forget_stale(self, changes: list[ToolCall], *, by_others: bool) -> None:
        """Forget results that may be out of date after ``changes``, or after files were changed by others."""
        for known in chain(self.answered.values(), self.nothing.values()):
            if not known:
                continue
            some, _ = next(iter(known.values()))  # one check per tool, however many of its results are known
            if len(known) == 1:
                if goes_stale(some, changes, by_others=by_others):
                    known.clear()
            elif goes_stale(some, changes, by_others=by_others, alike=True):
                for key in [key for key, (call, _) in known.items() if goes_stale(call, changes, by_others=by_others)]:
                    del known[key]


class DuplicateCalls(Policy):
    """Answers an identical call of a tool that is not ``repeatable`` with the earlier result.

    A failed call may run once more, unless it may have taken effect. A call of a tool that may change something makes
    earlier results of other tools stale.
    """

    kind: ClassVar[str] = "duplicate_calls"

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls() if safe_handling(config) else None

    @hookimpl
    def react_tool_call(self, run: Run, call: ToolCall) -> Observation | None:
        tool = call.tool
        if tool is None or call.problem is not None:
            return None
        memory = run.state(Memory)
        memory.enter(len(run.iterations))
        key = (call.request.name, call.key)
        if memory.in_doubt and (doubt := memory.in_doubt.get(key)) is not None:
            return self._refused(run, call, *doubt)
        if tool.repeatable:
            return None
        first = memory.first(key, call)
        if first is not call:
            memory.shared.append((call, first))
            call.repeated = True
            return SHARED  # until the iteration is judged
        if memory.answered:
            memory.forget_moved(run.state(MovedOut))
        if (known := memory.answered.get(key[0], NOTHING).get(key[1])) is not None:
            return self._served(run, call, known, SAME)
        if memory.nothing and (known := memory.nothing.get(key[0], NOTHING).get(loose(call.arguments))) is not None:
            return self._served(run, call, known, ALIKE)
        return None

    def _served(self, run: Run, call: ToolCall, known: tuple[ToolCall, int], head: str) -> Observation:
        earlier, number = known
        call.repeated = True
        run.note(self.guard, f"{call.name}: answered from iteration {number}")
        return Observation(content=f"{head.format(iteration=number)}\n\n{earlier.result.content}")

    def _refused(self, run: Run, call: ToolCall, earlier: ToolCall, number: int, message: str) -> Observation:
        call.opaque = earlier.opaque
        run.note(self.guard, f"{call.name}: not repeated, its outcome is unknown since iteration {number}")
        text = IN_DOUBT.format(tool=call.name, iteration=number, earlier=message)
        return Observation(content=f"Error: {text}", outcome=Outcome.retryable("outcome_unknown", text, unknown=True))

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        memory = run.state(Memory)
        memory.enter(len(run.iterations))
        if memory.shared:
            self._share(run, memory)
        changes = [call for call in iteration.calls if may_have_changed(call)]
        if changes or iteration.changed:
            memory.forget_stale(changes, by_others=iteration.changed)
        # A result read in the same reply as a change may have been read before it; a single call was not.
        raced = iteration.changed or (len(memory.current) > 1 and bool(changes))
        done = memory.current.values() if memory.only is None else (memory.only,)
        for call in done:
            if call.executed and not (raced and goes_stale(call, changes, by_others=iteration.changed)):
                self._remember(memory, call)
        for call in changes:
            outcome = call.result.outcome
            if outcome is not None and outcome.unknown and call.tool is not None and not call.tool.idempotent:
                memory.in_doubt[call.request.name, call.key] = (call, memory.iteration, outcome.message)

    def _share(self, run: Run, memory: Memory) -> None:
        for call, first in memory.shared:
            content = f"{first.result.content}\n\n{ONCE}"
            call.observation, call.opaque = replace(first.result, content=content), first.opaque
            run.note(self.guard, f"{call.name}: asked for twice in one reply")
        memory.shared.clear()

    def _remember(self, memory: Memory, call: ToolCall) -> None:
        outcome, name, known = call.result.outcome, call.request.name, (call, memory.iteration)
        if outcome is None or outcome.disposition is Disposition.SUCCESS:
            memory.answered.setdefault(name, {})[call.key] = known
        elif outcome.disposition is Disposition.NO_RESULT:
            memory.answered.setdefault(name, {})[call.key] = known
            memory.nothing.setdefault(name, {})[loose(call.arguments)] = known


def may_have_changed(call: ToolCall) -> bool:
    """Whether ``call`` ran a tool that is not declared ``read_only``."""
    return call.executed and call.tool is not None and call.tool.read_only is not True


def goes_stale(call: ToolCall, changes: list[ToolCall], *, by_others: bool = False, alike: bool = False) -> bool:
    """Whether one of ``changes`` can make the result of ``call`` untrue (F4).

    Results that another tool read, or may have read, become stale. So do changes that can be made twice without harm,
    and those of undeclared tools: after another change they may be needed again. A payment never becomes stale.

    Args:
        call: The earlier call.
        changes: The calls that may have changed something since.
        by_others: Whether files were changed by anything besides these calls.
        alike: Whether other calls of the same tool count as well.
    """
    tool = call.tool
    if tool is None or (tool.read_only is False and not tool.idempotent):
        return False
    if by_others:
        return True
    name, undoes = call.request.name, tool.idempotent or tool.read_only is None
    for change in changes:  # noqa: SIM110  # every iteration comes by here, and a generator costs more
        if change.request.name != name or (undoes and (alike or change.key != call.key)):
            return True
    return False


def loose(arguments: object) -> str:
    """Normalise ``arguments`` to a text that ignores case, punctuation, spaces and word order (F3)."""
    return arguments_key(_loose(arguments))


def _loose(value: object) -> object:
    if isinstance(value, str):
        text = normalize("NFKC", value).casefold()
        return " ".join(sorted(re.findall(r"\w+", text))) or text
    if isinstance(value, dict):
        return {key: _loose(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_loose(item) for item in value]
    return value
