"""What a tool promises, so that guards, caches and the loop can treat it accordingly."""

from __future__ import annotations

from dataclasses import fields
from typing import TypedDict, cast

from react_run.support.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolAnnotations:
    """The promises; a :class:`~react_run.tools.tool.Tool` and a :class:`~react_run.tools.toolset.ToolSpec` carry them.

    Args:
        read_only: It changes nothing. ``None`` means unknown: it counts as changing things.
        repeatable: The same call may give another result later, so it may run again (behaviour F4).
        idempotent: Running it twice does no more than once, so resuming may run it again (behaviour J4).
        serial: Calls of one reply run one at a time, in order (behaviour L4).
        inline: Pure and quick: it runs without a thread and without a deadline.
        timeout: Seconds one call may take; ``None`` means the agent's ``tool_timeout``.
        network: It reaches the network.
        runs_programs: It starts programs.
        bookkeeping: It serves the model's own order (a plan, notes, reading on in a result): its calls are not
            evidence, so they count neither for nor against the success of a run (behaviour F6).
        delegates: All it does is to hand a task to one subagent: resuming runs it again, and the subagent goes on from
            its own record (behaviour J4).
    """

    read_only: bool | None = None
    repeatable: bool = False
    idempotent: bool = False
    serial: bool = False
    inline: bool = False
    timeout: float | None = None
    network: bool = False
    runs_programs: bool = False
    bookkeeping: bool = False
    delegates: bool = False


class ToolOptions(TypedDict, total=False):
    """The same promises as keywords of ``@tool`` and of the constructors of tools."""

    read_only: bool | None
    repeatable: bool
    idempotent: bool
    serial: bool
    inline: bool
    timeout: float | None
    network: bool
    runs_programs: bool
    bookkeeping: bool
    delegates: bool


def options_of(declared: ToolAnnotations) -> ToolOptions:
    """The promises of a tool or spec, to pass on as keywords."""
    return cast("ToolOptions", {flag.name: getattr(declared, flag.name) for flag in fields(ToolAnnotations)})
