"""The server process: the listener, signals, and a clean shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn

from react_run.errors import ConfigError
from react_run.serve.app import application
from react_run.serve.protection import Gate

if TYPE_CHECKING:
    from react_run.serve.options import ServeOptions
    from react_run.serve.service import Service

_BACKLOG = 2_048
_LAST_WORDS = 1.0
"""The most seconds that responses in flight may take once everything else has ended."""


def listener(options: ServeOptions) -> socket.socket:
    """Bind the port before anything else happens.

    Raises:
        ConfigError: The port cannot be bound.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ConfigError(f"--host {options.host}: {error.strerror or error}") from error
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        found.close()
        text = f"cannot listen on {options.host}:{options.port}: {error.strerror or error}"
        raise ConfigError(f"{text}; --port 0 takes any free port") from error
    return found


def address_of(found: socket.socket) -> str:
    """The listener's address as a URL."""
    host, port = found.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us: uvicorn would close the listener at once, and readiness checks would fail to connect."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Server:
    """Serves until a signal stops it.

    Args:
        service: The server without HTTP.
        found: The listening socket.
        say: Prints a line at the terminal.
    """

    def __init__(self, service: Service, found: socket.socket, say: Callable[[str], None]) -> None:
        self.service, self.socket, self.say = service, found, say
        self.gate = Gate(service.options)
        config = uvicorn.Config(
            application(service, self.gate),
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            lifespan="off",
            backlog=_BACKLOG,
            timeout_graceful_shutdown=int(_LAST_WORDS),
            ws="none",
            h11_max_incomplete_event_size=65_536,
        )
        self._uvicorn = _Uvicorn(config)
        self._signals = 0
        self._draining: asyncio.Task[None] | None = None

    async def run(self, ready: Callable[[], None]) -> int:
        """Serve until stopped, and return the exit status.

        Args:
            ready: Called once the server accepts requests.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.end)
        if hasattr(signal, "SIGHUP"):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(signal.SIGHUP, self.reload)
        try:
            for line in await self.service.begin():
                self.say(line)
            self.socket.listen(_BACKLOG)
            ready()
            await self._uvicorn.serve(sockets=[self.socket])
            return 0
        finally:
            if self._draining is not None:
                await asyncio.wait((self._draining,))
            await self.service.end()

    def end(self) -> None:
        """Shut down gracefully; the second call shuts down at once."""
        self._signals += 1
        if self._signals == 1:
            self._draining = asyncio.ensure_future(self._drain(self.service.options.grace))
        else:
            self.service.jobs.draining = True
            for job in list(self.service.jobs.live.values()):
                job.cancel("drained", "the server was stopped")
            self._uvicorn.should_exit = self._uvicorn.force_exit = True

    async def _drain(self, seconds: float) -> None:
        count = len(self.service.jobs.live)
        if count:
            self.say(
                f"stopping: {count} run{'' if count == 1 else 's'} may continue for {seconds:g} s "
                "(interrupt again to stop now)"
            )
        self.service.approvals.changed.fire()
        for job in self.service.jobs.live.values():
            job.recorded.fire()
        for run_id in await self.service.jobs.drain(seconds):
            self.say(f"run {run_id} was interrupted; continue it with react-run resume {run_id[:12]}")
        self._uvicorn.should_exit = True

    def reload(self) -> None:
        """Reload the agent files."""
        self.service.jobs.spawn(self._reload())

    async def _reload(self) -> None:
        for line in await self.service.agents.reload():
            self.say(line)
