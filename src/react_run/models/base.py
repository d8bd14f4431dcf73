"""The interface between the loop and models."""

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
from react_run.support.display import shown_value


class Model(Component, group="models"):
    """Completes a request. Subclasses are pydantic models: their fields are their YAML options.

    Raises (from :meth:`complete` and :meth:`stream`):
        ModelError: The provider failed; ``retryable`` says whether the loop may try again (behaviour S6).
    """

    has_provider: ClassVar[bool] = False
    """Whether a provider answers, which may lack native tool calls (behaviour H5)."""

    @property
    def name(self) -> str:
        """The name of this model in results and journals."""
        return type(self).__name__

    @property
    def context_window(self) -> int | None:
        """The context window in tokens, if known (behaviour S7)."""
        return None

    def can_read(self, media_type: str) -> bool | None:
        """Whether it reads attachments of this type: ``image/png``, ``application/pdf``; ``None`` if only trying can
        tell.

        Every model reads text. In place of an attachment that it cannot read, a model gets a note with name, type and
        size.
        """
        return media_type.startswith("text/")

    @abstractmethod
    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the complete reply to ``request``."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        """Yield the draft as it arrives and, last, the response that :meth:`complete` would have returned."""
        response = await self.complete(request)
        if response.text:
            yield TextDelta(text=response.text)
        yield response


@asynccontextmanager
async def streaming(model: Model, request: ModelRequest) -> AsyncGenerator[AsyncIterator[TextDelta | ModelResponse]]:
    """Stream the reply of ``model`` to ``request``; if the caller stops early, the stream is closed at once."""
    items = model.stream(request)
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def counted(response: ModelResponse, failed: int) -> ModelResponse:
    """Add earlier, failed requests to the usage of ``response`` (behaviour H3)."""
    if not failed:
        return response
    return replace(response, usage=replace(response.usage, requests=response.usage.requests + failed))


_COUNTS = frozenset({int, type(None)})


def checked_response(response: object, model: Model) -> ModelResponse:
    """Check ``response``, so that a wrong return value of a custom model is reported with the model's name.

    Raises:
        ModelError: It is not a response, or lacks an assistant message or a valid usage.
    """
    wrong = _wrong_part(response)
    if isinstance(response, ModelResponse) and not wrong:
        return response
    problem = (
        f"{model.name} returned {shown_value(wrong[0])}, but a ModelResponse needs a Usage without negative numbers "
        "and an assistant Message whose calls have names"
    )
    raise ModelError(problem, code="bad_response")


def _wrong_part(response: object) -> tuple[object, ...]:
    """The invalid part of ``response``; empty if there is none."""
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
    """Whether every number of ``usage`` is unknown, or finite and not negative."""
    first, second, third, fourth, fifth = counts = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.reasoning_tokens,
        usage.requests,
    )
    if not _COUNTS.issuperset(map(type, counts)):
        return False
    try:  # the sign bit of any is that of all together; looking at each takes longer
        if first | second | third | fourth | fifth < 0:  # type: ignore[operator]  # None is seen to below
            return False
    except TypeError:  # one is unknown
        if min(filter(None, counts), default=0) < 0:
            return False
    cost = usage.cost
    return cost is None or (isinstance(cost, (int, float)) and 0 <= cost < inf)
