"""Converts attachments for a provider, or replaces them with a note if the model cannot read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.parts import Part

if TYPE_CHECKING:
    from react_run.messages import Message, ModelRequest
    from react_run.models.base import Model

CanRead = Callable[[str], bool | None]
"""Whether a model reads a media type; ``None`` if only trying can tell."""
Wire = dict[str, object]


def sent(content: Sequence[Mapping[str, object]], can_read: CanRead | None = None) -> list[Mapping[str, object]]:
    """Content parts to send, with a note in place of each attachment that the model cannot read."""
    return [_sent(part, can_read) if isinstance(part, Part) else part for part in content]


def _sent(part: Part, can_read: CanRead | None) -> Mapping[str, object]:
    if can_read is None or part["type"] == "text" or can_read(part.media_type) is not False:
        return dict(part.fields)
    return {"type": "text", "text": note(part)}


def note(part: Part) -> str:
    """The note in place of an attachment that the model cannot read."""
    where = f" A copy is at {part.saved_to}." if part.saved_to else ""
    return f"[attachment {part.label}: it is not shown here, because this model does not read this type.{where}]"


def readable(request: ModelRequest, model: Model) -> ModelRequest:
    """Convert ``request`` to a form that ``model`` can read."""
    messages = [_readable(message, model.can_read) for message in request.messages]
    same = all(ours is theirs for ours, theirs in zip(messages, request.messages, strict=True))
    return request if same else replace(request, messages=messages)


def _readable(message: Message, can_read: CanRead) -> Message:
    if isinstance(message.content, str) or not any(isinstance(part, Part) for part in message.content):
        return message
    unread = [isinstance(part, Part) and can_read(part.media_type) is False for part in message.content]
    if not any(unread):
        return message
    content = [_sent(part, can_read) if no and isinstance(part, Part) else part
               for no, part in zip(unread, message.content, strict=True)]  # fmt: skip
    if all(part.get("type") == "text" for part in content):
        return replace(message, content="\n\n".join(str(part.get("text")) for part in content))
    return replace(message, content=content)


def carries_parts(messages: Iterable[Message]) -> bool:
    """Whether one of the messages has an attachment other than text."""
    contents = (message.content for message in messages if not isinstance(message.content, str))
    return any(isinstance(part, Part) and part["type"] != "text" for content in contents for part in content)


def behind_results(messages: Iterable[Wire], *, empty: str, keep_images: bool = False) -> Iterator[Wire]:
    """Move the attachments of tool results into a user message after the results of each reply.

    For most providers, a tool message can only contain text.

    Args:
        messages: Messages in OpenAI's format, with complete replies: every call has its result.
        empty: The placeholder for a result with nothing else in it.
        keep_images: Whether this provider accepts images in the result itself.
    """
    later: list[Mapping[str, object]] = []
    for message in messages:
        if message["role"] != "tool":
            if later:
                yield {"role": "user", "content": later}
                later = []
            yield message
            continue
        content = message["content"]
        if isinstance(content, str) or not isinstance(content, Sequence):
            yield message
            continue
        moved = [part for part in content if part.get("type") != "text"]
        moved = [part for part in moved if not (keep_images and part.get("type") == "image_url")]
        if moved:
            later += [{"type": "text", "text": f"[returned by the call {message.get('tool_call_id')}]"}, *moved]
        stays = [part for part in content if part not in moved]
        yield {**message, "content": (stays if keep_images else _joined(stays)) or empty}
    if later:
        yield {"role": "user", "content": later}


def _joined(content: Iterable[Mapping[str, object]]) -> str:
    return "\n\n".join(str(part.get("text")) for part in content)
