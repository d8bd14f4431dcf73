"""Messages between a run and a model: immutable values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, overload

from react_run.support.dataclasses import dataclass
from react_run.support.maker import maker
from react_run.support.thinking import split_thinking, without_tags

if TYPE_CHECKING:
    from react_run.tools.tool import Tool

Role = Literal["system", "user", "assistant", "tool"]
ToolChoice = Literal["auto", "none", "required"]
CALL_FIELDS = "tool_call_fields"
"""Key in ``Message.extra``: what a provider keeps on single calls (thought signatures), by the id of the request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRequest:
    """One call that the model requests.

    ``arguments`` is a dict if the model's JSON could be parsed, else the raw text (behaviour A5).
    """

    id: str
    name: str
    arguments: dict[str, object] | str


def encodable(text: str) -> str:
    """Make ``text`` encodable for every provider: split surrogate pairs are joined, lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One entry of a conversation.

    ``content`` is text, made encodable, or a list of content parts: ``ImagePart``, ``FilePart``, or mappings in
    OpenAI's form, such as ``{"type": "text", "text": …}``, which are kept unchanged. ``tool_requests`` belong to
    assistant messages, ``tool_request_id`` to tool messages. ``extra`` keeps provider fields verbatim (thinking blocks
    and their signatures, reasoning), to be sent back on the message they came with (behaviour L5).

    Raises:
        TypeError: The content has another type.
    """

    role: Role
    content: str | Sequence[Mapping[str, object]] = ""
    tool_requests: tuple[ToolRequest, ...] = ()
    tool_request_id: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        content = self.content
        if isinstance(content, str):
            if not content.isascii():
                object.__setattr__(self, "content", encodable(content))
        elif content is None:  # providers' libraries use None next to calls
            object.__setattr__(self, "content", "")
        elif not isinstance(content, Sequence) or not all(isinstance(part, Mapping) for part in content):
            raise TypeError(f"content of Message must be text or a list of content parts, not {type(content).__name__}")

    @property
    def text(self) -> str:
        """The text of the message; content parts of type ``text`` are joined."""
        if isinstance(self.content, str):
            return self.content
        parts = (part.get("text") for part in self.content if part.get("type", "text") == "text")
        return "".join(text for text in parts if isinstance(text, str))

    @property
    def said(self) -> str:
        """The text without the thinking that a server left at its beginning (behaviour S5)."""
        return split_thinking(self.text)[1]

    @property
    def thought(self) -> str:
        """The model's thought: its reasoning, if the provider shows it, then its text."""
        if not self.content and not self.extra:
            return ""  # the usual case for messages with calls
        thinking, said = split_thinking(self.text)
        if not thinking and not self.extra:
            return said
        return "\n\n".join(filter(None, (without_tags(thinking) or _reasoning_in(self.extra), said)))

    @property
    def blank(self) -> bool:
        """Whether the message is empty or only white space; some providers reject requests with such messages."""
        return not self.content or (isinstance(self.content, str) and self.content.isspace())


def content_with(text: str, parts: Sequence[Mapping[str, object]]) -> str | list[Mapping[str, object]]:
    """The content of a message with ``text`` and ``parts``."""
    return [*([{"type": "text", "text": text}] if text else ()), *parts] if parts else text


