"""The SDK's transports for our targets. This module imports the SDK, so only the host's thread may import it."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import anyio
from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from react_toolsets.mcp import lines
from react_toolsets.mcp.http_client import CONNECT_SECONDS, http_client
from react_toolsets.mcp.stragglers import MARK, end_stragglers, watch
from react_toolsets.mcp.target import Local, Remote, Target
from react_toolsets.mcp.troubles import McpTrouble
from react_toolsets.mcp.words import Words

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage


@asynccontextmanager
async def transport(
    target: Target, words: Words, ended: Callable[[], None], flooded: Callable[[], None]
) -> AsyncIterator[TransportStreams]:
    """Connect to ``target``.

    Args:
        target: The server to connect to.
        words: Gets the server's standard error.
        ended: Called as soon as the other side closes the connection.
        flooded: Called when a local server sends a message that is too large; nothing after it is read.
    """
    lines.on_flood.set(flooded)
    async with _opened(target, words) as (incoming, outgoing):
        yield _Watched(incoming, ended), outgoing


def _opened(target: Target, words: Words) -> AbstractAsyncContextManager[TransportStreams]:
    if isinstance(target, Local):
        return _local(target, words)
    assert isinstance(target, Remote)
    return _remote(target)


@asynccontextmanager
async def _local(target: Local, words: Words) -> AsyncIterator[TransportStreams]:
    with tempfile.TemporaryDirectory(prefix="react-run-mcp-", ignore_cleanup_errors=True) as temporary:
        own = os.path.realpath(temporary)  # noqa: ASYNC240  # the directory was just created
        launcher = _launcher(target, own)
        command = [*launcher, *target.command]
        mark = uuid4().hex
        await watch(mark)
        home = {"TMPDIR": own, "HOME": own} if launcher else {}
        environment = {**home, **dict(target.environment), MARK: mark}
        parameters = StdioServerParameters(
            command=command[0],
            args=command[1:],
            env=environment,
            cwd=target.cwd,
            encoding=lines.ENCODING,
            encoding_error_handler="replace",
        )
        errors = words.pipe(asyncio.get_running_loop())
        try:
            async with stdio_client(parameters, errlog=errors) as streams:
                errors.close()  # only the program holds it now, so reading ends when the program does
                yield streams
        finally:
            errors.close()
            await end_stragglers(mark)


def _launcher(target: Local, temporary: str) -> list[str]:
    if not target.sandbox:
        return []
    confinement = target.confinement()
    if target.sandbox == "required" and confinement.gaps:
        raise McpTrouble(
            f"the MCP server {target.name} is not started: sandbox is required, but programs could "
            f"{'; '.join(confinement.gaps)}",
            code="server_start",
        )
    return confinement.launcher(Path(temporary))


@asynccontextmanager
async def _remote(target: Remote) -> AsyncIterator[TransportStreams]:
    headers = dict(target.headers)
    auth = None
    if target.login:
        from react_toolsets.mcp.oauth import provider

        auth = provider(target.login, target.name, target.url)
    if target.transport == "sse":
        async with sse_client(
            target.url, headers=headers, timeout=CONNECT_SECONDS, httpx_client_factory=http_client, auth=auth
        ) as streams:
            yield streams
        return
    async with (
        http_client(headers, auth=auth) as client,
        streamable_http_client(target.url, http_client=client, max_sse_event_size=lines.MAX_MESSAGE) as streams,
    ):
        yield streams


class _Watched:
    """The stream from a server; calls ``ended`` when the stream ends."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], ended: Callable[[], None]) -> None:
        self._inner = inner
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self._inner.__anext__()
        except (StopAsyncIteration, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended()
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)
