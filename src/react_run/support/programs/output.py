"""Captures the output of a program: head and tail, up to a limit."""

from __future__ import annotations

import asyncio
import os


class Output:
    """Captured bytes of a pipe.

    Args:
        ceiling: How many to keep.
        tail: How many of these from the end.
    """

    def __init__(self, ceiling: int, tail: int = 0) -> None:
        self._room, self._tail = ceiling - tail, tail
        self._head, self._end = bytearray(), bytearray()
        self.dropped = 0

    async def read(self, descriptor: int) -> None:
        """Read the pipe to its end, and close it."""
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(descriptor, "rb", buffering=0)
        )
        try:
            while chunk := await stream.read(65536):
                self._add(chunk)
        finally:
            transport.close()

    def _add(self, chunk: bytes) -> None:
        room = self._room - len(self._head)
        self._head += chunk[:room]
        self._end += chunk[max(0, room) :]
        if (over := len(self._end) - self._tail) > 0:
            self.dropped += over
            del self._end[:over]

    def text(self) -> str:
        """The captured output, with a note if something is missing in the middle."""
        head, end = (part.decode("utf-8", "replace") for part in (self._head, self._end))
        return f"{head}\n[… {self.dropped:,} bytes left out …]\n{end}" if end and self.dropped else head + end
