"""The ``mcp`` toolset: where its tools come from, and when its servers start and stop."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakSet

from pydantic import PrivateAttr

from react_run import ConfigError, ReActSkillSpec, Run, Tool, ToolError, ToolsetError, only_looking
from react_toolsets.mcp import resources
from react_toolsets.mcp.calls import CALL, Caller
from react_toolsets.mcp.hints import matches, read_only
from react_toolsets.mcp.host import host_if_any, the_host
from react_toolsets.mcp.importing import as_toolsets
from react_toolsets.mcp.inspection import Inspection
from react_toolsets.mcp.listing import Listed, Listing
from react_toolsets.mcp.lock import Lock
from react_toolsets.mcp.options import McpOptions
from react_toolsets.mcp.source import Source
from react_toolsets.tool_names import tool_names

if TYPE_CHECKING:
    from react_toolsets.mcp.server import Server
    from react_toolsets.mcp.target import Target

MARGIN = 5.0
"""Seconds by which the runtime's timeout exceeds ours, so that ours fires first."""
MAX_DESCRIPTION = 200
_unasked: WeakSet[McpToolset] = WeakSet()
"""Toolsets whose servers have not been asked for their tools yet."""


class McpWarning(UserWarning):
    """A server or one of its tools is left out; the agent works without it."""


