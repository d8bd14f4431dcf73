"""Writes a server's standard error, and the SDK's log records about it, to a file instead of the terminal."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

MAX_LOG = 1024 * 1024
"""The most bytes of a log file; a full one is kept as ``….log.1``, replacing the previous one."""
MAX_LINE = 8 * 1024
LAST = 3
"""How many last lines error messages repeat."""
current: ContextVar[Words | None] = ContextVar("react_run_mcp_words", default=None)
"""Where the SDK's log records go, in the tasks of a connection."""


class Words:
    """The log of one server.

    Args:
        path: The log file; its directory is created when there is something to write.
        secrets: Values to mask.
    """

    def __init__(self, path: Path, secrets: Iterable[str]) -> None:
        self.path = path
        self._secrets = sorted((secret for secret in secrets if len(secret) > 3), key=len, reverse=True)
        self._last: deque[str] = deque(maxlen=LAST)
        self._part = b""

    def last(self) -> str:
        """The last lines as one text to append to an error; empty if there are none."""
        return f" It wrote: {' / '.join(self._last)}" if self._last else ""

    def pipe(self, loop: asyncio.AbstractEventLoop) -> TextIO:
        """A file that a program can write to; the caller closes it once the program has inherited it."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        loop.add_reader(reading, self._read, loop, reading)
        return os.fdopen(writing, "w")

    def masked(self, line: str) -> str:
        """``line`` without secrets."""
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return line

    def write(self, line: str) -> None:
        """Add a line to the log; write errors are ignored."""
        line = self.masked(line)
        with suppress(OSError):
            if self.path.exists() and self.path.stat().st_size + len(line) > MAX_LOG:
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", errors="replace") as log:
                log.write(f"{line}\n")

    def _read(self, loop: asyncio.AbstractEventLoop, reading: int) -> None:
        try:
            data = os.read(reading, 64 * 1024)
        except BlockingIOError:
            return
        *lines, self._part = (self._part + data).split(b"\n")
        if len(self._part) > MAX_LINE or not data:
            lines, self._part = [*lines, self._part], b""
        for line in lines:
            self._said(line[:MAX_LINE].decode("utf-8", "replace").rstrip())
        if not data:
            loop.remove_reader(reading)
            os.close(reading)

    def _said(self, line: str) -> None:
        if line:
            line = self.masked(line)
            self._last.append(line[:300])
            self.write(line)


class _ToFile(logging.Filter):
    """Sends log records about one of our servers to its log file only."""

    def filter(self, record: logging.LogRecord) -> bool:
        words = current.get()
        if words is None:
            return True
        if record.levelno >= logging.WARNING:
            words.write(f"[{record.name}] {record.levelname}: {record.getMessage()}")
        return False


_filter = _ToFile()


def keep_quiet() -> None:
    """Redirect the SDK's loggers to the logs of servers; call it after importing the SDK."""
    for name in list(logging.root.manager.loggerDict):
        if name == "client" or name.partition(".")[0] in ("mcp", "mcp_types", "httpx2", "httpcore2"):
            logging.getLogger(name).addFilter(_filter)
