"""Estimates how full the model's context is, looking at each message once (behaviour S7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from react_run.messages import Message, ModelRequest
from react_run.support.preview import size_of
from react_run.tools.tool import Tool

BYTES_PER_TOKEN = 4
PER_FILE = 6_000
"""The size of an image or a PDF page, as the equivalent number of bytes of text."""
PER_MESSAGE = 16
"""Bytes of overhead per message."""


_NO_IDS: frozenset[str] = frozenset()


class MovedOut:
    """The results that compaction removed from the conversation of a run, by request id, and how often it ran."""

    __slots__ = ("ids", "times")

    def __init__(self) -> None:
        self.times = 0
        self.ids = _NO_IDS

    def compare(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Note which results of ``before`` are missing or changed in ``after``."""
        left = {message.tool_request_id: message.content for message in after if message.role == "tool"}
        self.ids |= {
            message.tool_request_id
            for message in before
            if message.tool_request_id is not None and left.get(message.tool_request_id) != message.content
        }
        self.times += 1


class Gauge:
    """The estimated size of a run's requests in tokens, corrected by the provider's latest count."""

    __slots__ = ("_bytes", "_counted", "_raw", "_tool_bytes", "_tools", "busy", "factor", "own")

    def __init__(self) -> None:
        self.own = -1
        """How many messages the run started with; -1 until its first request."""
        self.busy = False
        """Whether a summary is being asked for."""
        self.factor = 1.0
        self._counted = 0
        self._bytes = 0
        self._tools: tuple[Tool, ...] = ()
        self._tool_bytes = 0
        self._raw = 0.0

    def measure(self, request: ModelRequest) -> float:
        """The estimated size of ``request`` in tokens."""
        if request.tools is not self._tools:
            self._tools = request.tools
            self._tool_bytes = sum(tool.size for tool in request.tools)
        if len(request.messages) < self._counted:
            self.reset()
        self._bytes += sum(map(bytes_of, islice(request.messages, self._counted, None)))
        self._counted = len(request.messages)
        self._raw = (self._bytes + self._tool_bytes) / BYTES_PER_TOKEN
        return self._raw * self.factor

    def correct(self, counted: int | None) -> None:
        """Correct the estimate with the provider's token count for the request measured last."""
        if counted and self._raw:
            self.factor = min(4.0, max(0.5, counted / self._raw))

    def reset(self) -> None:
        """Start counting again, because the conversation was replaced."""
        self._counted = self._bytes = 0


def bytes_of(message: Message) -> int:
    """The size of ``message`` in bytes, calls included."""
    size = size_of(message.text) + PER_MESSAGE
    if not isinstance(message.content, str):
        size += PER_FILE * sum(part.get("type") != "text" for part in message.content)
    for request in message.tool_requests:
        size += len(request.name) + len(str(request.arguments)) + PER_MESSAGE
    return size


def size_in_bytes(messages: Sequence[Message]) -> int:
    """The size of ``messages`` in bytes."""
    return sum(map(bytes_of, messages))
