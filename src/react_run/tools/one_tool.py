"""A function as a toolset: what an agent file means when it names an ``@tool`` function."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import PrivateAttr

from react_run.tools.tool import Tool, is_tool
from react_run.tools.toolset import ReActToolset


class OneTool(ReActToolset):
    """A single tool.

    Raises:
        ToolsetError: The function cannot be a tool.
    """

    kind: ClassVar[str] = "function"

    function: Any
    """A function marked ``@tool``, or a :class:`Tool`."""

    _tool: Tool = PrivateAttr()

    def model_post_init(self, _: object) -> None:
        function = self.function
        self._tool = function if isinstance(function, Tool) else Tool.from_function(function, toolset=self)

    def tools(self) -> list[Tool]:
        """The one tool."""
        return [self._tool]

    def needs_trust(self) -> str:
        """A tool that says it starts programs needs trust."""
        return "starts programs" if self._tool.runs_programs else ""

    @property
    def path(self) -> str:
        """The dotted path of the function."""
        function = self._tool.function
        return f"{function.__module__}:{function.__qualname__}"


def as_toolset(target: object) -> OneTool | None:
    """``target`` as a toolset, when it is a tool."""
    return OneTool(function=target) if isinstance(target, Tool) or is_tool(target) else None
