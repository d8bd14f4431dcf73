"""A request to a server: its timeouts and callbacks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from react_toolsets.mcp.troubles import McpTrouble

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

POLL = 0.5
"""Seconds between checks of the clock while the user is asked."""


@dataclass(eq=False, repr=False, kw_only=True)
class Request:
    """A request to a server.

    Args:
        timeout: Seconds without progress until it times out.
        max_timeout: Seconds until it times out despite progress.
        progress: Called with progress, on the host's thread.
        note: Called with notes for the user, on the host's thread.
        ask: Asks the user a question of the server; without it, questions are declined.
        harmless: Whether it may be sent twice.
    """

    timeout: float
    max_timeout: float
    progress: Callable[[float, float | None, str | None], None] | None = None
    note: Callable[[str, str], None] | None = None
    ask: Callable[[ElicitRequestParams], Awaitable[ElicitResult]] | None = None
    harmless: bool = False
    refused: bool = False
    """Whether the server certainly did not accept it."""
    forgotten: bool = False
    """Whether the server no longer knows the session."""
    too_large: bool = False
    """Whether the response exceeds the limit."""
    _began: float = 0.0
    _until: float = 0.0
    _asking: int = 0
    _asked: float = 0.0

    def begin(self) -> None:
        """Start the clock."""
        self._began, self._asked = time.monotonic(), 0.0
        self.refused = self.forgotten = self.too_large = False
        self._heard()

    @property
    def left(self) -> float:
        """Seconds until the caller has to check again; 0 or less once it has timed out."""
        return POLL if self._asking else self._until - time.monotonic()

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Called by the SDK when the server reports progress."""
        self._heard()
        if self.progress is not None:
            self.progress(progress, total, message)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A context whose time does not count towards the timeouts, because a person is asked."""
        began, self._asking = time.monotonic(), self._asking + 1
        try:
            yield
        finally:
            self._asking -= 1
            self._asked += time.monotonic() - began
            self._heard()

    def timed_out(self, name: str) -> McpTrouble:
        """The error for a request that timed out."""
        if time.monotonic() >= self._end:
            text = f"the MCP server {name} did not finish within {self.max_timeout:g} seconds (max_timeout)"
        else:
            text = f"the MCP server {name} showed no progress for {self.timeout:g} seconds (timeout)"
        return McpTrouble(f"{text}; the call may have taken effect", code="timeout")

    @property
    def _end(self) -> float:
        return self._began + self.max_timeout + self._asked

    def _heard(self) -> None:
        self._until = min(time.monotonic() + self.timeout, self._end)


request_of_task: ContextVar[Request | None] = ContextVar("react_run_mcp_request", default=None)
"""The request that the current task of the host works for; the SDK passes the context on to its own tasks."""
