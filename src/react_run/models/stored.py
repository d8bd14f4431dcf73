"""Converts messages to and from OpenAI's format without loss, for storage, display and input."""

from __future__ import annotations

from collections.abc import Mapping

from react_run.errors import ConfigError
from react_run.messages import Message
from react_run.models.coerce import as_identifier, as_text
from react_run.models.wire import message_json


def message_to_dict(message: Message) -> dict[str, object]:
    """A message in OpenAI's format; :func:`message_from_dict` returns an equal message."""
    return message_json(message, verbatim=True)


def message_from_dict(data: Mapping[str, object]) -> Message:
    """A message from OpenAI's format.

    Raises:
        ConfigError: It is not a mapping, or has an unknown role.
    """
    if not isinstance(data, Mapping):
        raise ConfigError(f"a message must be a mapping with a role and content, not {type(data).__name__}")
    from react_run.models.provider import parse_content, parse_message

    role = data.get("role")
    if role == "assistant":
        return parse_message(data)
    content = parse_content(data.get("content"))
    if not isinstance(content, str):
        from react_run.parts import part_from_fields

        content = [part_from_fields(part) for part in content]
    if role == "tool":
        return Message(role="tool", content=content, tool_request_id=as_identifier(data.get("tool_call_id")))
    extra = {"name": name} if (name := as_text(data.get("name"))) else {}  # which of several speakers
    if role in ("system", "developer"):
        return Message(role="system", content=content, extra=extra)
    if role == "user":
        return Message(role="user", content=content, extra=extra)
    raise ConfigError(f"a message needs a role: system, user, assistant or tool, not {role!r}")
