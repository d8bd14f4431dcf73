"""Helpers shared by the runtime, toolsets and plugins, also for outside packages (docs/support.md).

Each name is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.support.dataclasses import dataclass as dataclass
    from react_run.support.files import Folder as Folder
    from react_run.support.files import PathRefused as PathRefused
    from react_run.support.json_schema import JsonSchema as JsonSchema
    from react_run.support.json_schema import place_of as place_of
    from react_run.support.json_schema import schema_problem as schema_problem
    from react_run.support.regex import Pattern as Pattern
    from react_run.support.regex import SlowPattern as SlowPattern
    from react_run.support.retrying import retry_after as retry_after
    from react_run.support.text import printable as printable
    from react_run.support.threads import in_thread as in_thread
    from react_run.support.threads import run_blocking as run_blocking

_HOMES = {
    "dataclasses": ("dataclass",),
    "files": ("Folder", "PathRefused"),
    "json_schema": ("JsonSchema", "place_of", "schema_problem"),
    "regex": ("Pattern", "SlowPattern"),
    "retrying": ("retry_after",),
    "text": ("printable",),
    "threads": ("in_thread", "run_blocking"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'react_run.support' has no attribute {name!r}")
    value: object = getattr(import_module(f"react_run.support.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
