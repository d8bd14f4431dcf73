"""Calls of a server's tools by a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from react_run import Observation, Run, ToolCall, run_directory
from react_toolsets.mcp.asking import Asker
from react_toolsets.mcp.host import the_host
from react_toolsets.mcp.listing import Listed
from react_toolsets.mcp.requests import Request
from react_toolsets.mcp.results import Told, fenced
from react_toolsets.mcp.source import Source
from react_toolsets.mcp.troubles import McpTrouble, shortened

if TYPE_CHECKING:
    from mcp import Client

    from react_toolsets.mcp.server import ServerHolder
    from react_toolsets.mcp.session import Session

T = TypeVar("T")
CALL = "\0call"
"""The parameter for the run's call; no schema can have this name."""


class _OfRun:
    """What one run knows about its servers."""

    def __init__(self) -> None:
        self.met: dict[str, int] = {}
        self.given_up: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Calls one server on behalf of a toolset.

    Args:
        holder: The user of the server.
        source: The server.
        locked: Whether its tools come from a lock.
    """

    holder: ServerHolder
    source: Source
    locked: bool

    async def call(self, listed: Listed, harmless: bool, open_world: bool, /, **arguments: Any) -> str | Observation:
        """Call a tool; ``arguments`` includes the run's call."""
        call: ToolCall = arguments.pop(CALL)
        request = self._request(call, harmless)
        result = await self._do(
            call,
            lambda client: client.call_tool(listed.name, arguments, progress_callback=request.on_progress),
            request,
            partial(self._permit, listed),
        )
        told = Told.of_result(result, partial(_save, call))
        if result.is_error:
            raise McpTrouble(shortened(told.text))
        return self._seen(told, is_data=open_world)

    async def list_resources(self, /, **arguments: Any) -> str:
        """List the resources and resource templates of the server."""
        from react_toolsets.mcp.resources import resources

        call: ToolCall = arguments.pop(CALL)
        text: str = await self._do(call, resources, self._request(call, harmless=True))
        return text

    async def read_resource(self, /, **arguments: Any) -> str | Observation:
        """Read a resource."""
        call: ToolCall = arguments.pop(CALL)
        uri = str(arguments["uri"])
        result = await self._do(call, lambda client: client.read_resource(uri), self._request(call, harmless=True))
        return self._seen(Told.of_resource(result, partial(_save, call)), is_data=True)

    def _seen(self, told: Told, *, is_data: bool) -> str | Observation:
        """The result for the model; ``is_data`` fences text that third parties may have written."""
        text = fenced(told.text, self.source.name) if is_data else told.text
        return Observation(content=text, parts=tuple(told.parts)) if told.parts else text

    async def _do(
        self,
        call: ToolCall,
        send: Callable[[Client], Any],
        request: Request,
        permit: Callable[[Session], None] = lambda _: None,
    ) -> Any:
        seen = call.run.state(_OfRun)
        if reason := seen.given_up.get(self.source.name):
            raise McpTrouble(reason, code="server_unstable")
        for secret in self.source.secrets:
            call.run.agent.config.masker.add(secret)

        def look(session: Session) -> None:
            self._introduce(call.run, session)
            permit(session)

        server = self.holder.server(self.source, call.run)
        try:
            return await the_host().do(server.request(send, request, look))
        except McpTrouble as trouble:
            if trouble.code == "server_unstable":
                seen.given_up[self.source.name] = str(trouble)
            raise

    def _request(self, call: ToolCall, harmless: bool) -> Request:
        return Request(
            timeout=self.holder.timeout,
            max_timeout=self.holder.max_timeout,
            progress=partial(_report, call),
            note=call.run.note,
            harmless=harmless,
            ask=Asker(call, self.source.name) if self.source.asks else None,
        )

    def _permit(self, listed: Listed, session: Session) -> None:
        """Refuse a tool that differs from the lock; called on the host's thread, before the request is sent."""
        if not self.locked:
            return
        live = session.listing.by_name.get(listed.name)
        if live is None:
            text = f"the MCP server {self.source.name} no longer has a tool {listed.name!r}"
            raise McpTrouble(f"{text}; {self._look()}", code="tool_removed")
        if live.digest != listed.digest:
            text = f"the tool {listed.name!r} of the MCP server {self.source.name} differs from the lock"
            raise McpTrouble(f"{text}, so it is not called; {self._look()}", code="tool_changed")

    def _look(self) -> str:
        return f"the user can see what has changed with: react-run mcp diff {self.holder.agent_file}"

    def _introduce(self, run: Run, session: Session) -> None:
        """Note the server once per run."""
        seen, listing = run.state(_OfRun).met, session.listing
        if self.source.name not in seen:
            lock = ", locked" if self.locked else ""
            who = f"{listing.server} {listing.version}".strip() or "a server that gives no name"
            run.note("mcp_server", f"{self.source.name}: {who}, protocol {listing.protocol}{lock}")
        seen[self.source.name] = session.version


def _report(call: ToolCall, done: float, total: float | None, message: str | None) -> None:
    with suppress(TypeError, ValueError):  # servers may send numbers that cannot be shown
        call.report(done=done, total=total, message=message or "")


def _save(call: ToolCall, data: bytes, ending: str) -> str:
    """Save binary data below the run's directory, and return the path relative to the workspace."""
    path = run_directory(call.run.workspace, call.run.id) / "mcp" / f"{sha256(data).hexdigest()[:12]}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path.relative_to(call.run.workspace))
