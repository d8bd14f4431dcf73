"""One request to a server: how long it may take, and who hears of it."""

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
"""Seconds between looks at the clock while somebody is asked."""


@dataclass(eq=False, repr=False, kw_only=True)
class Request:
    """One request on its way.

    Args:
        timeout: Seconds without progress after which it is given up.
        max_timeout: Seconds after which it is given up, whatever the progress.
        progress: Told of progress, from the thread of the host.
        note: Told of what the user should know, from the thread of the host.
        ask: Asks the user what the server wants to know; nobody is there without it.
        harmless: Whether it may be sent twice.
    """

    timeout: float
    max_timeout: float
    progress: Callable[[float, float | None, str | None], None] | None = None
    note: Callable[[str, str], None] | None = None
    ask: Callable[[ElicitRequestParams], Awaitable[ElicitResult]] | None = None
    harmless: bool = False
    refused: bool = False
    """Whether nobody was there to take it."""
    forgotten: bool = False
    """Whether the server does not know us any more."""
    too_large: bool = False
    """Whether the answer is larger than what is read."""
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
        """Seconds until somebody has to look again; nothing is left when it is to be given up."""
        return POLL if self._asking else self._until - time.monotonic()

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """What the SDK calls when the server reports progress."""
        self._heard()
        if self.progress is not None:
            self.progress(progress, total, message)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Time in here is a person's, not the server's."""
        began, self._asking = time.monotonic(), self._asking + 1
        try:
            yield
        finally:
            self._asking -= 1
            self._asked += time.monotonic() - began
            self._heard()

    def timed_out(self, name: str) -> McpTrouble:
        """What to say when nothing is left."""
        if time.monotonic() >= self._end:
            text = f"the MCP server {name} was given up after {self.max_timeout:g} seconds (max_timeout)"
        else:
            text = f"the MCP server {name} showed no progress for {self.timeout:g} seconds (timeout)"
        return McpTrouble(f"{text}; the call may have taken effect", code="timeout")

    @property
    def _end(self) -> float:
        return self._began + self.max_timeout + self._asked

    def _heard(self) -> None:
        self._until = min(time.monotonic() + self.timeout, self._end)


request_of_task: ContextVar[Request | None] = ContextVar("react_run_mcp_request", default=None)
"""The request that a task of the host is at work for; the SDK hands the context on to its own tasks."""
