"""Writes the conversation of a run: only new messages, and a digest of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from react_run.journal.lines import as_bytes, encoded
from react_run.journal.values import Record, message_to_data
from react_run.messages import Message, MessageView

if TYPE_CHECKING:
    from react_run.journal.writer import JournalWriter

Content = str | Sequence[Mapping[str, object]]


class Conversation:
    """Tracks the messages of a run from request to request.

    A message that the journal already contains is written as a reference: ``{"incoming": index}``, ``{"response":
    call}``, or a tool message with ``"result_of": [iteration, position]`` instead of its content.

    Args:
        incoming: The earlier turns, in the order of the header.
    """

    def __init__(self, incoming: Sequence[Message] = ()) -> None:
        self._messages: list[Message] = []
        self._digests: list[bytes] = []
        self._view: Sequence[Message] = ()
        self._known: dict[int, Record] = {id(message): {"incoming": n} for n, message in enumerate(incoming)}
        self._incoming = incoming  # held, because the keys above are their ids
        self._responses: dict[int, Message] = {}
        self._results: dict[str, tuple[Content, list[int]]] = {}

    def answered(self, call: int, message: Message) -> None:
        """Note the reply that was recorded for model call ``call``."""
        self._known[id(message)] = {"response": call}
        self._responses[call] = message  # held, as above

    def observed(self, request_id: str, iteration: int, position: int, content: Content) -> None:
        """Note the content that was last recorded as the result of a call."""
        self._results[request_id] = (content, [iteration, position])

    def follow(self, messages: Sequence[Message], writer: JournalWriter) -> Record:
        """The difference to the previous messages: how many are kept, and which follow."""
        keep = self._kept(messages)
        if keep < len(self._messages):
            del self._messages[keep:], self._digests[keep:]
        written = []
        for message in messages[keep:]:
            self._messages.append(message)
            self._digests.append(self._digest(message, writer))
            written.append(self._written(message, writer))
        self._view = messages
        return {"keep": keep, "messages": written}

    @property
    def digest(self) -> str:
        """The digest of the current messages, with secrets masked."""
        return self._digests[-1].hex() if self._digests else ""

    def _kept(self, messages: Sequence[Message]) -> int:
        """How many of the previous messages ``messages`` begins with."""
        if isinstance(messages, MessageView) and messages.extends(self._view):
            return len(self._messages)
        keep = 0
        for before, now in zip(self._messages, messages, strict=False):
            if before is not now:
                break
            keep += 1
        return keep

    def _digest(self, message: Message, writer: JournalWriter) -> bytes:
        _, text = encoded(message_to_data(message, writer.refer), writer.masker)
        for run_id, name in writer.run_ids.items():
            text = text.replace(run_id, name)
        data = as_bytes(text)
        return sha256(self._digests[-1] + data if self._digests else data).digest()[:16]

    def _written(self, message: Message, writer: JournalWriter) -> Record:
        known = self._known.get(id(message))
        if known is not None:
            return known
        if message.role == "tool" and message.tool_request_id in self._results and not message.extra:
            content, place = self._results[message.tool_request_id]
            if content is message.content or (type(content) is list and content == message.content):
                return {"role": "tool", "tool_request_id": message.tool_request_id, "result_of": place}
        return message_to_data(message, writer.keep)
