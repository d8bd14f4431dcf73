"""Parent runs: a subagent's run is one step of its parent's."""

from __future__ import annotations

from react_run import Run


def outermost(run: Run) -> Run:
    """The run that a person started; it has the decisions and budgets of its subagents."""
    while run.parent is not None:
        run = run.parent
    return run


def depth(run: Run) -> int:
    """The number of parents of ``run``."""
    return 0 if run.parent is None else 1 + depth(run.parent)
