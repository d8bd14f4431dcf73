"""The event loop for all servers of the process, in its own thread.

Runs come and go with their own event loops, so a connection cannot belong to one of them. Also, when a connection
breaks, the SDK cancels the task that entered it, which a run would take for its own cancellation
(docs/decisions, "Sessions live on a loop of their own").
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from react_toolsets.mcp.server import Server
from react_toolsets.mcp.target import Target

T = TypeVar("T")
END_SECONDS = 10.0
"""Seconds that servers have to stop when the process exits."""


class Host:
    """One thread with one event loop, and the servers on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.servers: dict[Target, Server] = {}
        self._changing = threading.Lock()
        threading.Thread(target=self.loop.run_forever, name="react-run-mcp", daemon=True).start()
        atexit.register(self._end)

    def hold(self, target: Target, holder: object) -> Server:
        """The server at ``target``, now held by ``holder``; does not start it."""
        with self._changing:
            server = self.servers.setdefault(target, Server(target))
            server.holders.add(holder)
            return server

    async def release(self, targets: Iterable[Target], holder: object) -> None:
        """Stop those of ``targets`` that only ``holder`` holds, concurrently."""
        with self._changing:
            servers = [self.servers[target] for target in targets if target in self.servers]
            for server in servers:
                server.holders.discard(holder)
            free = [server for server in servers if not server.holders]
            for server in free:
                del self.servers[server.target]
        if free:
            await self.do(_stop(free))

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the host's loop; cancelling the caller cancels the work."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def do_now(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the host's loop and block until it is done."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end(self) -> None:
        if self.pid != os.getpid():  # a forked process has the object, but not the thread
            return
        future = asyncio.run_coroutine_threadsafe(_stop(list(self.servers.values())), self.loop)
        with suppress(Exception):
            future.result(END_SECONDS)


async def _stop(servers: list[Server]) -> None:
    await asyncio.gather(*(server.stop() for server in servers), return_exceptions=True)


_host: Host | None = None
_making = threading.Lock()


def the_host() -> Host:
    """The host of this process, created when it is first needed."""
    global _host
    with _making:
        if _host is None or _host.pid != os.getpid():
            _host = Host()
        return _host


def host_if_any() -> Host | None:
    """The host of this process, if it has been created."""
    return _host if _host is not None and _host.pid == os.getpid() else None
