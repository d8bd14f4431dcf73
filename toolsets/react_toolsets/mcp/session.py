"""A connection to a server; its own task enters, holds and leaves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from react_toolsets.mcp.listing import Listing, live_listing
from react_toolsets.mcp.requests import Request, request_of_task
from react_toolsets.mcp.target import Local, Remote, Target
from react_toolsets.mcp.troubles import TOO_LARGE, LoginRequired, Lost, McpTrouble, not_a_message, too_large
from react_toolsets.mcp.words import Words, current, keep_quiet

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")
LAST_WORDS = 0.5
"""Seconds to wait for the reason why a connection broke."""
DOWNLOADERS = ("npx", "uvx", "bunx", "pipx")


@dataclass(eq=False)
class Session:
    """A connection, from the start of its server until either ends. Used on the host's loop.

    ``listing`` is what the server offers now, and ``version`` counts its changes. ``ended`` is set when the
    connection has ended, ``stopped`` if we ended it.
    """

    target: Target
    listing: Listing = field(default_factory=Listing)
    version: int = 0
    ended: bool = False
    stopped: bool = False
    failure: Exception | None = None
    client: Client = field(init=False)
    in_flight: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.words = Words(self.target.log, self.target.secrets)
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] = loop.create_future()
        self._keeper = loop.create_task(self._keep())
        self._helpers: set[asyncio.Task[None]] = set()
        self._noisy = False

    async def begin(self) -> None:
        """Wait until the server is ready.

        Raises:
            McpTrouble: The server does not start (``server_start``), or breaks the protocol (``server_protocol``).
            LoginRequired: The server needs a login.
        """
        import mcp  # noqa: F401  # the first import is slow, and does not count as the server's time

        try:
            await asyncio.wait_for(asyncio.shield(self._ready), self.target.start_timeout)
        except TimeoutError:
            await self.end()
            raise self._too_slow() from None

    async def end(self) -> None:
        """Stop the server, and wait until it has ended."""
        self.stopped = self.ended = True
        self._stop.set()
        if not self._ready.done():
            self._keeper.cancel()
        await asyncio.wait((self._keeper,))

    async def request(self, send: Callable[[Client], Awaitable[T]], request: Request) -> T:
        """Send ``request`` and return the answer, within its timeouts.

        Raises:
            Lost: The connection ended.
            McpTrouble: The server answered with an error, or the request timed out.
        """
        if self.ended:
            raise Lost(unsent=True)
        request.begin()
        self.in_flight.append(request)
        task = asyncio.ensure_future(self._sent(send, request))
        try:
            while not task.done():
                if (left := request.left) <= 0:
                    raise request.timed_out(self.target.name)
                await asyncio.wait((task,), timeout=left)
            return self._answer(task, request)
        finally:
            self.in_flight.remove(request)
            if not task.done():  # not awaited: the SDK tells the server, which may take long if it does not read
                task.cancel()
                task.add_done_callback(_forget)

    async def why_lost(self) -> Exception | None:
        """The error if a new connection would not help: a useless token, or a response that is too large."""
        if isinstance(self.target, Remote):
            await asyncio.wait((self._keeper,), timeout=LAST_WORDS)
        failure = self.failure
        is_final = isinstance(failure, LoginRequired) or (isinstance(failure, McpTrouble) and failure.code == TOO_LARGE)
        return failure if is_final else None

    def say(self, guard: str, detail: str) -> None:
        """Add a note to every run that waits for this server."""
        for note in dict.fromkeys(request.note for request in self.in_flight if request.note):
            note(guard, detail)

    async def _sent(self, send: Callable[[Client], Awaitable[T]], request: Request) -> T:
        request_of_task.set(request)
        return await send(self.client)

    def _answer(self, task: asyncio.Task[T], request: Request) -> T:
        from react_toolsets.mcp.complaints import complaint

        try:
            return task.result()
        except asyncio.CancelledError:  # the connection broke
            raise Lost(unsent=request.refused) from None
        except Exception as error:
            raise complaint(error, self.target.name, request) from error

    async def _keep(self) -> None:
        from react_toolsets.mcp.complaints import not_started

        current.set(self.words)
        try:
            async with AsyncExitStack() as stack:
                self.client = await self._connected(stack)
                self.listing = await live_listing(self.client)
                self._follow()
                if not self._ready.done():
                    self._ready.set_result(None)
                await self._stop.wait()
        except BaseException as error:  # the SDK cancels this task when the connection breaks
            self.failure = self.failure or not_started(error, self.target, self.words)
            if not self._ready.done():
                self._ready.set_exception(self.failure)
                self._ready.exception()  # marks it as retrieved, since no caller may be left
        finally:
            self.ended = True
            for helper in self._helpers:
                helper.cancel()

    async def _connected(self, stack: AsyncExitStack) -> Client:
        import mcp

        from react_toolsets.mcp.answering import callbacks, ourselves
        from react_toolsets.mcp.connecting import transport

        keep_quiet()
        client = mcp.Client(
            transport(self.target, self.words, self._ended, self._flooded),
            mode=self.target.protocol,
            cache=None,
            client_info=ourselves(),
            message_handler=self._on_message,
            **callbacks(self.target, self.in_flight),
        )
        return await stack.enter_async_context(client)

    def _ended(self) -> None:
        self.ended = True

    def _flooded(self) -> None:
        """End the connection after a message above the limit; it is unknown which request it answers."""
        self.failure = too_large(self.target.name, self.words.last())
        self.ended = True
        self._stop.set()
        if not self._ready.done():
            self._keeper.cancel()

    def _follow(self) -> None:
        """Subscribe to changes of the list; older servers announce them without being asked."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        tools = self.client.server_capabilities.tools
        if tools is not None and tools.list_changed and self.client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._help(self._listen())

    async def _listen(self) -> None:
        with suppress(Exception):  # the list is read again at the next connection
            async with self.client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    await self._refresh()

    async def _on_message(self, message: object) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._help(self._refresh())
        elif isinstance(message, Exception):
            self._noise(message)

    def _noise(self, error: Exception) -> None:
        """Log a line that is not a message, and note the first one in the runs."""
        line = self.words.masked(not_a_message(error))
        self.words.write(f"[not a message] {line}")
        if not self._noisy:
            self._noisy = True
            self.say("mcp_noise", f"{self.target.name} wrote a line that is not a message of the protocol: {line}")

    def _help(self, work: Any) -> None:
        helper = asyncio.ensure_future(work)
        self._helpers.add(helper)
        helper.add_done_callback(self._helpers.discard)

    async def _refresh(self) -> None:
        with suppress(Exception):  # as above
            self.listing = await live_listing(self.client)
            self.version += 1
            self.say("mcp_tools_changed", f"the MCP server {self.target.name} has changed its list of tools")

    def _too_slow(self) -> McpTrouble:
        text = f"the MCP server {self.target.name} was not ready within {self.target.start_timeout:g} seconds."
        if isinstance(self.target, Local) and (program := self.target.command[0].rpartition("/")[2]) in DOWNLOADERS:
            text += f" {program} downloads a server when it is first started: run it once by hand, or install it."
        return McpTrouble(f"{text} start_timeout: sets the limit.{self.words.last()}", code="server_start")


def _forget(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
