"""The usage of a run, from its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from react_run.journal.values import Record, usage_from_data
from react_run.messages import NO_USAGE, Usage
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.iterations import Iteration, ModelCall, ToolUse

_FAILED = Usage(input_tokens=0, output_tokens=0, cost=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolStats:
    """Statistics of one tool's calls; ``seconds`` add up over concurrent calls."""

    calls: int
    executed: int
    failed: int
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStats:
    """The usage of a run.

    Args:
        iterations: The number of iterations.
        model_calls: Requests to the model, including failed ones.
        failed_model_calls: Requests that ended in an error.
        tools: Statistics of each tool's calls, by name.
        guards: How often each guard fired, by name.
        usage: Tokens and USD of the run and its subagents; ``None`` where unknown.
        seconds: From the first record to the last one.
        model_seconds: Time spent waiting for the model.
        tool_seconds: Time spent in tools; concurrent calls add up.
        person_seconds: Time spent waiting for people; concurrent questions add up.
        model_calls_below: Requests to the models of subagents.
        tool_calls_below: Tool calls that subagents requested.
    """

    iterations: int
    model_calls: int
    failed_model_calls: int
    tools: Mapping[str, ToolStats]
    guards: Mapping[str, int]
    usage: Usage
    seconds: float
    model_seconds: float
    tool_seconds: float
    person_seconds: float
    model_calls_below: int
    tool_calls_below: int

    @property
    def tool_calls(self) -> int:
        """The number of requested tool calls."""
        return sum(tool.calls for tool in self.tools.values())


def stats_of(
    read: Sequence[Iteration], records: Sequence[Record], footer: Record | None, below: Sequence[RunStats]
) -> RunStats:
    """Compute the usage of a run.

    Args:
        read: Its iterations; iteration 0 is what happened before the first one.
        records: Its own records.
        footer: The last of them, if the run has ended; it contains the total usage.
        below: The usage of its subagents; their tokens are added if there is no footer, whose total includes them.
    """
    iterations = [found for found in read if found.number]
    calls = [call for found in read for call in found.model_calls if call.sent]
    uses = [use for found in iterations for use in found.tools]
    names = dict.fromkeys(use.name for use in uses)
    tools = {name: _tool_stats([use for use in uses if use.name == name]) for name in names}
    return RunStats(
        iterations=max((found.number for found in iterations), default=0),
        model_calls=len(calls),
        failed_model_calls=sum(call.error is not None for call in calls),
        tools=tools,
        guards=Counter(record["guard"] for found in read for record in found.guards),
        usage=_usage(footer, calls, [stats.usage for stats in below]),
        seconds=records[-1]["time"] - records[0]["time"],
        model_seconds=sum(call.end["seconds"] for call in calls if call.end),
        tool_seconds=sum(tool.seconds for tool in tools.values()),
        person_seconds=sum(asked.waited for found in read for asked in found.questions),
        model_calls_below=sum(stats.model_calls + stats.model_calls_below for stats in below),
        tool_calls_below=sum(stats.tool_calls + stats.tool_calls_below for stats in below),
    )


def _tool_stats(uses: list[ToolUse]) -> ToolStats:
    return ToolStats(
        calls=len(uses),
        executed=sum(use.executed for use in uses),
        failed=sum(use.failed for use in uses),
        seconds=sum(use.taken or 0.0 for use in uses),
    )


def _usage(footer: Record | None, calls: list[ModelCall], below: Iterable[Usage]) -> Usage:
    if footer is not None:
        return usage_from_data(footer["usage"])
    own = [usage_from_data(call.response["usage"]) if call.response else _FAILED for call in calls if call.end]
    return reduce(add, (*own, *below), NO_USAGE)
