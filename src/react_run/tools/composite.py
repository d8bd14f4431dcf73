"""Combines toolsets, applies their shared keys, and detects clashes of names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import ClassVar

from pydantic import PrivateAttr

from react_run.errors import Fault, ReactError, ToolsetError
from react_run.skills import ReActSkillSpec
from react_run.tools.tool import Tool
from react_run.tools.toolset import ReActToolset, toolset_label, without_clash


class CompositeToolset(ReActToolset):
    """Several toolsets as one."""

    kind: ClassVar[str] = "composite"

    toolsets: list[ReActToolset]
    """The toolsets, in the order in which their tools are offered."""

    _open: AsyncExitStack | None = PrivateAttr(default=None)

    def tools(self) -> list[Tool]:
        """The tools of all toolsets, in order, with their shared keys applied.

        Raises:
            ToolsetError: A toolset fails, its shared keys do not match its tools, or two toolsets offer a tool of the
                same name.
        """
        found: list[Tool] = []
        owners: dict[str, int] = {}
        faults: list[Fault] = []
        for index, toolset in enumerate(self.toolsets):
            tools, wrong = _looked_at(toolset)
            faults += [fault.within("toolsets", index) for fault in wrong]
            clashes: dict[int, list[str]] = {}
            for tool in tools:
                first = owners.setdefault(tool.name, index)
                if first != index:
                    clashes.setdefault(first, []).append(tool.name)
            faults += [_clash(names, self.toolsets, first, index) for first, names in clashes.items()]
            found += tools
        if faults:
            code = faults[0].code
            raise ToolsetError("\n".join(fault.text for fault in faults), code=code, faults=faults)
        return found

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skills of all toolsets, in order."""
        return [spec for toolset in self.toolsets for spec in skills_offered(toolset)]

    async def open(self) -> None:
        """Open every toolset that is enabled; when one fails, those already open are closed again."""
        async with AsyncExitStack() as stack:
            for toolset in filter(is_enabled, self.toolsets):
                await toolset.open()
                stack.push_async_callback(toolset.close)
            self._open = stack.pop_all()

    async def close(self) -> None:
        """Close every toolset, last opened first, even when one fails."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()


def is_enabled(toolset: ReActToolset) -> bool:
    """Whether the toolset is enabled (not ``enabled: false``)."""
    return toolset._shared is None or toolset._shared.enabled


def offered(toolset: ReActToolset) -> list[Tool]:
    """The tools that a toolset offers to an agent, with its shared keys applied.

    Raises:
        ToolsetError: The keys do not match the tools.
    """
    own = toolset.tools()
    if toolset._shared is None:
        return own
    if not toolset._shared.enabled:
        return []
    if toolset._offered is None or toolset._offered[0] != own:
        tools, faults = toolset._shared.offered(own)
        if faults:
            text = "\n".join(f"toolset {toolset_label(toolset)}: {fault.loc[0]}: {fault.text}" for fault in faults)
            raise ToolsetError(text, code=faults[0].code, faults=faults)
        toolset._offered = own, without_clash(tools)
    return list(toolset._offered[1])


def skills_offered(toolset: ReActToolset) -> list[ReActSkillSpec]:
    """The skills that a toolset offers to an agent, with the names under which their tools are offered."""
    if not is_enabled(toolset):
        return []
    specs = toolset.get_skill_specs()
    if toolset._shared is None:
        return specs
    return toolset._shared.skills(specs, {tool.own_name: tool.name for tool in offered(toolset)})


def _looked_at(toolset: ReActToolset) -> tuple[list[Tool], list[Fault]]:
    try:
        return offered(toolset), []
    except ToolsetError as error:
        return [], list(error.faults) or [Fault(error.code, str(error))]
    except ReactError:  # it already says what is wrong and where, for example in another agent's file
        raise
    except Exception as error:  # catch anything an outside toolset raises: the message has to name the toolset
        return [], [
            Fault("tool.failed", f"toolset {toolset_label(toolset)} has no tools: {type(error).__name__}: {error}")
        ]


def _clash(names: list[str], toolsets: Sequence[ReActToolset], first: int, second: int) -> Fault:
    what = f"a tool {names[0]!r}" if len(names) == 1 else f"tools {', '.join(map(repr, names))}"
    both = f"toolsets {toolset_label(toolsets[first])} and {toolset_label(toolsets[second])} both offer {what}"
    way_out = f"give one of them a prefix, rename: {{{names[0]}: …}}, or exclude: [{', '.join(names)}]"
    return Fault("tool.clash", f"{both}: {way_out}", ("toolsets", second), ("toolsets", first))
