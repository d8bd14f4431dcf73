"""Converts between OpenAI's ChatCompletion format and our types, for callers and wrapper classes."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from react_run.messages import Message, ModelRequest, ModelResponse, Usage
from react_run.models.coerce import as_mapping
from react_run.models.provider import parse_response
from react_run.models.stored import message_from_dict, message_to_dict


class _Shape(BaseModel):
    """Unknown fields are kept, because the format grows faster than this module."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ChatMessage(_Shape):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    """The role of the speaker."""
    content: str | list[dict[str, Any]] | None = None
    """Text, or content parts."""
    tool_calls: list[dict[str, Any]] | None = None
    """The calls that an assistant message requests: `{id, type: function, function: {name, arguments}}`."""
    tool_call_id: str | None = None
    """The id of the call that a tool message answers."""

    _source: Message | None = PrivateAttr(default=None)


class ChatCompletionRequest(_Shape):
    """A request for a completion; further fields of OpenAI's API are kept."""

    messages: list[ChatMessage]
    """The conversation so far."""
    model: str | None = None
    """The model id."""
    tools: list[dict[str, Any]] | None = None
    """The tools that the model may call."""
    tool_choice: Literal["auto", "none", "required"] | dict[str, Any] | None = None
    """Whether the model may, must or must not call a tool."""
    temperature: float | None = None
    """Sampling temperature."""
    max_tokens: int | None = None
    """Maximum tokens of the reply."""
    stream: bool | None = None
    """Whether to stream the reply."""


class ChatUsage(_Shape):
    """Tokens used; `None` is unknown."""

    prompt_tokens: int | None = None
    """Tokens read."""
    completion_tokens: int | None = None
    """Tokens written."""
    total_tokens: int | None = None
    """The sum of both."""


class ChatChoice(_Shape):
    """One reply."""

    index: int = 0
    """The index of the choice."""
    message: ChatMessage
    """The message."""
    finish_reason: str | None = None
    """Why the reply ended."""
    provider_specific_fields: dict[str, Any] | None = None
    """For a run: `react_trace`, `iterations`, `success`, `termination_reason`, `unresolved_tool_failures`."""


class ChatCompletionResponse(_Shape):
    """A completion."""

    id: str = ""
    """The id of the completion."""
    object: Literal["chat.completion"] = "chat.completion"
    """The type of the object."""
    created: int = Field(default_factory=lambda: int(time.time()))
    """When it was created, in seconds since 1970."""
    model: str = ""
    """The model that answered."""
    choices: list[ChatChoice]
    """The replies; here always one."""
    usage: ChatUsage | None = None
    """The tokens used."""


# -- messages ----------------------------------------------------------------------------------------------------------


def messages_from_request(request: ChatCompletionRequest) -> list[Message]:
    """Convert the messages of a request."""
    return [_own(message) for message in request.messages]


def _own(chat: ChatMessage) -> Message:
    """Convert ``chat`` back; if it was not changed, this is the very message it was made from."""
    data = chat.model_dump(exclude_unset=True)
    source = chat._source
    if source is not None and data == message_to_dict(source):
        return source
    return message_from_dict(data)


def _chat_message(message: Message) -> ChatMessage:
    chat = ChatMessage.model_validate(message_to_dict(message))
    chat._source = message
    return chat


# -- one model call, for wrappers --------------------------------------------------------------------------------------


def chat_request(request: ModelRequest, *, model: str = "") -> ChatCompletionRequest:
    """Convert a model request for wrappers; :func:`model_request` converts it back."""
    return ChatCompletionRequest.model_validate(
        {
            **request.settings,
            "model": model or None,
            "messages": [],
            "tools": [tool.wire for tool in request.tools] or None,
            "tool_choice": request.tool_choice,
        }
    ).model_copy(update={"messages": [_chat_message(message) for message in request.messages]})


def model_request(chat: ChatCompletionRequest, original: ModelRequest) -> ModelRequest:
    """Return ``original`` with the changes made in ``chat``; unchanged messages stay the same objects.

    Tools can be removed but not added, because a request carries no functions.
    """
    offered = {as_mapping(tool.get("function")).get("name") for tool in chat.tools or ()}
    messages = messages_from_request(chat)
    unchanged = len(messages) == len(original.messages) and all(
        ours is theirs for ours, theirs in zip(messages, original.messages, strict=True)
    )
    choice = chat.tool_choice
    return replace(
        original,
        messages=original.messages if unchanged else messages,
        tools=tuple(tool for tool in original.tools if tool.name in offered),
        tool_choice=choice if isinstance(choice, str) else original.tool_choice,
        settings=settings_of(chat),
    )


def settings_of(chat: ChatCompletionRequest) -> dict[str, object]:
    """The generation settings of a request: temperature, max_tokens, and any further fields."""
    return chat.model_dump(exclude_none=True, exclude={"messages", "model", "tools", "tool_choice", "stream"})


def chat_response(response: ModelResponse) -> ChatCompletionResponse:
    """Convert a model's response."""
    choice = ChatChoice(message=_chat_message(response.message), finish_reason=response.finish_reason)
    return ChatCompletionResponse(model=response.model, choices=[choice], usage=chat_usage(response.usage))


def model_response(chat: ChatCompletionResponse, original: ModelResponse) -> ModelResponse:
    """Return ``original`` with the message and finish reason of ``chat``; the usage stays as the provider reported it.

    Raises:
        ModelError: ``chat`` contains no reply.
    """
    body = chat.model_dump(exclude_none=True)
    read = parse_response(body, provider="a response wrapper", model=original.model)
    return replace(original, message=_own(chat.choices[0].message), finish_reason=read.finish_reason)


def chat_usage(usage: Usage) -> ChatUsage | None:
    """Convert ``usage``; ``None`` if nothing is known about it."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    details: dict[str, Any] = {
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
    return ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        **details,
    )