def _reasoning_in(extra: Mapping[str, object]) -> str:
    """The reasoning among a provider's fields, under any of its names."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(text := extra.get(name), str) and text.strip():
            return text.strip()
    for name in ("thinking_blocks", "reasoning_details"):
        blocks = extra.get(name)
        parts = [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, Sequence) else []
        texts = [str(part.get(key)) for part in parts for key in ("thinking", "text", "summary") if part.get(key)]
        if texts:
            return "\n".join(texts).strip()
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The usage of one model call, or of several. ``None`` means unknown and is never turned into 0 (behaviour L8).

    Token counts are tokens as the provider counts them; ``cost`` is in USD; ``requests`` counts model calls.
    ``cached_tokens`` are part of ``input_tokens``, ``reasoning_tokens`` part of ``output_tokens``.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    cost: float | None = None
    requests: int = 1

    def __add__(self, other: Usage) -> Usage:
        cost, more = self.cost, other.cost
        cost = None if cost is None or more is None else cost + more
        try:
            return _usage(
                input_tokens=self.input_tokens + other.input_tokens,  # type: ignore[operator]  # None is seen to below
                output_tokens=self.output_tokens + other.output_tokens,  # type: ignore[operator]  # as above
                cached_tokens=self.cached_tokens + other.cached_tokens,  # type: ignore[operator]  # as above
                reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,  # type: ignore[operator]  # as above
                cost=cost,
                requests=self.requests + other.requests,
            )
        except TypeError:  # a count is unknown
            return Usage(
                input_tokens=_sum(self.input_tokens, other.input_tokens),
                output_tokens=_sum(self.output_tokens, other.output_tokens),
                cached_tokens=_sum(self.cached_tokens, other.cached_tokens),
                reasoning_tokens=_sum(self.reasoning_tokens, other.reasoning_tokens),
                cost=cost,
                requests=self.requests + other.requests,
            )

    @property
    def total_tokens(self) -> int | None:
        """The sum of input and output tokens, or ``None`` if either is unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def to_dict(self) -> dict[str, object]:
        """The fields as in the result object (docs/agent-files.md)."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "cost": self.cost,
            "requests": self.requests,
        }


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


_usage = maker(Usage)
NO_USAGE = Usage(input_tokens=0, output_tokens=0, cost=0.0, requests=0)
"""Zero usage, the start of a sum."""


class MessageList(list[Message]):
    """A conversation that counts changes in place (``changes``); appending messages does not count.

    While the count stays the same, anything derived from the messages, such as their encoded form, remains valid.
    """

    __slots__ = ("changes",)

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        super().__init__(messages)
        self.changes = 0


def _counted(name: str) -> Callable[..., Any]:
    change = getattr(list, name)

    @wraps(change)
    def changed(self: MessageList, *args: Any, **options: Any) -> Any:
        self.changes += 1
        return change(self, *args, **options)

    return changed


for _name in ("__delitem__", "__imul__", "__setitem__", "clear", "insert", "pop", "remove", "reverse", "sort"):
    setattr(MessageList, _name, _counted(_name))


class MessageView(Sequence[Message]):
    """A view of the first ``length`` messages of a list that grows."""

    __slots__ = ("_changes", "_length", "_messages")

    def __init__(self, messages: list[Message], length: int | None = None) -> None:
        self._messages = messages
        self._length = len(messages) if length is None else length
        self._changes = messages.changes if type(messages) is MessageList else -1

    def __len__(self) -> int:
        return self._length

    def extends(self, other: Sequence[Message]) -> bool:
        """Whether this view starts with all that ``other`` showed when it was made; compares no messages.

        Both view one :class:`MessageList`, and messages were only added to it since.
        """
        if not isinstance(other, MessageView) or other._messages is not self._messages:
            return False
        messages = self._messages
        added = type(messages) is MessageList and messages.changes == other._changes
        return added and other._length <= self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if step > 0:
                return self._messages[start:stop:step]
            return [self._messages[position] for position in range(start, stop, step)]
        if not -self._length <= index < self._length:
            raise IndexError("message index out of range")
        return self._messages[index % self._length]

    def __iter__(self) -> Iterator[Message]:
        messages = self._messages
        for index in range(self._length):
            yield messages[index]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """Everything the model sees for one call. ``output_schema`` is the JSON Schema that its answer must satisfy.

    ``messages`` is a fixed-length view of the run's list, never a copy. ``call`` is the 1-based number of this model
    call in its run (retries and recovery calls count), set by the loop just before the model is called.
    """

    messages: Sequence[Message]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    run_id: str = ""
    call: int = 1
    output_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelResponse:
    """A complete reply. ``finish_reason`` is normalised: stop, tool_calls, length, refusal, content_filter, error."""

    message: Message
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    model: str = ""

    @property
    def text(self) -> str:
        """The text of the reply, without its tool requests and without thinking at its beginning (behaviour S5)."""
        return self.message.said


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDelta:
    """A piece of the draft, as it streams."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDiscarded:
    """The draft so far is withdrawn because of a retry, a refused answer, or a reply that called tools after all."""
