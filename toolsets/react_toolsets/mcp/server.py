"""A server with all its connections, one after the other: it starts when it is needed, and again when it has died."""

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
"""How many lost connections within how many seconds are too many."""


@dataclass(eq=False)
class Server:
    """What everybody in the process shares who names the same target. It lives on the loop of the host."""

    target: Target
    holders: WeakSet[Any] = field(default_factory=WeakSet)
    """The toolsets that use it; only the host changes them."""
    _session: Session | None = None
    _starting: asyncio.Task[Session] | None = None
    _losses: deque[float] = field(default_factory=lambda: deque(maxlen=LOSSES))
    _burials: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def is_running(self) -> bool:
        """Whether it is connected now."""
        return self._session is not None and not self._session.ended

    async def listing(self) -> Listing:
        """What it offers now; starts it when need be.

        Raises:
            McpTrouble, LoginRequired: It cannot be started.
        """
        return (await self._connected()).listing

    async def request(
        self,
        send: Callable[[Client], Awaitable[T]],
        request: Request,
        permit: Callable[[Session], None] = lambda _: None,
    ) -> T:
        """Have ``request`` answered, over a new connection when the old one is gone.

        What may have taken effect is not sent again, unless the request is harmless.

        Args:
            send: Makes the request of a connected client.
            request: Its deadlines, and who hears of it.
            permit: Looks at the connection first; what it raises is the answer.

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
                "seconds: it is not used any more",
                code="server_unstable",
            )
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._started)
        return await asyncio.shield(self._starting)  # those who wait for it share it: one that leaves stops nothing

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
            task.exception()  # whoever waited for it may be gone

    def _count_loss(self, session: Session) -> None:
        if session.stopped:  # by us, or counted before
            return
        session.stopped = session.ended = True
        self._losses.append(time.monotonic())
        burial = asyncio.ensure_future(session.end())
        self._burials.add(burial)
        burial.add_done_callback(self._burials.discard)

    def _gone(self, session: Session) -> str:
        return (
            f"the connection to the MCP server {self.target.name} was lost during the call, which may have taken "
            f"effect: look before you repeat it.{session.words.last()}"
        )


class ServerHolder(Protocol):
    """Who uses servers: a toolset, in the eyes of what calls and inspects them for it."""

    @property
    def agent_file(self) -> Path:
        """The agent file that names the servers, for messages."""

    @property
    def sources(self) -> list[Source]:
        """The servers, in order."""

    @property
    def timeout(self) -> float:
        """Seconds a request may take without a sign of progress."""

    @property
    def max_timeout(self) -> float:
        """Seconds a request may take in all."""

    def server(self, source: Source, run: Run) -> Server:
        """The server for ``run``."""

    def hold(self, target: Target) -> Server:
        """The server at ``target``; nothing is started yet."""

    async def close(self) -> None:
        """Stop the servers that nobody else uses."""
