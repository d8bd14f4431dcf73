"""Tool calls for models without native ones: tools go into the system prompt, calls come back as JSON text (H5)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Literal

from pydantic import PrivateAttr

from react_run.errors import ModelError
from react_run.messages import (
    NO_USAGE,
    Message,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ToolRequest,
    content_with,
)
from react_run.models.base import Model, counted, streaming
from react_run.models.failures import model_error
from react_run.models.provider import request_ids
from react_run.models.text_calls import FORM, MARKS, Reading, TextCall, instructions, read_calls, written
from react_run.tools.request_ids import fresh_ids

CORRECTIONS = 2
"""How often to ask a model to write an unreadable call again."""

_log = logging.getLogger(__name__)


class TextProtocolModel(Model):
    """Lets a model without native tool calls use tools."""

    model: Model
    """The model to ask."""
    protocol: Literal["auto", "text"] = "text"
    """`auto`: native calls until the provider says that it has none."""

    _native: bool = PrivateAttr(default=False)

    def model_post_init(self, _: object) -> None:
        self._native = self.protocol == "auto"

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context_window(self) -> int | None:
        return self.model.context_window

    def can_read(self, media_type: str) -> bool | None:
        return self.model.can_read(media_type)

    async def open(self) -> None:
        await self.model.open()

    async def close(self) -> None:
        await self.model.close()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        refused = 0
        if self._native or not request.tools:
            try:
                return await self.model.complete(request)
            except ModelError as error:
                self._switch(error, request)
                refused = 1
        async with aclosing(self._converse(request, stream=False)) as items:
            async for item in items:
                if isinstance(item, ModelResponse):
                    return counted(item, refused)
        raise AssertionError("a conversation ends with its response")

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        refused = 0
        if self._native or not request.tools:
            try:
                async with streaming(self.model, request) as items:
                    async for item in items:
                        yield item
            except ModelError as error:
                self._switch(error, request)
                refused = 1
            else:
                return
        async with aclosing(self._converse(request, stream=True)) as conversation:
            async for item in conversation:
                yield counted(item, refused) if isinstance(item, ModelResponse) else item

    def _switch(self, error: ModelError, request: ModelRequest) -> None:
        """Continue in text if the provider has no tools; anything else remains an error."""
        if error.code != "no_tools" or not request.tools:
            raise error
        _log.info("%s has no native tool calls: using the text protocol", self.name)
        self._native = False

    async def _converse(
        self, request: ModelRequest, *, stream: bool
    ) -> AsyncGenerator[TextDelta | ModelResponse, None]:
        """Ask, and ask for corrections, until the reply can be parsed."""
        messages = as_text(request)  # calls are written as text, so the answer's schema must not apply
        asked = replace(request, messages=messages, tools=(), tool_choice=None, output_schema=None)
        shown = _Shown()
        usage = NO_USAGE
        for _ in range(CORRECTIONS + 1):
            shown.begin()
            async with aclosing(self._ask(asked, stream=stream)) as items:
                async for item in items:
                    if isinstance(item, ModelResponse):
                        response = item
                    elif visible := shown.draft(item.text):
                        yield TextDelta(text=visible)
            usage = usage + response.usage
            reading = _read(response, request)
            if rest := shown.rest(reading.prose):
                yield TextDelta(text=rest)
            if not reading.problem:
                yield _response(replace(response, usage=usage), shown.text, reading.calls, request)
                return
            asked = replace(asked, messages=[*asked.messages, *_correction(response, reading.problem)])
        words = f"{self.name} wrote no readable tool call in {CORRECTIONS + 1} attempts: {reading.problem}"
        raise model_error("text_protocol", words, provider=self.name)

    async def _ask(self, request: ModelRequest, *, stream: bool) -> AsyncGenerator[TextDelta | ModelResponse, None]:
        if not stream:
            yield await self.model.complete(request)
            return
        async with streaming(self.model, request) as items:
            async for item in items:
                yield item


class _Shown:
    """The visible text of a reply: prose up to the possible beginning of a call, the rest once it is parsed."""

    def __init__(self) -> None:
        self.text = ""
        self._lead = ""
        self._passed = 0
        self._open = True

    def begin(self) -> None:
        """Start another attempt; the visible text of the previous one stays."""
        self._lead = "\n\n" if self.text else ""
        self._passed = 0
        self._open = True

    def draft(self, piece: str) -> str:
        """Take a piece of the streamed reply, and return the part that can be shown already."""
        if not self._open:
            return ""
        end = min((found for mark in MARKS if (found := piece.find(mark)) >= 0), default=len(piece))
        self._open = end == len(piece)
        self._passed += end
        return self._add(piece[:end])

    def rest(self, prose: str) -> str:
        """Take the prose of the whole reply, and return the part that was not shown yet."""
        return self._add(prose[self._passed :])

    def _add(self, piece: str) -> str:
        if self._lead or not self.text:  # white space at the beginning of an attempt is never shown
            piece = piece.lstrip()
        if piece:
            piece = self._lead + piece
            self._lead = ""
        self.text += piece
        return piece


def as_text(request: ModelRequest) -> list[Message]:
    """The conversation without native calls: tools in the system prompt, the rest as text, turns alternating."""
    told = instructions(request.tools, required=request.tool_choice == "required")
    names: dict[str, str] = {}
    out: list[Message] = []
    for message in request.messages:
        names.update((call.id, call.name) for call in message.tool_requests)
        converted = _without_calls(message, names)
        if out and converted.role == out[-1].role and converted.role != "assistant":
            converted = replace(converted, content=_joined(out.pop(), converted))
        out.append(converted)
    if request.tool_choice == "none":
        return out
    if out and out[0].role == "system":
        return [replace(out[0], content=f"{out[0].text}\n\n{told}"), *out[1:]]
    return [Message(role="system", content=told), *out]


def _joined(first: Message, second: Message) -> str | list[Mapping[str, object]]:
    return content_with(f"{first.text}\n\n{second.text}", [*_beside_text(first), *_beside_text(second)])


def _beside_text(message: Message) -> list[Mapping[str, object]]:
    if isinstance(message.content, str):
        return []
    return [part for part in message.content if part.get("type", "text") != "text"]


def _without_calls(message: Message, names: dict[str, str]) -> Message:
    if message.role == "tool":
        name = names.get(message.tool_request_id or "", "the tool")
        text = f"Result of {name}:\n{message.text}"
        return Message(role="user", content=content_with(text, _beside_text(message)))
    if not message.tool_requests:
        return message
    calls = written(TextCall(name=call.name, arguments=call.arguments) for call in message.tool_requests)
    return replace(message, content=f"{message.text}\n{calls}".lstrip(), tool_requests=())


def _read(response: ModelResponse, request: ModelRequest) -> Reading:
    if response.finish_reason in ("refusal", "content_filter") or request.tool_choice == "none":
        return Reading(prose=response.message.text)
    reading = read_calls(response.message.text, {tool.name for tool in request.tools})
    if response.finish_reason == "length" and (reading.calls or reading.problem):
        return replace(reading, calls=(), problem="it was cut off before its end; write less")
    if request.tool_choice == "required" and not reading.calls and not reading.problem:
        return replace(reading, problem="a tool call was required")
    return reading


def _response(response: ModelResponse, prose: str, calls: tuple[TextCall, ...], request: ModelRequest) -> ModelResponse:
    ids = fresh_ids((), request_ids(request.messages))
    requests = tuple(ToolRequest(id=next(ids), name=call.name, arguments=call.arguments) for call in calls)
    message = replace(response.message, content=prose, tool_requests=requests)
    return replace(response, message=message, finish_reason="tool_calls" if requests else response.finish_reason)


def _correction(response: ModelResponse, problem: str) -> tuple[Message, Message]:
    asking = f"Your reply could not be used: {problem}. Reply again with nothing but one JSON object: {FORM}"
    return Message(role="assistant", content=response.text or "(nothing)"), Message(role="user", content=asking)
