"""The seam between the loop and whatever completes a request."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from math import inf
from typing import ClassVar

from react_run.components import Component
from react_run.errors import ModelError
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta, ToolRequest, Usage
from react_run.support.display import shown


class Model(Component, group="models"):
    """Completes a request. Subclasses are pydantic models: their fields are their YAML options.

    Raises (from :meth:`complete` and :meth:`stream`):
        ModelError: The provider failed; ``retryable`` says whether the loop may try again (behaviour S6).
    """

    has_provider: ClassVar[bool] = False
    """Whether somebody else answers, who may lack native tool calls (behaviour H5)."""

    @property
    def name(self) -> str:
        """What results and journals call this model."""
        return type(self).__name__

    @property
    def context_window(self) -> int | None:
        """Tokens the model can read at once, when known (behaviour S7)."""
        return None

    def can_read(self, media_type: str) -> bool | None:
        """Whether it reads attachments of this type: ``image/png``, ``application/pdf``; ``None`` when trying tells.

        Text is read by every model. In place of what it cannot read a model gets a note with name, type and size.
        """
        return media_type.startswith("text/")

    @abstractmethod
    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the whole reply to ``request``."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        """Yield the draft as it comes and, last, the response that :meth:`complete` would have returned."""
        response = await self.complete(request)
        if response.text:
            yield TextDelta(text=response.text)
        yield response


@asynccontextmanager
async def streaming(model: Model, request: ModelRequest) -> AsyncGenerator[AsyncIterator[TextDelta | ModelResponse]]:
    """What ``model`` streams in reply to ``request``; left early, its stream is closed at once, with what it holds."""
    items = model.stream(request)
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def counted(response: ModelResponse, failed: int) -> ModelResponse:
    """``response`` with the requests counted that were sent in vain before it (behaviour H3)."""
    if not failed:
        return response
    return replace(response, usage=replace(response.usage, requests=response.usage.requests + failed))


_COUNTS = frozenset({int, type(None)})


def checked_response(response: object, model: Model) -> ModelResponse:
    """``response`` if it is one; what somebody's own model returns instead is told while it is known who returned it.

    Raises:
        ModelError: It is none, or lacks a message of the assistant or a usage that can be added to others.
    """
    wrong = _wrong_part(response)
    if isinstance(response, ModelResponse) and not wrong:
        return response
    problem = (
        f"{model.name} returned {shown(wrong[0])}, but a ModelResponse holds a Usage without negative numbers and a "
        "Message of the assistant whose calls have names"
    )
    raise ModelError(problem, code="bad_response")


def _wrong_part(response: object) -> tuple[object, ...]:
    """The part of ``response`` that is not as it must be; nothing when all is well."""
    if not isinstance(response, ModelResponse):
        return (response,)
    message, usage = response.message, response.usage
    if not isinstance(message, Message) or message.role != "assistant":
        return (message,)
    if not isinstance(message.tool_requests, (tuple, list)):
        return (message.tool_requests,)
    for call in message.tool_requests:
        if not isinstance(call, ToolRequest) or type(call.name) is not str or not call.name:
            return (call,)
    return () if isinstance(usage, Usage) and _adds_up(usage) else (usage,)


def _adds_up(usage: Usage) -> bool:
    """Whether every number of ``usage`` is unknown, or a finite one that is not negative."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens, usage.requests)
    if not _COUNTS.issuperset(map(type, counts)) or min(filter(None, counts), default=0) < 0:
        return False
    cost = usage.cost
    return cost is None or (isinstance(cost, (int, float)) and 0 <= cost < inf)
