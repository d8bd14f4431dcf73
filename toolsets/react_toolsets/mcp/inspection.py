"""Operations on an agent's servers for people: list, compare with the lock, get a prompt, log in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from react_run import ConfigError, ToolsetError
from react_toolsets.mcp.host import host_if_any, the_host
from react_toolsets.mcp.listing import Listing
from react_toolsets.mcp.lock import Lock, differences, lock_entry
from react_toolsets.mcp.prompts import Offered, prompts
from react_toolsets.mcp.requests import Request
from react_toolsets.mcp.source import Source

if TYPE_CHECKING:
    from mcp import Client

    from react_toolsets.mcp.server import Server, ServerHolder
    from react_toolsets.mcp.target import Target

T = TypeVar("T")
PATIENCE = 300.0
"""Seconds that a person has to log in."""


class Inspection:
    """The servers of one holder, for people: the commands ``react-run mcp …``, chats and editors.

    Methods that are not coroutines block until they have the answer.

    Args:
        holder: The owner of the servers.
        workspace: The working directory of servers without one; by default the current directory.
    """

    def __init__(self, holder: ServerHolder, workspace: Path | None = None) -> None:
        self._holder = holder
        self._workspace = workspace

    def end(self) -> None:
        """Stop the servers that were started for the inspection."""
        asyncio.run(self._holder.close())

    @property
    def names(self) -> list[str]:
        """The names of the servers, in order."""
        return [source.name for source in self._holder.sources]

    def entries(self) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """The current lock entry of each server, and the reason for each server that failed."""
        live, failed = self._live()
        targets = {source.name: source.target(Path.cwd()) for source in self._holder.sources}
        return {name: lock_entry(targets[name], listing) for name, listing in live.items()}, failed

    def locked(self) -> dict[str, dict[str, Any]] | None:
        """The lock entries from the lock file, without asking servers; ``None`` if there is no lock."""
        lock = self._lock()
        if lock is None:
            return None
        targets = {source.name: source.target(Path.cwd()) for source in self._holder.sources}
        return {
            name: lock_entry(target, lock.servers[name]) for name, target in targets.items() if name in lock.servers
        }

    def differences(self, *, anew: bool = False) -> dict[str, list[str]]:
        """The differences from the lock by server, including servers that failed.

        Args:
            anew: Whether to treat an unusable lock as missing.

        Raises:
            ToolsetError: The lock is unusable.
        """
        try:
            lock = self._lock()
        except ToolsetError:
            if not anew:
                raise
            lock = None
        live, failed = self._live()
        found = {name: [reason] for name, reason in failed.items()}
        for name, listing in live.items():
            known = lock.servers.get(name) if lock is not None else None
            if lines := list(differences(known, listing)):
                found[name] = lines
        return found

    def health(self, *, remote: bool = True) -> dict[str, tuple[bool, str]]:
        """Start or connect to each server; return whether it works, and a description or the error.

        Args:
            remote: Whether to include remote servers.
        """
        asked: dict[str, Future[tuple[float, Listing]]] = {}
        for source in self._holder.sources:
            if remote or not source.url:
                server = self._holder.hold(source.target(Path.cwd()))
                asked[source.name] = asyncio.run_coroutine_threadsafe(_timed(server.listing()), the_host().loop)
        found: dict[str, tuple[bool, str]] = {}
        for name, future in asked.items():
            try:
                seconds, listing = future.result()
            except Exception as error:
                found[name] = False, str(error)
            else:
                who = f"{listing.server} {listing.version}".strip() or "gives no name"
                count = f"{len(listing.tools)} tool{'' if len(listing.tools) == 1 else 's'}"
                found[name] = True, f"ready in {seconds:.2f} s: {who}, protocol {listing.protocol}, {count}"
        return found

    def prompt(self, name: str, prompt: str, arguments: Mapping[str, str]) -> str:
        """The text of a server's prompt; the list of its prompts if ``prompt`` is empty.

        Raises:
            ToolError: There is no such prompt, or the server does not answer.
        """
        return the_host().do_now(self._prompt(name, prompt, arguments))

    async def said_by(self, name: str, prompt: str, arguments: Mapping[str, str]) -> str:
        """Like `prompt`, as a coroutine; cancelling it cancels the request."""
        return await the_host().do(self._prompt(name, prompt, arguments))

    async def prompts(self, name: str) -> list[Offered]:
        """The prompts of a server; starts it if necessary.

        Raises:
            ToolError: The server does not answer.
        """
        return await the_host().do(self._asked(self._source(name), prompts))

    def is_running(self, name: str) -> bool:
        """Whether a server is connected now."""
        return self._running(self._source(name)) is not None

    def login(self, name: str, say: Callable[[str], None]) -> None:
        """Log in to a server with the browser, and store the tokens.

        Raises:
            ToolError: The login failed.
            ConfigError: The agent file has no ``auth`` for this server.
        """
        source = self._source(name)
        if source.login is None:
            raise ConfigError(f"the MCP server {name} has no auth: in the agent file, so there is nothing to log in to")
        source.login.talk = say
        the_host().do_now(self._asked(replace(source, start_timeout=PATIENCE), lambda client: client.list_tools()))

    def _live(self) -> tuple[dict[str, Listing], dict[str, str]]:
        asked: dict[str, Future[Listing]] = {}
        for source in self._holder.sources:
            listing = self._holder.hold(source.target(Path.cwd())).listing()
            asked[source.name] = asyncio.run_coroutine_threadsafe(listing, the_host().loop)
        live, failed = {}, {}
        for name, future in asked.items():
            try:
                live[name] = future.result()
            except Exception as error:
                failed[name] = str(error)
        return live, failed

    async def _prompt(self, name: str, prompt: str, arguments: Mapping[str, str]) -> str:
        async def send(client: Client) -> str:
            from react_toolsets.mcp.results import Told

            if not prompt:
                return "\n".join(map(str, await prompts(client))) or f"{name} has no prompts"
            result = await client.get_prompt(prompt, dict(arguments))
            return Told.of_prompt(result, lambda data, _: "(not saved)").text

        return await self._asked(self._source(name), send)

    async def _asked(self, source: Source, send: Callable[[Client], Awaitable[T]]) -> T:
        server = self._running(source) or self._holder.hold(self._targets(source)[0])
        request = Request(timeout=self._holder.timeout, max_timeout=self._holder.max_timeout)
        return await server.request(send, request)

    def _targets(self, source: Source) -> list[Target]:
        """Targets that may be running: in the workspace, and in the current directory, used to list its tools."""
        places = [Path.cwd()] if self._workspace is None else [self._workspace, Path.cwd()]
        return [source.target(place) for place in places]

    def _running(self, source: Source) -> Server | None:
        host = host_if_any()
        for target in self._targets(source) if host is not None else ():
            server = host.servers.get(target) if host is not None else None
            if server is not None and server.is_running:
                return self._holder.hold(target)
        return None

    def _lock(self) -> Lock | None:
        return Lock.beside(self._holder.agent_file) if self._holder.agent_file.exists() else None

    def _source(self, name: str) -> Source:
        for source in self._holder.sources:
            if source.name == name:
                return source
        raise ConfigError(f"there is no MCP server {name!r} here. Servers: {', '.join(self.names)}")


async def _timed(work: Awaitable[T]) -> tuple[float, T]:
    """The seconds that ``work`` takes, and its result."""
    started = monotonic()
    found = await work
    return monotonic() - started, found
