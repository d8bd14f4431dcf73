"""The conversation of a run in reverse: whole requests from what is new in each, and from references."""

from __future__ import annotations

from collections.abc import Sequence

from react_run.journal.values import Record, message_from_data
from react_run.messages import Message, MessageView


class Rebuilt:
    """The messages of each request of a run, from what its journal has of them.

    Args:
        incoming: The earlier turns, as the header lists them.
    """

    def __init__(self, incoming: Sequence[Message]) -> None:
        self.incoming = incoming
        self.responses: dict[int, Message] = {}
        self.results: dict[tuple[int, int], str] = {}
        self._messages: list[Message] = []

    def follow(self, keep: int, new: Sequence[Record]) -> Sequence[Message]:
        """The messages of a request or footer."""
        if keep < len(self._messages):
            self._messages = self._messages[:keep]
        self._messages += map(self._read, new)
        return MessageView(self._messages)

    def _read(self, data: Record) -> Message:
        if "incoming" in data:
            return self.incoming[data["incoming"]]
        if "response" in data:
            return self.responses[data["response"]]
        if "result_of" in data:
            iteration, position = data["result_of"]
            return Message(
                role="tool", content=self.results[iteration, position], tool_request_id=data["tool_request_id"]
            )
        return message_from_data(data)
