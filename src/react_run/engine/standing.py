"""Standing failures: failed calls that were never resolved, and whether a run counts as a success (F1b, F6)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from react_run.engine.subjects import file_of, paths, subject, words, words_of
from react_run.outcome import Disposition, Outcome
from react_run.results import Unresolved
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.run import Iteration, ToolCall
    from react_run.tools.tool import Interprets, Tool


@dataclass(eq=False, slots=True)
class Failure:
    """A standing failure, and the sensors that still object to it."""

    call: ToolCall
    outcome: Outcome
    iteration: int
    sensors: set[object] = field(default_factory=set)

    @property
    def tool(self) -> Tool | None:
        """The tool of the call; ``None`` if there is no such tool."""
        return self.call.tool

    @property
    def serious(self) -> bool:
        """Whether the run cannot be a success while this failure stands, whatever the model says (F6)."""
        if not self.call.opaque:
            return True
        if self.tool is None or self.tool.read_only is True:
            return False
        return self.tool.read_only is False or self.outcome.denied or self.outcome.unknown


class Standing:
    """The standing failures of a run, and how many calls it requested and how many returned a result."""

    __slots__ = ("asked", "failures", "succeeded")

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.asked = self.succeeded = 0

    @property
    def sound(self) -> bool:
        """Whether the tools give no reason to doubt an answer: no serious failure stands, and not every call failed."""
        return bool(self.succeeded or not self.asked) and not any(failure.serious for failure in self.failures)

    @property
    def unresolved(self) -> list[Unresolved]:
        """The standing failures, oldest first."""
        return [
            Unresolved(
                tool=failure.call.name,
                code=failure.outcome.code,
                message=failure.outcome.message,
                disposition=failure.outcome.disposition,
                opaque=failure.call.opaque,
            )
            for failure in self.failures
        ]

    def settle(self, iteration: Iteration) -> None:
        """Process a judged iteration: first its successes, then its failures, in request order."""
        succeeded, failed = [], []
        for call in iteration.calls:
            counts = call.tool is None or not call.tool.bookkeeping
            self.asked += counts
            if (outcome := call.result.outcome) is not None and outcome.disposition.failed:
                failed.append((call, outcome))
            elif call.succeeded:
                succeeded.append(call)
                self.succeeded += counts
        if self.failures and succeeded:
            self.failures = [failure for failure in self.failures if not _is_cleared(failure, succeeded, later=True)]
        for call, outcome in failed:
            failure = Failure(call, outcome, iteration.number, {sensor for sensor, _ in call.blocks})
            if not _is_cleared(failure, succeeded, later=False):
                self._add(failure)

    def _add(self, failure: Failure) -> None:
        """A call that fails again stands once, with its latest error; a block stays a block."""
        same = (failure.call.name, failure.call.key, bool(failure.sensors))
        self.failures = [
            known for known in self.failures if (known.call.name, known.call.key, bool(known.sensors)) != same
        ]
        self.failures.append(failure)


def _is_cleared(failure: Failure, successes: list[ToolCall], *, later: bool) -> bool:
    """Whether one of ``successes``, from the same or a later iteration, resolves ``failure``."""
    if failure.sensors:
        return later and _is_passed(failure, successes)
    if failure.tool is None or failure.tool.read_only is True:
        return any(_answers(failure, call, later=later) for call in successes)
    return later and any(_does_again(failure, call) for call in successes)


def _is_passed(failure: Failure, successes: list[ToolCall]) -> bool:
    """Whether a later change in the same place has passed every sensor that objects."""
    for call in successes:
        changes = call.tool is not None and call.tool.read_only is not True and call.executed
        if changes and _same_place(failure.call, call):
            failure.sensors -= call.passed
    return not failure.sensors


def _same_place(blocked: ToolCall, call: ToolCall) -> bool:
    """Whether ``call`` concerns what a sensor objected to: the path that both name, else the scope of the signal."""
    located = {file_of(location) for _, location in blocked.blocks} - {""}
    named, known = paths(call), paths(blocked)
    if "." in located or not (known or located):
        return True  # its scope is everything, or nothing that can be compared
    if not named and not known:
        return call.name == blocked.name  # a tool with a single place
    return bool(named & (known | located))


def _does_again(failure: Failure, call: ToolCall) -> bool:
    """For a failed call that may change something: whether ``call`` did the same thing (F1b, first row)."""
    failed = failure.call
    if call.name != failed.name:
        return False
    has_one, about = subject(failed)
    if about is not None:
        return subject(call) == (True, about)
    if has_one or failed.problem is not None or (failure.outcome.denied and not failed.arguments):
        return True  # it named nothing, or its arguments were invalid: the tool's next success is its correction
    return call.key == failed.key


def _answers(failure: Failure, call: ToolCall, *, later: bool) -> bool:
    """For a failed look-up: whether ``call`` answered the same question (F1b, second and third row)."""
    failed = failure.call
    nothing_found = failure.outcome.disposition is Disposition.NO_RESULT
    if call.name == failed.name:
        if later and (not nothing_found or call.key == failed.key):
            return True
        before, after = words(failed, of_subject=True), words(call, of_subject=True)
        return bool(before & after) or (later and _is_reworded(before, after, words_of(call.run.prompt)))
    if call.tool is None or call.tool.repeatable or not call.arguments:
        return False  # reading the clock proves nothing here
    if nothing_found and _of_one_group(failed.tool, call.tool):
        return True
    return bool(words(failed) & words(call))


def _is_reworded(before: frozenset[str], after: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether a search that found nothing was reworded by the model: ``after`` names nothing else that the user asked
    for, and ``before`` did.
    """
    return bool(after and before & asked) and not after & asked


def _of_one_group(one: Tool | None, other: Tool) -> bool:
    """Whether two tools belong to the same toolset or skill."""
    if one is None or one.toolset is None or other.toolset is None:
        return False
    if one.toolset is other.toolset:
        return True
    return bool(_skills_of(one.toolset, one.name) & _skills_of(other.toolset, other.name))


def _skills_of(toolset: Interprets, tool: str) -> set[str]:
    return {skill.name for skill in toolset.get_skill_specs() if tool in skill.tool_names}
