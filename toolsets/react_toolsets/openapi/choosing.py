"""Selects the operations that become tools, and names the tools."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from react_run import Fault
from react_toolsets.openapi.operations import Operation
from react_toolsets.openapi.options import OpenApiOptions
from react_toolsets.tool_names import tool_names


class Choice:
    """Selects operations by the options, and finds options that match nothing."""

    def __init__(self, options: OpenApiOptions) -> None:
        self._options = options
        self._methods = [method.upper() for method in options.methods]
        self._unused = {("tags", i): glob for i, glob in enumerate(options.tags)}
        self._unused |= {("operations", i): glob for i, glob in enumerate(options.operations)}
        self._tags: dict[str, None] = {}
        self._other_methods: set[str] = set()

    def wants(self, place: str, name: str, tags: tuple[str, ...]) -> bool:
        """Whether an operation becomes a tool."""
        self._tags |= dict.fromkeys(tags)
        by_tag = self._matches("tags", self._options.tags, tags)
        by_name = self._matches("operations", self._options.operations, (place, name))
        if not (by_tag and by_name):
            return False
        if place.partition(" ")[0] not in self._methods:
            self._other_methods.add(place.partition(" ")[0])
            return False
        return True

    def _matches(self, key: str, globs: list[str], names: tuple[str, ...]) -> bool:
        if not globs:
            return True
        hit = [index for index, glob in enumerate(globs) if any(fnmatchcase(name, glob) for name in names if name)]
        for index in hit:
            self._unused.pop((key, index), None)
        return bool(hit)

    def faults(self) -> Iterator[Fault]:
        """One fault for each glob that matches nothing."""
        for (key, index), glob in self._unused.items():
            near = get_close_matches(glob, self._tags, n=1) if key == "tags" else []
            hint = f" Did you mean {near[0]!r}?" if near else ""
            known = f" Tags: {', '.join([*self._tags][:20]) or 'none'}" if key == "tags" else ""
            what = "has this tag" if key == "tags" else "has this operationId, or is this METHOD /path"
            yield Fault("tool.unmatched", f"{glob!r}: no operation of the document {what}.{hint}{known}", (key, index))


def names_of(found: list[Operation]) -> dict[str, str]:
    """The names of tools by ``METHOD /path``; an operationId that several operations share is not used."""
    ids = [operation.id for operation in found]
    theirs = {
        operation.place: operation.id if operation.id and ids.count(operation.id) == 1 else _name_from_path(operation)
        for operation in found
    }
    ours = tool_names(theirs.values(), "")
    return {place: ours[name] for place, name in theirs.items()}


def _name_from_path(operation: Operation) -> str:
    words = "_".join(part.strip("{}") for part in operation.path.split("/") if part)
    return f"{operation.method.lower()}_{words or 'root'}"
