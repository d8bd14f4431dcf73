"""The conversation of a run in reverse: whole requests from what is new in each, and from references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from react_run.journal.values import Record, message_from_data
from react_run.messages import Message, MessageList, MessageView, content_with

if TYPE_CHECKING:
    from react_run.parts import Part


class Rebuilt:
    """The messages of each request of a run, from what its journal has of them.

    Args:
        incoming: The earlier turns, as the header lists them.
        find: Finds the attachments that records refer to.
    """

    def __init__(self, incoming: Sequence[Message], find: Callable[[Record], Part]) -> None:
        self.incoming, self._find = incoming, find
        self.responses: dict[int, Message] = {}
        self.results: dict[tuple[int, int], str | Sequence[Mapping[str, object]]] = {}
        self._messages = MessageList()

    def note_result(self, place: tuple[int, int], record: Record) -> None:
        """Remember the latest result of a call."""
        parts = [self._find(said) for said in record.get("parts", ())]
        self.results[place] = content_with(record["content"], parts)

    def follow(self, keep: int, new: Sequence[Record]) -> Sequence[Message]:
        """The messages of a request or footer.

        Raises:
            ValueError: There were not as many messages as it keeps.
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
