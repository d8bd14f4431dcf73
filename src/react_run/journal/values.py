"""Converts messages, usage and outcomes to JSON values and back, without loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from react_run.messages import Message, ToolRequest, Usage
from react_run.outcome import Disposition, Outcome

if TYPE_CHECKING:
    from react_run.parts import Part

VERSION = 2
"""The version of the format."""

Record = dict[str, Any]
"""One line of a journal, as the schema next to this module describes it."""


def in_micros(seconds: float) -> float:
    """Round non-negative ``seconds`` to microseconds, like ``round(seconds, 6)`` in a sixth of the time."""
    return int(seconds * 1e6 + 0.5) / 1e6


def reference(part: Part) -> Record:
    """The reference to an attachment, for a record."""
    said: Record = {"type": "attachment", "sha256": part.digest, "media_type": part.media_type, "bytes": part.size}
    return {**said, "name": part.name} if part.name else said


def message_to_data(message: Message, refer: Callable[[Part], Record] = reference) -> Record:
    """Convert a message; empty fields are left out.

    Args:
        message: The message.
        refer: Makes references to attachments.
    """
    data: Record = {"role": message.role, "content": message.content}
    if not isinstance(message.content, str):
        from react_run.parts import Part

        data["content"] = [refer(part) if isinstance(part, Part) else part for part in message.content]
    if message.tool_requests:
        data["tool_requests"] = [
            {"id": request.id, "name": request.name, "arguments": request.arguments}
            for request in message.tool_requests
        ]
    if message.tool_request_id is not None:
        data["tool_request_id"] = message.tool_request_id
    if message.extra:
        data["extra"] = message.extra
    return data


def message_from_data(data: Mapping[str, Any], find: Callable[[Record], Part] | None = None) -> Message:
    """Convert the data of :func:`message_to_data` back into a message.

    Args:
        data: The data.
        find: Loads the attachments that it refers to.
    """
    requests = data.get("tool_requests", ())
    content = data["content"]
    if find is not None and not isinstance(content, str):
        content = [find(part) if part.get("type") == "attachment" else part for part in content]
    return Message(
        role=data["role"],
        content=content,
        tool_requests=tuple(ToolRequest(**request) for request in requests),
        tool_request_id=data.get("tool_request_id"),
        extra=data.get("extra", {}),
    )


def usage_from_data(data: Mapping[str, Any]) -> Usage:
    """Convert the data of ``Usage.to_dict()`` back into usage."""
    return Usage(**data)


def outcome_to_data(outcome: Outcome | None) -> Record | None:
    """Convert an outcome; empty texts are left out."""
    if outcome is None:
        return None
    data: Record = {"disposition": str(outcome.disposition)}
    if outcome.code:
        data["code"] = outcome.code
    if outcome.message:
        data["message"] = outcome.message
    if outcome.verified_summary:
        data["verified_summary"] = outcome.verified_summary
    if outcome.of_call:
        data["of_call"] = True
    if outcome.denied:
        data["denied"] = True
    if outcome.unknown:
        data["unknown"] = True
    return data


def outcome_from_data(data: Mapping[str, Any] | None) -> Outcome | None:
    """Convert the data of :func:`outcome_to_data` back into an outcome."""
    return None if data is None else Outcome(**{**data, "disposition": Disposition(data["disposition"])})
