"""Toolsets: tools that share options, and toolsets made of toolsets."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Any, ClassVar

from pydantic import BaseModel, PrivateAttr

from react_run.components import Component
from react_run.errors import ToolsetError
from react_run.outcome import Outcome, ToolError
from react_run.skills import ReActSkillSpec
from react_run.tools.annotations import ToolFlags, options_of
from react_run.tools.tool import Tool, is_tool


@dataclass(frozen=True)
class ToolSpec(ToolFlags):
    """The class-style way to declare a tool: its arguments are a pydantic model.

    Args:
        name: Letters, digits, ``_`` and ``-``, at most 64.
        description: What it does and when to use it, for the model.
        parameter_class: The model of its arguments; :meth:`ReActToolset.execute` gets an instance.
    """

    name: str = field(kw_only=False)
    description: str = field(kw_only=False)
    parameter_class: type[BaseModel] = field(kw_only=False)


class ReActToolset(Component):
    """Tools that share options.

    A tool is a method marked ``@tool``, or a :class:`ToolSpec` of :meth:`get_toolspecs` that :meth:`execute` runs;
    one toolset may use both.
    """

    _tools: list[Tool] | None = PrivateAttr(default=None)

    def tools(self) -> list[Tool]:
        """The tools, in a stable order, made once.

        Raises:
            ToolsetError: One of them is declared wrongly, or two have one name.
        """
        if self._tools is None:
            try:
                self._tools = _without_clash((self, [*self._marked(), *self._specified()]))
            except ToolsetError as error:
                raise ToolsetError(f"toolset {label(self)}: {error}", code=error.code) from error
        return list(self._tools)

    def _marked(self) -> list[Tool]:
        kinds = [kind for kind in reversed(type(self).__mro__) if kind not in ReActToolset.__mro__]
        names = dict.fromkeys(name for kind in kinds for name in vars(kind))
        marked = [name for name in names if is_tool(getattr_static(type(self), name))]
        return [Tool.from_function(getattr(self, name), toolset=self) for name in marked]

    def _specified(self) -> list[Tool]:
        specs = self.get_toolspecs()
        if specs and type(self).execute is ReActToolset.execute:
            raise ToolsetError(
                "get_toolspecs() declares tools, but there is no execute() to run them", code="tool.execute"
            )
        return [
            Tool.from_model(
                spec.parameter_class,
                self.execute,
                name=spec.name,
                description=spec.description,
                toolset=self,
                **options_of(spec),
            )
            for spec in specs
        ]

    def get_toolspecs(self) -> list[ToolSpec]:
        """The tools that :meth:`execute` runs."""
        return []

    def execute(self, tool_name: str, args: Any) -> object:  # Any: subclasses name their parameter class
        """Run a tool of :meth:`get_toolspecs`; may be ``async def`` in a subclass.

        As it stands it runs the tools that are marked ``@tool``, which is handy for trying them outside an agent; the
        result of an ``async def`` tool is to be awaited.

        Args:
            tool_name: Which one.
            args: An instance of its ``parameter_class``; for a marked tool, its arguments as a mapping will do.

        Raises:
            ToolError: There is no such tool, or the arguments do not fit it.
        """
        tools = {tool.name: tool for tool in self.tools()}
        if tool_name not in tools:
            raise ToolError(f"toolset {label(self)} has no tool {tool_name!r}", code="unknown_tool")
        values = args.model_dump(mode="json", exclude_unset=True) if isinstance(args, BaseModel) else dict(args)
        prepared = tools[tool_name].prepare(values)
        if prepared.problem:
            raise ToolError(prepared.problem.removeprefix("Error: "), code="invalid_arguments")
        return tools[tool_name].function(*prepared.args, **prepared.kwargs)

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """What a result means for the run; ``None`` leaves it opaque (behaviour F)."""
        return None

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skills that unlock these tools; none offers them all at once (behaviour D)."""
        return []


class CompositeToolset(ReActToolset):
    """Several toolsets as one."""

    kind: ClassVar[str] = "composite"

    toolsets: list[ReActToolset]
    """The toolsets, in the order their tools are offered."""

    _open: AsyncExitStack | None = PrivateAttr(default=None)

    def tools(self) -> list[Tool]:
        """The tools of all, in order.

        Raises:
            ToolsetError: Two toolsets offer a tool of one name.
        """
        return _without_clash(*((toolset, toolset.tools()) for toolset in self.toolsets))

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skills of all, in order."""
        return [spec for toolset in self.toolsets for spec in toolset.get_skill_specs()]

    async def open(self) -> None:
        """Open every toolset; when one fails, those already open are closed again."""
        async with AsyncExitStack() as stack:
            for toolset in self.toolsets:
                await toolset.open()
                stack.push_async_callback(toolset.close)
            self._open = stack.pop_all()

    async def close(self) -> None:
        """Close every toolset, last opened first, even when one fails."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()


def label(toolset: ReActToolset) -> str:
    """How messages call a toolset."""
    return toolset.kind or type(toolset).__name__


def _without_clash(*offers: tuple[ReActToolset, list[Tool]]) -> list[Tool]:
    """All tools offered, in order.

    Raises:
        ToolsetError: Two have one name.
    """
    owners: dict[str, ReActToolset] = {}
    for toolset, tools in offers:
        for tool in tools:
            other = owners.setdefault(tool.name, toolset)
            if other is not toolset:
                both = f"toolsets {label(other)} and {label(toolset)} both offer a tool {tool.name!r}"
                raise ToolsetError(f"{both}: leave one of them out", code="tool.clash")
        if len(tools) > len({tool.name for tool in tools}):
            names = [tool.name for tool in tools]
            twice = next(name for name in names if names.count(name) > 1)
            raise ToolsetError(f"the tool {twice!r} is declared twice", code="tool.clash")
    return [tool for _, tools in offers for tool in tools]
