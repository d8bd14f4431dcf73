"""Annotations: what a tool declares, so that guards, caches and the loop can treat it accordingly."""

from __future__ import annotations

from dataclasses import fields
from typing import TypedDict, cast

from react_run.support.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolAnnotations:
    """The annotations of a :class:`~react_run.tools.tool.Tool` or :class:`~react_run.tools.toolset.ToolSpec`.

    Args:
        read_only: It changes nothing. ``None`` means unknown, and counts as changing something.
        repeatable: The same call may give another result later, so it may run again (behaviour F4).
        idempotent: Running it twice has the same effect as running it once, so resuming may run it again (behaviour
            J4).
        serial: Calls of one reply run one at a time, in order (behaviour L4).
        inline: Pure and fast: it runs without a thread and without a timeout.
        timeout: Time limit for one call, in seconds; ``None`` means the agent's ``tool_timeout``.
        network: It uses the network.
        runs_programs: It starts programs.
        bookkeeping: It only helps the model organise its work (a plan, notes, reading on in a result): its calls are
            not evidence, so they count neither for nor against the success of a run (behaviour F6).
        delegates: It only passes a task to one subagent: resuming runs it again, and the subagent continues from its
            own record (behaviour J4).
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
    """The same annotations as keywords of ``@tool`` and of tool constructors."""

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
    """The annotations of a tool or spec, to pass on as keywords."""
    return cast("ToolOptions", {flag.name: getattr(declared, flag.name) for flag in fields(ToolAnnotations)})
