"""A server and its successive connections: it is started on demand, and restarted if it has died."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakSet

from react_toolsets.mcp.listing import Listing
from react_toolsets.mcp.requests import Request
from react_toolsets.mcp.session import Session
from react_toolsets.mcp.target import Target
from react_toolsets.mcp.troubles import Lost, McpTrouble

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

    from react_run import Run
    from react_toolsets.mcp.source import Source

T = TypeVar("T")
LOSSES, WITHIN = 3, 60.0
"""A server is unstable after this many lost connections within this many seconds."""


@dataclass(eq=False)
class Server:
    """The one server for a target, shared by everything in the process that names it. Used on the host's loop."""

    target: Target
    holders: WeakSet[Any] = field(default_factory=WeakSet)
    """The toolsets that use it; changed only by the host."""
    _session: Session | None = None
    _starting: asyncio.Task[Session] | None = None
    _losses: deque[float] = field(default_factory=lambda: deque(maxlen=LOSSES))
    _burials: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def is_running(self) -> bool:
        """Whether it is connected now."""
        return self._session is not None and not self._session.ended

    async def listing(self) -> Listing:
        """What the server offers now; starts it if necessary.

        Raises:
            McpTrouble, LoginRequired: The server cannot be started.
        """
        return (await self._connected()).listing

    async def request(
        self,
        send: Callable[[Client], Awaitable[T]],
        request: Request,
        permit: Callable[[Session], None] = lambda _: None,
    ) -> T:
        """Send a request and return the answer, reconnecting if the connection was lost.

        A request that may have taken effect is not sent again, unless it is harmless.

        Args:
            send: Sends the request with a connected client.
            request: The timeouts and callbacks.
            permit: Checks the connection first; its exception is raised.

        Raises:
            McpTrouble, LoginRequired: There is no answer, or it is an error.
        """
        for last in (False, True):
            session = await self._connected()
            permit(session)
            try:
                return await session.request(send, request)
            except Lost as lost:
                if reason := await session.why_lost():
                    raise reason from None
                self._count_loss(session)
                if last or not (lost.unsent or request.harmless):
                    raise McpTrouble(self._gone(session), code="server_gone") from None
        raise AssertionError("unreachable")

    async def stop(self) -> None:
        """Stop it; the next request starts it again."""
        starting, session = self._starting, self._session
        self._session = self._starting = None
        if starting is not None and not starting.done():
            starting.cancel()
            await asyncio.wait((starting,))
        if session is not None:
            await session.end()
        if self._burials:
            await asyncio.wait(set(self._burials))

    async def _connected(self) -> Session:
        if self._session is not None and not self._session.ended:
            return self._session
        if self._session is not None and not self._session.stopped:
            self._count_loss(self._session)
        self._session = None
        if len(self._losses) == LOSSES and time.monotonic() - self._losses[0] < WITHIN:
            raise McpTrouble(
                f"the connection to the MCP server {self.target.name} was lost {LOSSES} times within {WITHIN:g} "
                "seconds: it is no longer used",
                code="server_unstable",
            )
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._started)
        return await asyncio.shield(self._starting)  # callers share the task, so a cancelled one must not stop it

    async def _start(self) -> Session:
        session = Session(self.target)
        try:
            await session.begin()
        except BaseException:
            await session.end()
            raise
        self._session = session
        return session

    def _started(self, task: asyncio.Task[Session]) -> None:
        if self._starting is task:
            self._starting = None
        if not task.cancelled():
            task.exception()  # marks it as retrieved, since no caller may be left

    def _count_loss(self, session: Session) -> None:
        if session.stopped:  # by us, or already counted
            return
        session.stopped = session.ended = True
        self._losses.append(time.monotonic())
        burial = asyncio.ensure_future(session.end())
        self._burials.add(burial)
        burial.add_done_callback(self._burials.discard)

    def _gone(self, session: Session) -> str:
        return (
            f"the connection to the MCP server {self.target.name} was lost during the call, which may have taken "
            f"effect: check before you retry.{session.words.last()}"
        )


class ServerHolder(Protocol):
    """The user of servers: what callers and inspections need to know of the toolset."""

    @property
    def agent_file(self) -> Path:
        """The agent file that names the servers, for messages."""

    @property
    def sources(self) -> list[Source]:
        """The servers, in order."""

    @property
    def timeout(self) -> float:
        """Seconds that a request may take without progress."""

    @property
    def max_timeout(self) -> float:
        """Seconds that a request may take in total."""

    def server(self, source: Source, run: Run) -> Server:
        """The server for ``run``."""

    def hold(self, target: Target) -> Server:
        """The server at ``target``; does not start it."""

    async def close(self) -> None:
        """Stop the servers that have no other user."""
