"""Requests and responses in the ChatCompletion shape that wrappers see, each made once, and taken back when changed."""

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
    """The latest request and response of one run, in the shape that wrappers see."""

    def __init__(self) -> None:
        self.prompt: ChatCompletionRequest | None = None
        """The request after all preprocessors so far."""
        self._request: tuple[ModelRequest, ChatCompletionRequest] | None = None
        self._response: tuple[ModelResponse, ChatCompletionResponse] | None = None

    def of_request(self, request: ModelRequest, model: Model) -> ChatCompletionRequest:
        """``request`` as wrappers see it."""
        if self._request is None or self._request[0] is not request:
            self._request = (request, chat_request(request, model=model.name))
        return self._request[1]

    def taken_request(self, chat: ChatCompletionRequest, original: ModelRequest) -> ModelRequest:
        """What the model is asked when ``chat`` is what became of ``original``: that very object, when nothing did."""
        chat.messages = [_chat_message(message) for message in chat.messages]
        request = model_request(chat, original)
        if request.messages is not original.messages:
            request = replace(request, messages=in_order(request.messages))
        elif request == original:
            request = original
        self._request = (request, chat)
        return request

    def of_response(self, response: ModelResponse) -> ChatCompletionResponse:
        """``response`` as wrappers see it; its text is never ``None``."""
        if self._response is None or self._response[0] is not response:
            chat = chat_response(response)
            chat.choices[0].message.content = chat.choices[0].message.content or ""
            self._response = (response, chat)
        return self._response[1]

    def taken_response(self, chat: ChatCompletionResponse, original: ModelResponse) -> ModelResponse:
        """The model's response when ``chat`` is what became of ``original``: that very object, when nothing did."""
        response = model_response(chat, original)
        if response == original:
            response = original
        self._response = (response, chat)
        return response


def _chat_message(message: object) -> ChatMessage:
    """A message that a wrapper put into a request, in whatever form."""
    if isinstance(message, ChatMessage):
        return message
    return ChatMessage.model_validate(message_to_dict(message) if isinstance(message, Message) else _data(message))


def _data(message: object) -> object:
    return dict(message) if isinstance(message, Mapping) else message


def in_order(messages: Iterable[Message]) -> list[Message]:
    """A conversation that a wrapper put together, made valid: system messages first, calls with their results (L5)."""
    valid = repaired(messages)
    return [*(m for m in valid if m.role == "system"), *(m for m in valid if m.role != "system")]
