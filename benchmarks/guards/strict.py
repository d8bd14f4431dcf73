"""Tools whose arguments are checked but never repaired: what the bench compares repairing with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from react_run import ReActToolset
from react_run.tools.arguments.preparation import Checker


class StrictChecker:
    """Hides the schema that repairs go by, and takes names and values as they come."""

    names = None
    fills_defaults = False
    schema: Mapping[str, Any] = {}

    def __init__(self, inner: Checker) -> None:
        self._inner = inner

    def bind(self, arguments: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """The call, or a complaint."""
        return self._inner.bind(json.loads(json.dumps(arguments)))


def unrepaired(toolset: ReActToolset) -> None:
    """Have the tools of ``toolset`` do without repairs."""
    strict = []
    for tool in toolset.tools():
        assert tool.checker is not None  # every tool has one, once it is made
        strict.append(replace(tool, checker=StrictChecker(tool.checker)))
    toolset._tools = strict
