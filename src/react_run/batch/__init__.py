"""Many runs of one agent: rows go in, results come out in order, and interrupted rows continue.

The engine is a queue; the journal of each row is the execution. See ``docs/batch.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.batch.engine import Beat as Beat
    from react_run.batch.engine import Claim as Claim
    from react_run.batch.engine import Engine as Engine
    from react_run.batch.engine import EngineError as EngineError
    from react_run.batch.engine import Progress as Progress
    from react_run.batch.inputs import read_rows as read_rows
    from react_run.batch.rows import Row as Row
    from react_run.batch.rows import RowResult as RowResult
    from react_run.batch.running import Batch as Batch
    from react_run.batch.running import run_batch as run_batch

_HOMES = {
    "engine": ("Beat", "Claim", "Engine", "EngineError", "Progress"),
    "inputs": ("read_rows",),
    "rows": ("Row", "RowResult"),
    "running": ("Batch", "run_batch"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
