"""Measures agents: cases, scorers, repeats and statistics. See ``docs/evals.md``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.evals.cases import Case as Case
    from react_run.evals.results import read_result as read_result
    from react_run.evals.running import Evaluation as Evaluation
    from react_run.evals.running import run_eval as run_eval
    from react_run.evals.samples import Sample as Sample
    from react_run.evals.samples import read_samples as read_samples
    from react_run.evals.scorer import Score as Score
    from react_run.evals.scorer import ScoredRun as ScoredRun
    from react_run.evals.scorer import Scorer as Scorer
    from react_run.evals.suite import read_suite as read_suite

_HOMES = {
    "cases": ("Case",),
    "results": ("read_result",),
    "running": ("Evaluation", "run_eval"),
    "samples": ("Sample", "read_samples"),
    "scorer": ("Score", "ScoredRun", "Scorer"),
    "suite": ("read_suite",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
