"""Passes only complete lines to the SDK's reader of standard output.

With every chunk, that reader joins all chunks so far and searches them for the end of the line again, so the time for a
line grows with the square of its length: two minutes for 50 MB. The reader decodes with the encoding that it is given.
Ours is UTF-8 with a decoder that holds back the chunks of a line until the line is complete.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from contextvars import ContextVar

ENCODING = "react_run_whole_lines"
"""The name of the encoding."""
MAX_MESSAGE = 128 * 2**20
"""The most bytes of one message: a text of 50 MB, which some SDKs send twice, once as structured content."""
on_flood: ContextVar[Callable[[], None] | None] = ContextVar("react_run_mcp_on_flood", default=None)
"""Called once if a line exceeds `MAX_MESSAGE`; the decoder looks it up in the task that reads."""


class _WholeLines(codecs.IncrementalDecoder):
    """Decodes UTF-8 up to the last line end; drops everything after a line that is too long."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._tell = on_flood.get()
        self.reset()

    def reset(self) -> None:
        """Discard the buffered chunks."""
        self._parts: list[bytes] = []
        self._size = 0
        self._flooded = False

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]  # any buffer, says typeshed
        """The lines that ``data`` completes; with ``final``, all that is buffered."""
        if self._flooded:
            return ""
        lines, end, rest = data.rpartition(b"\n")
        done = [*self._parts, lines, end] if end else []
        if end:
            self._parts, self._size = [], 0
        self._parts.append(rest)
        self._size += len(rest)
        if final:
            done, self._parts = [*done, *self._parts], []
        elif self._size > MAX_MESSAGE:
            self._flooded, self._parts = True, []
            if self._tell is not None:
                self._tell()
        return b"".join(done).decode("utf-8", self.errors)


def _find(name: str) -> codecs.CodecInfo | None:
    if name != ENCODING:
        return None
    return codecs.CodecInfo(
        name=ENCODING, encode=codecs.utf_8_encode, decode=codecs.utf_8_decode, incrementaldecoder=_WholeLines
    )


codecs.register(_find)
