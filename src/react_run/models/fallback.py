"""Fallback models: tried in order when one has failed permanently (``fallback_models`` in docs/agent-files.md)."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from pydantic import Field, PrivateAttr

from react_run.errors import ModelError
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta
from react_run.models.base import Model, counted, streaming
from react_run.support.dataclasses import dataclass
from react_run.tools.request_ids import portable_id

_MOST_RUNS = 1024
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Place:
    """The state of a run: which model serves it, since which message, and how often it failed in a row."""

    model: int = 0
    since: int = 0
    failures: int = 0


class FallbackModel(Model):
    """Asks the first model, and the next one after a permanent error or after all retries.

    Transient errors are passed on to the retry policy (behaviour S6) until there were ``attempts`` of them in a row. A
    run stays with the model it has switched to.
    """

    models: list[Model] = Field(min_length=1)
    """The models in the order of preference."""
    attempts: int = Field(default=4, ge=1)
    """Try the next model after this many transient errors in a row; at most the retry policy's attempts."""

    _places: OrderedDict[str, _Place] = PrivateAttr(default_factory=OrderedDict)

    @property
    def name(self) -> str:
        return self.models[0].name

    @property
    def context_window(self) -> int | None:
        """The smallest of the known windows, so that a conversation fits whichever model serves it."""
        return min((model.context_window for model in self.models if model.context_window), default=None)

    def can_read(self, media_type: str) -> bool | None:
        """The most capable model decides; each model is checked again before a request is sent to it."""
        said = [model.can_read(media_type) for model in self.models]
        return True if all(said) else None if any(one is not False for one in said) else False

    async def open(self) -> None:
        for model in self.models:
            await model.open()

    async def close(self) -> None:
        for model in self.models:
            await model.close()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        place = self._place(request)
        failed = 0
        while True:
            try:
                response = await self.models[place.model].complete(self._suited(request, place))
            except ModelError as error:
                self._move_on(error, place, request)
                failed += 1
            else:
                place.failures = 0
                return counted(response, failed)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        place = self._place(request)
        failed, finished = 0, False
        while not finished:
            began = False
            try:
                async with streaming(self.models[place.model], self._suited(request, place)) as items:
                    async for item in items:
                        began = True
                        yield counted(item, failed) if isinstance(item, ModelResponse) else item
                place.failures = 0
                finished = True
            except ModelError as error:
                self._move_on(error, place, request)
                failed += 1
                if began:
                    # A draft was shown already: the retry policy withdraws it and asks again.
                    raise _again(error) from error

    def _suited(self, request: ModelRequest, place: _Place) -> ModelRequest:
        """``request`` without another provider's signatures and ids, which mean nothing here and may be refused."""
        model = self.models[place.model]
        if not model.has_provider and any(type(message.content) is not str for message in request.messages):
            from react_run.models.wire_parts import readable

            request = readable(request, model)
        if not place.model or not place.since:
            return request
        return replace(request, messages=_unsigned(request.messages, place.since))

    def _place(self, request: ModelRequest) -> _Place:
        place = self._places.pop(request.run_id, None) if request.run_id else None
        place = place or _Place()
        if request.run_id:
            self._places[request.run_id] = place
            if len(self._places) > _MOST_RUNS:
                self._places.popitem(last=False)
        return place

    def _move_on(self, error: ModelError, place: _Place, request: ModelRequest) -> None:
        """Switch to the next model, or raise ``error`` if it may be transient or there is no other model."""
        place.failures += 1
        # Outside a run there are no retries. An overflow gets one chance to be reduced by compaction.
        patience = 2 if error.code == "context_overflow" else self.attempts if error.retryable else 1
        if (request.run_id and place.failures < patience) or place.model + 1 >= len(self.models):
            raise error
        failed, place.model = self.models[place.model], place.model + 1
        place.failures = 0
        place.since = len(request.messages)
        _log.warning("%s failed (%s): continuing with %s", failed.name, error, self.models[place.model].name)


def _unsigned(messages: Sequence[Message], end: int) -> list[Message]:
    return [
        _portable(message) if n < end and message.role in ("assistant", "tool") else message
        for n, message in enumerate(messages)
    ]


def _portable(message: Message) -> Message:
    """``message`` without its provider's own fields, with ids that every provider accepts."""
    requests = tuple(replace(request, id=portable_id(request.id)) for request in message.tool_requests)
    answered = message.tool_request_id and portable_id(message.tool_request_id)
    return replace(message, extra={}, tool_requests=requests, tool_request_id=answered)


def _again(error: ModelError) -> ModelError:
    return ModelError(
        str(error), provider=error.provider, status=error.status, code=error.code, retryable=True, retry_after=0
    )
