"""Encodes messages and tools as OpenAI chat-completions JSON, each message only once.

A conversation only grows, so encoded messages are kept and joined again for the next request: an iteration encodes only
what is new. Content that providers would refuse is never sent: unreadable arguments become ``{}`` (their result says
what was wrong, behaviour H2), empty results a visible placeholder.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from react_run.messages import CALL_FIELDS, Message, MessageView, ModelRequest, ToolRequest
from react_run.models.coerce import as_mapping
from react_run.support.dataclasses import dataclass
from react_run.support.jsonable import encode

if TYPE_CHECKING:
    from react_run.tools.tool import Tool

NO_OUTPUT = "(no output)"
"""The placeholder for an empty tool result, because some providers refuse empty content."""

BREAKPOINT: Mapping[str, object] = {"type": "ephemeral"}
"""The ``cache_control`` that ends a cached prefix."""

_LONGEST_NAME = 64
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PIECE = 65_536
_MOST_BYTES = 32 * 2**20
_MOST_CONVERSATIONS = 64


def message_json(
    message: Message,
    *,
    breakpoint_here: bool = False,
    verbatim: bool = False,
    can_read: Callable[[str], bool | None] | None = None,
) -> dict[str, object]:
    """One message in OpenAI's format.

    Args:
        message: The message; its provider's own fields (``extra``) are sent back verbatim (behaviour L5).
        breakpoint_here: End a cached prefix here, for providers that cache on demand.
        verbatim: Keep what a provider would refuse: our own tool names, unreadable arguments, empty results.
        can_read: Whether the model reads a media type; other attachments are replaced by a note.
    """
    content: object = message.content
    if not isinstance(message.content, str):
        from react_run.models.wire_parts import sent

        content = sent(message.content, can_read)
    if message.role == "tool" and not verbatim:
        content = content or NO_OUTPUT
    elif message.tool_requests:
        content = content or None
    if breakpoint_here and content:
        content = _with_breakpoint(content)
    data: dict[str, object] = {"role": message.role, "content": content}
    if message.tool_request_id is not None:
        data["tool_call_id"] = message.tool_request_id
    if message.tool_requests:
        fields = as_mapping(message.extra.get(CALL_FIELDS))
        data["tool_calls"] = [
            {**as_mapping(fields.get(request.id)), **_call_json(request, verbatim)} for request in message.tool_requests
        ]
    for key, value in message.extra.items():
        if key != CALL_FIELDS:
            data.setdefault(key, value)
    return data


def breakpoints(messages: Sequence[Message]) -> frozenset[int]:
    """Where cached prefixes end: the system prompt, the end of the previous iteration, and the end (at most three)."""
    system = sum(1 for message in messages if message.role == "system") - 1
    iterations = [index - 1 for index, message in enumerate(messages) if message.role == "assistant"]
    return frozenset(index for index in (system, *iterations[-1:], len(messages) - 1) if index >= 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """A request ready to send: ``pieces`` in order, ``length`` bytes in all; ``ids`` are those of its tool requests."""

    pieces: list[bytes]
    length: int
    ids: Set[str]


class Wire:
    """Encodes the requests of one model object.

    Args:
        explicit_cache: Mark cached prefixes with ``cache_control``, for providers that cache only on demand.
        can_read: Whether the model reads a media type; by default all are sent.
    """

    def __init__(self, *, explicit_cache: bool = False, can_read: Callable[[str], bool | None] | None = None) -> None:
        self._explicit_cache, self._can_read = explicit_cache, can_read
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()
        self._bytes = 0
        self._tools: OrderedDict[tuple[int, ...], _Tools] = OrderedDict()
        self._latest: _Tools | None = None

    def encode(self, request: ModelRequest, head: Mapping[str, object]) -> Encoded:
        """The body of ``request``; ``head`` has all fields except tools and messages."""
        conversation = self._conversation(request)
        start = encode(head)[:-1] + self.tools(request.tools).fragment + b',"messages":['
        if self._explicit_cache:
            pieces = [start, b",".join(self._marked(request.messages)), b"]}"]
        else:
            pieces = [start, *conversation.sealed, b",".join(conversation.open) + b"]}"]
        length = sum(map(len, pieces))
        # Joining megabytes costs more than passing them on in pieces.
        return Encoded(
            pieces=pieces if length > 2 * _PIECE else [b"".join(pieces)], length=length, ids=conversation.ids
        )

    def tools(self, tools: tuple[Tool, ...]) -> _Tools:
        """The encoded form of a tool list, kept while the list stays the same."""
        if self._latest is not None and self._latest.tools is tools:
            return self._latest
        key = tuple(map(id, tools))
        known = self._tools.get(key)
        if known is None:
            known = self._tools[key] = _Tools(tools)
            if len(self._tools) > _MOST_CONVERSATIONS:
                self._tools.popitem(last=False)
        self._latest = known if known.tools is tools else None
        return known

    def forget(self) -> None:
        """Release the cache."""
        self._conversations.clear()
        self._bytes = 0
        self._tools.clear()
        self._latest = None

    def _conversation(self, request: ModelRequest) -> _Conversation:
        conversation = self._conversations.pop(request.run_id, None) or _Conversation(self._can_read)
        self._bytes -= conversation.size
        conversation.follow(request.messages)
        self._bytes += conversation.size
        self._conversations[request.run_id] = conversation
        while len(self._conversations) > 1 and (
            self._bytes > _MOST_BYTES or len(self._conversations) > _MOST_CONVERSATIONS
        ):
            self._bytes -= self._conversations.popitem(last=False)[1].size
        return conversation

    def _marked(self, messages: Sequence[Message]) -> Iterator[bytes]:
        """The encoded messages with the ends of cached prefixes marked; they move every iteration, so nothing is
        kept.
        """
        ends = breakpoints(messages)
        marked = (
            message_json(message, breakpoint_here=index in ends, can_read=self._can_read)
            for index, message in enumerate(messages)
        )
        yield from map(encode, _placed(messages, marked))


class _Tools:
    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools  # keep them, because their ids are the key of this entry
        self.fragment = b',"tools":[' + b",".join([tool.encoded for tool in tools]) + b"]" if tools else b""


class _Conversation:
    """The encoded messages of a growing run: older stretches are joined permanently, the latest is still open."""

    def __init__(self, can_read: Callable[[str], bool | None] | None = None) -> None:
        self._can_read = can_read
        self._start()

    def _start(self) -> None:
        self.sealed: list[bytes] = []
        self.open: list[bytes] = []
        self.ids: set[str] = set()
        self.size = 0
        self._open_size = 0
        self._messages: list[Message] = []
        self._view: Sequence[Message] = ()

    def follow(self, messages: Sequence[Message]) -> None:
        """Encode what is new; start again if the conversation has been replaced (after compaction)."""
        if not (isinstance(messages, MessageView) and messages.extends(self._view)):
            known = len(self._messages)
            if len(messages) < known or list(messages[:known]) != self._messages:
                self._start()
        new = messages[len(self._messages) :]
        for data in _placed(new, (message_json(message, can_read=self._can_read) for message in new)):
            self._add(encode(data))
        for message in new:
            self.ids.update(request.id for request in message.tool_requests)
        self._messages += new
        self._view = messages

    def _add(self, fragment: bytes) -> None:
        if self._open_size > _PIECE:
            self.sealed.append(b",".join([*self.open, b""]))
            self.open, self._open_size = [], 0
        self.open.append(fragment)
        self._open_size += len(fragment)
        self.size += len(fragment)


def _placed(messages: Sequence[Message], data: Iterable[dict[str, object]]) -> Iterable[dict[str, object]]:
    """``data``, the JSON of ``messages``, with the attachments of tool results moved to where providers accept them."""
    if all(type(message.content) is str for message in messages):
        return data
    from react_run.models.wire_parts import behind_results

    return behind_results(data, empty=NO_OUTPUT)


def _call_json(request: ToolRequest, verbatim: bool) -> dict[str, object]:
    if isinstance(request.arguments, dict):
        arguments = encode(request.arguments).decode()
    else:
        arguments = request.arguments if verbatim else "{}"
    name = request.name if verbatim else _valid_name(request.name)
    return {"id": request.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _valid_name(name: str) -> str:
    """A name that providers accept in the history (H4): a model may have requested an invalid one."""
    return name if _NAME.fullmatch(name) else re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:_LONGEST_NAME] or "unnamed"


def _with_breakpoint(content: object) -> object:
    if isinstance(content, str):
        return [{"type": "text", "text": content, "cache_control": BREAKPOINT}]
    if isinstance(content, Sequence):
        return [*content[:-1], {**as_mapping(content[-1]), "cache_control": BREAKPOINT}]
    return content
