"""Finds the tool call that the current code belongs to."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.run import Run, ToolCall

handled: ContextVar[ToolCall | None] = ContextVar("react_run_handled", default=None)
executing: ContextVar[ToolCall | None] = ContextVar("react_run_executing", default=None)


def current_call(run: Run) -> ToolCall | None:
    """The call of ``run`` being handled in this context: in a layer around it, in its permission check, or in its
    tool.
    """
    call = handled.get()
    return call if call is not None and call.run is run else None


def executing_call(run: Run) -> ToolCall | None:
    """The call of ``run`` whose tool is executing in this context."""
    call = executing.get()
    return call if call is not None and call.run is run else None
