"""How full the model's context is: an estimate that looks at each message once (behaviour S7)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

from react_run.messages import Message, ModelRequest
from react_run.support.preview import size_of
from react_run.tools.tool import Tool

BYTES_PER_TOKEN = 4
PER_FILE = 6_000
"""Bytes of text that an image, or a page of a PDF, takes as much room as."""
PER_MESSAGE = 16
"""Bytes that a message takes beside its text."""


class MovedOut:
    """The results of one run that compaction took out of the conversation, by request id, and how often it did so."""

    def __init__(self) -> None:
        self.times = 0
        self.ids: set[str] = set()

    def compare(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Note which results of ``before`` are no longer in ``after`` as they were."""
        left = {message.tool_request_id: message.content for message in after if message.role == "tool"}
        self.ids.update(
            message.tool_request_id
            for message in before
            if message.tool_request_id is not None and left.get(message.tool_request_id) != message.content
        )
        self.times += 1


class Gauge:
    """The size of one run's requests, in tokens, corrected by what the provider counted last."""

    def __init__(self) -> None:
        self.own = -1
        """How many messages the run began with; -1 until its first request."""
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
            self._tool_bytes = sum(len(json.dumps(tool.wire)) for tool in request.tools)
        if len(request.messages) < self._counted:
            self.reset()
        self._bytes += sum(map(bytes_of, islice(request.messages, self._counted, None)))
        self._counted = len(request.messages)
        self._raw = (self._bytes + self._tool_bytes) / BYTES_PER_TOKEN
        return self._raw * self.factor

    def correct(self, counted: int | None) -> None:
        """Learn from the tokens that the provider counted for the request measured last."""
        if counted and self._raw:
            self.factor = min(4.0, max(0.5, counted / self._raw))

    def reset(self) -> None:
        """Start counting anew: the conversation was replaced."""
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