class McpToolset(McpOptions):
    """Tools of MCP servers: programs, which are started when needed, or network services."""

    kind: ClassVar[str] = "mcp"
    closes_anywhere: ClassVar[bool] = True

    _lock: Lock | None = PrivateAttr(default=None)
    _listings: dict[str, Listing] = PrivateAttr(default_factory=dict)
    _asked: dict[str, Future[Listing]] = PrivateAttr(default_factory=dict)
    _groups: dict[str, list[str]] = PrivateAttr(default_factory=dict)
    _names: dict[str, dict[str, str]] = PrivateAttr(default_factory=dict)
    _used: set[Target] = PrivateAttr(default_factory=set)
    _opened: int = PrivateAttr(default=0)

    def model_post_init(self, context: object) -> None:
        super().model_post_init(context)
        _unasked.add(self)

    @property
    def agent_file(self) -> Path:
        """The agent file that defines this toolset, for messages."""
        return (self._origin.path if self._origin else None) or Path("AGENT.yaml")

    @property
    def sources(self) -> list[Source]:
        """The servers, in order."""
        return list(self._sources)

    def tools(self) -> list[Tool]:
        """The tools of all servers: from the lock, or from the servers themselves.

        Raises:
            ToolsetError: The SDK is not installed (``mcp.missing``), a lock is missing or unusable
                (``mcp.lock``), or a required server fails (``mcp.required``).
        """
        if self._tools is None:
            if not _has_sdk():
                raise ToolsetError("the MCP SDK is not installed: pip install 'react-run[mcp]'", code="mcp.missing")
            self._lock = self._found_lock()
            if self._lock is None and only_looking():
                names = ", ".join(source.name for source in self._sources)
                self._warn(f"the tools of {names} are unknown: run react-run mcp lock {self.agent_file}")
                return []
            self._listings = dict(self._known())
            self._tools = [tool for source in self._sources for tool in self._of(source)]
        return list(self._tools)

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """One skill per server, with the server's instructions."""
        self.tools()
        return [
            ReActSkillSpec(
                name=name,
                description=_shortened(f"Tools of the MCP server {name}: {', '.join(tools)}"),
                tool_names=tuple(tools),
                instructions=self._listings[name].instructions,
            )
            for name, tools in self._groups.items()
            if tools
        ]

    def server(self, source: Source, run: Run) -> Server:
        """The server for ``run``, held by this toolset until it is closed."""
        if self.share == "process":
            return self.hold(source.target(run.workspace))
        target = source.target(run.workspace, run.id)
        if target not in self._used:
            run.at_end(partial(self._end_of_run, target))
        return self.hold(target)

    def inspection(self, workspace: Path | None = None) -> Inspection:
        """The servers for people: the commands ``react-run mcp …``, chats and editors.

        Args:
            workspace: The working directory of servers without one; by default the current directory.
        """
        return Inspection(self, workspace)

    @classmethod
    def imported(cls, path: Path) -> tuple[str, list[str]]:
        """The servers in another program's file as YAML toolsets, and the variables that they need.

        Raises:
            ConfigError: The file does not define MCP servers.
        """
        try:
            return as_toolsets(path)
        except ValueError as error:
            raise ConfigError(str(error)) from error

    def tool_name(self, server: str, tool: str) -> str:
        """The name that models see for the tool ``tool`` of ``server``.

        Raises:
            ConfigError: There is no such tool.
        """
        self.tools()
        names = self._names.get(server, {})
        if tool not in names:
            raise ConfigError(f"the MCP server {server} has no tool {tool!r} here. Tools: {', '.join(names) or 'none'}")
        return names[tool]

    async def open(self) -> None:
        """Count one more agent that uses the toolset, and start required servers.

        Raises:
            ToolsetError: A required server does not start.
        """
        self._opened += 1
        if not self.required:
            return
        for source in self._sources:
            try:
                await the_host().do(self.hold(source.target(Path.cwd())).listing())
            except ToolError as error:
                self._opened -= 1
                raise ToolsetError(f"toolset mcp: {error} (required: true)", code="mcp.required") from error

    async def close(self) -> None:
        """Stop the servers that have no other user."""
        self._opened -= 1
        host = host_if_any()
        if self._opened > 0 or host is None:
            return
        used, self._used = self._used, set()
        await host.release(used, self)

    async def _end_of_run(self, target: Target) -> None:
        self._used.discard(target)
        await the_host().release([target], self)

    def hold(self, target: Target) -> Server:
        """The server at ``target``, held by this toolset until it is closed; does not start it."""
        self._used.add(target)
        return the_host().hold(target, self)

    def _found_lock(self) -> Lock | None:
        if self.lock == "off" or self._origin is None or self._origin.path is None:
            found = None
        else:
            found = Lock.beside(self._origin.path)
        if found is None and self.lock == "required":
            raise ToolsetError(
                f"toolset mcp: there is no lock, and lock: required. Write one: react-run mcp lock {self.agent_file}",
                code="mcp.lock",
            )
        return found

    def _known(self) -> Iterator[tuple[str, Listing]]:
        if self._lock is not None:
            for source in self._sources:
                if source.name in self._lock.servers:
                    yield source.name, self._lock.servers[source.name]
                else:
                    self._leave_out(source, f"it is not in {self._lock.path.name}")
            return
        for toolset in [*_unasked]:
            if toolset is self or (toolset._origin is self._origin is not None and toolset.lock != "required"):
                toolset._ask()
        for source in self._sources:
            try:
                yield source.name, self._asked[source.name].result()
            except Exception as error:
                self._leave_out(source, str(error))

    def _ask(self) -> None:
        """Ask all servers concurrently."""
        _unasked.discard(self)
        loop = the_host().loop
        for source in self._sources:
            listing = self.hold(source.target(Path.cwd())).listing()
            self._asked[source.name] = asyncio.run_coroutine_threadsafe(listing, loop)

    def _leave_out(self, source: Source, reason: str) -> None:
        if self.required:
            raise ToolsetError(f"toolset mcp: the server {source.name} is required, but: {reason}", code="mcp.required")
        self._warn(f"the MCP server {source.name} is left out: {reason}")

    def _of(self, source: Source) -> Iterator[Tool]:
        listing = self._listings.get(source.name)
        if listing is None:
            return
        caller = Caller(holder=self, source=source, locked=self._lock is not None)
        prefix = f"{source.name}__" if self.prefix is None else self.prefix
        wanted = [tool for tool in listing.tools if self._is_wanted(tool.name)]
        extra = [resources.LIST["name"], resources.READ["name"]] if self.resources else []
        names = tool_names([*(str(name) for name in extra), *(tool.name for tool in wanted)], prefix)
        group = self._groups.setdefault(source.name, [])
        self._names[source.name] = names
        for position, listed in enumerate(wanted):
            first = listing.instructions if self.instructions and position == 0 else ""
            try:
                yield self._tool(caller, names[listed.name], listed, first)
            except (ToolsetError, ValueError, TypeError) as error:
                self._warn(f"the tool {listed.name!r} of the MCP server {source.name} is left out: {error}")
            else:
                group.append(names[listed.name])
        if self.resources:
            yield from self._resource_tools(caller, names)
            group += [names[str(name)] for name in extra]

    def _is_wanted(self, name: str) -> bool:
        return matches(name, self.include) and not matches(name, self.exclude)

    def _tool(self, caller: Caller, name: str, listed: Listed, instructions: str = "") -> Tool:
        hints = listed.annotations
        if listed.unusable:
            raise ToolsetError(listed.unusable, code="tool.schema")
        harmless = read_only(
            listed.name, hints, declared=self.read_only, changing=self.changes, trusted=self.trust_hints
        )
        idempotent = self.trust_hints and hints.get("idempotentHint") is True
        open_world = bool(hints.get("openWorldHint", bool(caller.source.url)))
        tool = Tool.from_schema(
            lambda: listed.parameters,
            partial(caller.call, listed, bool(harmless) or idempotent, open_world),
            name=name,
            description="\n\n".join(filter(None, (instructions, listed.description or listed.title or listed.name))),
            toolset=self,
            context={CALL: "call"},
            read_only=harmless,
            repeatable=True,
            idempotent=idempotent,
            network=open_world,
            timeout=self._limit,
        )
        if not caller.locked:  # `lock` has checked the schema
            _ = tool.wire
        return tool

    def _resource_tools(self, caller: Caller, names: Mapping[str, str]) -> Iterator[Tool]:
        functions = (caller.list_resources, caller.read_resource)
        for declared, function in zip((resources.LIST, resources.READ), functions, strict=True):
            yield Tool(
                name=names[str(declared["name"])],
                description=str(declared["description"]).format(name=caller.source.name),
                parameters=declared["parameters"],
                function=function,
                toolset=self,
                context={CALL: "call"},
                read_only=True,
                repeatable=True,
                network=bool(caller.source.url),
                timeout=self._limit,
            )

    @property
    def _limit(self) -> float:
        return self.start_timeout + self.max_timeout + MARGIN

    def _warn(self, text: str) -> None:
        warnings.warn(text, McpWarning, stacklevel=3)


@cache
def _has_sdk() -> bool:
    return find_spec("mcp") is not None


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"
