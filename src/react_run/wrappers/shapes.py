"""Converts requests and responses to the ChatCompletion format for wrappers, once each, and back if changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.chat import (
    ChatCompletionRequest,
    ChatCompletionResponse,
    ChatMessage,
    chat_request,
    chat_response,
    model_request,
    model_response,
)
from react_run.engine.history import repaired
from react_run.messages import Message, ModelRequest, ModelResponse
from react_run.models.stored import message_to_dict

if TYPE_CHECKING:
    from react_run.models.base import Model


class Shapes:
    """The latest request and response of one run, in the format for wrappers."""

    def __init__(self) -> None:
        self.prompt: ChatCompletionRequest | None = None
        """The request after all preprocessors so far."""
        self._request: tuple[ModelRequest, ChatCompletionRequest] | None = None
        self._response: tuple[ModelResponse, ChatCompletionResponse] | None = None

    def of_request(self, request: ModelRequest, model: Model) -> ChatCompletionRequest:
        """``request`` in the format for wrappers."""
        if self._request is None or self._request[0] is not request:
            self._request = (request, chat_request(request, model=model.name))
        return self._request[1]

    def taken_request(self, chat: ChatCompletionRequest, original: ModelRequest) -> ModelRequest:
        """Convert ``chat`` back to a request; if it is unchanged, return ``original`` itself."""
        chat.messages = [_chat_message(message) for message in chat.messages]
        request = model_request(chat, original)
        if request.messages is not original.messages:
            request = replace(request, messages=in_order(request.messages))
        elif request == original:
            request = original
        self._request = (request, chat)
        return request

    def of_response(self, response: ModelResponse) -> ChatCompletionResponse:
        """``response`` in the format for wrappers; its text is never ``None``."""
        if self._response is None or self._response[0] is not response:
            chat = chat_response(response)
            chat.choices[0].message.content = chat.choices[0].message.content or ""
            self._response = (response, chat)
        return self._response[1]

    def taken_response(self, chat: ChatCompletionResponse, original: ModelResponse) -> ModelResponse:
        """Convert ``chat`` back to a response; if it is unchanged, return ``original`` itself."""
        response = model_response(chat, original)
        if response == original:
            response = original
        self._response = (response, chat)
        return response


def _chat_message(message: object) -> ChatMessage:
    """Convert a message that a wrapper added to a request, whatever its form."""
    if isinstance(message, ChatMessage):
        return message
    return ChatMessage.model_validate(message_to_dict(message) if isinstance(message, Message) else _data(message))


def _data(message: object) -> object:
    return dict(message) if isinstance(message, Mapping) else message


def in_order(messages: Iterable[Message]) -> list[Message]:
    """Make a wrapper's conversation valid: system messages first, and results next to their calls (L5)."""
    valid = repaired(messages)
    return [*(m for m in valid if m.role == "system"), *(m for m in valid if m.role != "system")]
