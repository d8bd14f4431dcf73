"""Runs above runs: a subagent's run is one step of its parent's."""

from __future__ import annotations

from react_run import Run


def outermost(run: Run) -> Run:
    """The run that a person started: decisions and budgets of runs below it are its own."""
    while run.parent is not None:
        run = run.parent
    return run


def depth(run: Run) -> int:
    """How many runs are above ``run``."""
    return 0 if run.parent is None else 1 + depth(run.parent)
