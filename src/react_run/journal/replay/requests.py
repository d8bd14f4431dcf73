"""Rebuilds whole requests from the new messages and references in a journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from react_run.journal.values import Record, message_from_data
from react_run.messages import Message, MessageList, MessageView, content_with

if TYPE_CHECKING:
    from react_run.parts import Part


class RebuiltConversation:
    """The messages of each request of a run, rebuilt from its journal.

    Args:
        incoming: The earlier turns, in the order of the header.
        find: Loads the attachments that records refer to.
    """

    def __init__(self, incoming: Sequence[Message], find: Callable[[Record], Part]) -> None:
        self.incoming, self._find = incoming, find
        self.responses: dict[int, Message] = {}
        self.results: dict[tuple[int, int], str | Sequence[Mapping[str, object]]] = {}
        self._messages = MessageList()

    def note_result(self, place: tuple[int, int], record: Record) -> None:
        """Note the latest result of a call."""
        parts = [self._find(said) for said in record.get("parts", ())]
        self.results[place] = content_with(record["content"], parts)

    def follow(self, keep: int, new: Sequence[Record]) -> Sequence[Message]:
        """The messages of a request or footer.

        Raises:
            ValueError: It keeps more messages than there are.
        """
        if keep > len(self._messages):
            raise ValueError(f"{keep} messages cannot be kept of {len(self._messages)}")
        if keep < len(self._messages):
            self._messages = MessageList(self._messages[:keep])
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
        return message_from_data(data, self._find)
