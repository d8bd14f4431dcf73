"""OpenAI's ChatCompletion shapes, to and from our types: for callers and class-style wrappers."""

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
    """Fields that we do not know are kept: the shape grows faster than this module."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ChatMessage(_Shape):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    """Who speaks."""
    content: str | list[dict[str, Any]] | None = None
    """Text, or content parts."""
    tool_calls: list[dict[str, Any]] | None = None
    """What an assistant message asks for: `{id, type: function, function: {name, arguments}}`."""
    tool_call_id: str | None = None
    """Which call a tool message answers."""

    _source: Message | None = PrivateAttr(default=None)


class ChatCompletionRequest(_Shape):
    """A request for a completion; further fields of OpenAI's API are kept."""

    messages: list[ChatMessage]
    """The conversation so far."""
    model: str | None = None
    """The model id."""
    tools: list[dict[str, Any]] | None = None
    """What the model may call."""
    tool_choice: Literal["auto", "none", "required"] | dict[str, Any] | None = None
    """Whether it may, must or must not call something."""
    temperature: float | None = None
    """Sampling temperature."""
    max_tokens: int | None = None
    """The most tokens the reply may have."""
    stream: bool | None = None
    """Whether the reply is wanted in pieces."""


class ChatUsage(_Shape):
    """Tokens used; `None` is unknown."""

    prompt_tokens: int | None = None
    """Tokens read."""
    completion_tokens: int | None = None
    """Tokens written."""
    total_tokens: int | None = None
    """Both together."""


class ChatChoice(_Shape):
    """One reply."""

    index: int = 0
    """Its position."""
    message: ChatMessage
    """What it says."""
    finish_reason: str | None = None
    """Why it ended."""
    provider_specific_fields: dict[str, Any] | None = None
    """For a run: `react_trace`, `iterations`, `success`, `termination_reason`, `unresolved_tool_failures`."""


class ChatCompletionResponse(_Shape):
    """A completion."""

    id: str = ""
    """Which one it is."""
    object: Literal["chat.completion"] = "chat.completion"
    """What it is."""
    created: int = Field(default_factory=lambda: int(time.time()))
    """When it was made, in seconds since 1970."""
    model: str = ""
    """Who answered."""
    choices: list[ChatChoice]
    """The reply."""
    usage: ChatUsage | None = None
    """What it used."""


# -- messages ----------------------------------------------------------------------------------------------------------


def messages_from_request(request: ChatCompletionRequest) -> list[Message]:
    """The conversation of a request."""
    return [_own(message) for message in request.messages]


def _own(chat: ChatMessage) -> Message:
    """Our form of ``chat``: the very message it was made from, unless somebody changed it since."""
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
    """What a model is about to be asked; :func:`model_request` takes changes back."""
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
    """``original`` with what was changed in ``chat``; messages that were not touched stay the same objects.

    Tools can be withdrawn, not added: a request carries no functions.
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
    """What a request says about how to generate: temperature, max_tokens, and whatever else it carries."""
    return chat.model_dump(exclude_none=True, exclude={"messages", "model", "tools", "tool_choice", "stream"})


def chat_response(response: ModelResponse) -> ChatCompletionResponse:
    """What a model answered."""
    choice = ChatChoice(message=_chat_message(response.message), finish_reason=response.finish_reason)
    return ChatCompletionResponse(model=response.model, choices=[choice], usage=chat_usage(response.usage))


def model_response(chat: ChatCompletionResponse, original: ModelResponse) -> ModelResponse:
    """``original`` with the message and finish reason of ``chat``; usage stays what the provider reported.

    Raises:
        ModelError: ``chat`` holds no reply.
    """
    body = chat.model_dump(exclude_none=True)
    read = parse_response(body, provider="a response wrapper", model=original.model)
    return replace(original, message=_own(chat.choices[0].message), finish_reason=read.finish_reason)


def chat_usage(usage: Usage) -> ChatUsage | None:
    """``usage`` in this shape; ``None`` when nothing is known of it."""
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
