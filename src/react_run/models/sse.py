"""Parses server-sent events: bytes in, the data of complete events out, wherever the chunks were cut."""

from __future__ import annotations

from codecs import BOM_UTF8

LONGEST_EVENT = 32 * 2**20
"""Maximum bytes of a single event."""


class EventTooLarge(Exception):
    """A single event exceeds :data:`LONGEST_EVENT`."""


class EventDecoder:
    """Splits a byte stream into events. Comments and fields other than ``data`` are skipped."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        """The pieces of an unfinished line; they are joined once, at its end."""
        self._data: list[bytes] = []
        self._length = self._data_length = 0
        """Bytes of both, and of what has ended."""
        self._begun = self._may_be_half = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that ``chunk`` completes.

        Raises:
            EventTooLarge: The current event is too long.
        """
        if not self._begun:
            chunk = b"".join([*self._rest, chunk])
            if BOM_UTF8.startswith(chunk) and chunk != BOM_UTF8:  # the first bytes of a byte order mark, or nothing yet
                self._rest = [chunk]
                return []
            chunk, self._rest, self._begun = chunk.removeprefix(BOM_UTF8), [], True
        begun, *ended = self._with_plain_ends(chunk).split(b"\n")
        self._rest.append(begun)
        self._length += len(begun)
        events: list[bytes] = []
        if ended:
            *lines, last = b"".join(self._rest), *ended
            for line in lines:
                self._take(line, events)
            self._rest, self._length = [last], len(last) + self._data_length
        if self._length > LONGEST_EVENT:
            raise EventTooLarge
        return events

    def _with_plain_ends(self, chunk: bytes) -> bytes:
        """``chunk`` with ``\\n`` as the only line end; a carriage return at its end waits for what comes next."""
        if self._may_be_half:
            chunk = b"\r" + chunk
        self._may_be_half = chunk.endswith(b"\r")
        if self._may_be_half:
            chunk = chunk[:-1]
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if not line:
            self._dispatch(events)
        elif line.startswith(b"data:"):
            self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            self._data_length += len(line)

    def finish(self) -> list[bytes]:
        """The rest at the end of the stream, for servers that omit the last blank line."""
        events = self.feed(b"\n\n")
        self._rest = []
        return events

    def _dispatch(self, events: list[bytes]) -> None:
        if self._data:
            events.append(b"\n".join(self._data))
            self._data, self._data_length = [], 0
