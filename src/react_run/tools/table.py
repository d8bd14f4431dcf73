"""The tools of one run by name: those that all runs of an agent share, and what this run adds or takes away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping

from react_run.tools.tool import Tool


class ToolTable(MutableMapping[str, Tool]):
    """A mapping that a run may change without copying it: copying ten thousand tools takes longer than a short run.

    Args:
        shared: The tools of the agent by name; never changed.
    """

    __slots__ = ("_changed", "_shared")

    def __init__(self, shared: Mapping[str, Tool]) -> None:
        self._shared = shared
        self._changed: dict[str, Tool | None] = {}  # None: taken away

    def __getitem__(self, name: str) -> Tool:
        tool = self._changed[name] if name in self._changed else self._shared[name]
        if tool is None:
            raise KeyError(name)
        return tool

    def __contains__(self, name: object) -> bool:
        changed = self._changed
        return changed[name] is not None if name in changed else name in self._shared

    def __setitem__(self, name: str, tool: Tool) -> None:
        self._changed[name] = tool

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        if name in self._shared:
            self._changed[name] = None
        else:
            del self._changed[name]

    def __iter__(self) -> Iterator[str]:
        if not self._changed:
            return iter(self._shared)
        kept = [name for name in self._shared if self._changed.get(name, self) is not None]
        return iter([*kept, *(name for name in self._changed if name not in self._shared)])

    def __len__(self) -> int:
        return len(self._shared) + sum(
            (tool is not None) - (name in self._shared) for name, tool in self._changed.items()
        )

    def __or__(self, other: Mapping[str, Tool]) -> dict[str, Tool]:
        return {**self, **other}

    def __ror__(self, other: Mapping[str, Tool]) -> dict[str, Tool]:
        return {**other, **self}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self)})"

    def copy(self) -> dict[str, Tool]:
        """The tools as a dictionary."""
        return dict(self)
