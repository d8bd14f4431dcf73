"""Server-sent events: bytes in, the data of whole events out, wherever the chunks were cut."""

from __future__ import annotations

from codecs import BOM_UTF8

LONGEST_EVENT = 32 * 2**20
"""Bytes: a stream whose single event is larger than this is broken."""


class EventTooLarge(Exception):
    """A single event exceeds :data:`LONGEST_EVENT`."""


class EventDecoder:
    """Splits a byte stream into events. Comments and fields other than ``data`` are skipped."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that ``chunk`` completes.

        Raises:
            EventTooLarge: The event under way has become too long.
        """
        buffer = self._rest + chunk if self._rest else chunk
        if not self._begun:
            if BOM_UTF8.startswith(buffer) and buffer != BOM_UTF8:  # the first bytes of a mark, or nothing yet
                self._rest = buffer
                return []
            buffer, self._begun = buffer.removeprefix(BOM_UTF8), True
        if b"\r" in buffer:
            # A carriage return at the very end may be the first half of a line end.
            held = b"\r" if buffer.endswith(b"\r") else b""
            body = buffer[:-1] if held else buffer
            buffer = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._rest = buffer.split(b"\n")
        if len(self._rest) + sum(map(len, self._data)) > LONGEST_EVENT:
            raise EventTooLarge
        events: list[bytes] = []
        for line in lines:
            if not line:
                self._dispatch(events)
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        return events

    def finish(self) -> list[bytes]:
        """What is left at the end of the stream, for servers that leave out the last blank line."""
        events = self.feed(b"\n\n")
        self._rest = b""
        return events

    def _dispatch(self, events: list[bytes]) -> None:
        if self._data:
            events.append(b"\n".join(self._data))
            self._data = []
