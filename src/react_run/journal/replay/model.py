"""A model that answers from a journal: a recorded run as a regression test (behaviour J3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import PrivateAttr

from react_run.components import LocalPath
from react_run.errors import ReplayMismatch
from react_run.journal.iterations import ModelCall
from react_run.journal.reading import Journal, read_journal
from react_run.journal.replay.differences import Difference, different_message
from react_run.journal.replay.errors import model_error
from react_run.journal.values import message_from_data, usage_from_data
from react_run.messages import Message, MessageView, ModelRequest, ModelResponse, TextDelta
from react_run.models.base import Model, streaming


class ReplayModel(Model):
    """Answers each model call of a run from a recording; recorded errors are raised again.

    Raises (from ``complete``):
        ReplayMismatch: A request differs from the recording; the message names the expected and the actual value.
        JournalError: The recording cannot be read.
    """

    kind = "replay"

    journal: LocalPath
    """The journal that contains the run."""
    run: str | None = None
    """The start of the run's id, if the file contains several runs; by default the last run."""
    compare: bool = True
    """Whether requests must match the recorded ones."""
    then: Model | None = None
    """The model for calls after the end of the recording; without it, such a call is an error."""

    _compared: tuple[Sequence[Message], Sequence[Message]] | None = PrivateAttr(default=None)

    @classmethod
    def of(
        cls, recording: Journal, answers: Mapping[int, ModelCall], *, compare: bool = True, then: Model | None = None
    ) -> Self:
        """A model that gives the ``answers`` of a journal that was already read."""
        model = cls(journal=recording.path or Path(), compare=compare, then=then)
        model.__dict__.update(recording=recording, answers=answers)
        return model

    @cached_property
    def recording(self) -> Journal:
        """The recorded run."""
        return read_journal(self.journal, self.run)

    @cached_property
    def answers(self) -> Mapping[int, ModelCall]:
        """The recorded calls to answer, by number."""
        return self.recording.answers

    @cached_property
    def offers(self) -> Mapping[str, list[str]]:
        """The recorded lists of tool names, by digest."""
        return self.recording.offers

    @property
    def name(self) -> str:
        return str(self.recording.header["model"])

    @property
    def context_window(self) -> int | None:
        window: int | None = self.recording.header["context_window"]
        return window if self.then is None else self.then.context_window

    def can_read(self, media_type: str) -> bool | None:
        # Recorded parts are compared as they are; but if a real model continues, it may need a saved copy.
        return True if self.then is None or self.then.can_read(media_type) else None

    async def open(self) -> None:
        if self.then is not None:
            await self.then.open()

    async def close(self) -> None:
        if self.then is not None:
            await self.then.close()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        call = self.answers.get(request.call)
        if self.then is not None and (call is None or self._comes_from_subagent(request)):
            return await self.then.complete(_readable(request, self.then))
        if call is None:
            raise self._too_many(request)
        if self.compare:
            self._check(call, request)
        if call.error is not None:
            raise model_error(call.error["error"])
        return _response(call)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        if self.then is not None and (request.call not in self.answers or self._comes_from_subagent(request)):
            async with streaming(self.then, _readable(request, self.then)) as items:
                async for item in items:
                    yield item
        else:
            async for item in super().stream(request):
                yield item

    def _comes_from_subagent(self, request: ModelRequest) -> bool:
        """Whether the request comes from a subagent without a model of its own."""
        return request.run_id != self.recording.run_id

    def _check(self, call: ModelCall, request: ModelRequest) -> None:
        """Compare a request with the recorded one."""
        run_ids = (self.recording.run_id, request.run_id)
        found = different_message(call.messages, request.messages, run_ids, self._as_before(call, request))
        if found is not None:
            what = f"message {found[0] + 1} of the request of model call {call.number}"
            raise Difference(iteration=call.iteration, what=what, expected=found[1], got=found[2]).error()
        expected = self.offers.get(call.request.get("tools", ""), [])
        got = [tool.name for tool in request.tools]
        if expected != got:
            what = f"the list of tools that model call {call.number} offers"
            raise Difference(iteration=call.iteration, what=what, expected=expected, got=got).error()

    def _as_before(self, call: ModelCall, request: ModelRequest) -> int:
        """How many messages were already compared for the previous request, because both conversations only grew."""
        compared, self._compared = self._compared, (call.messages, request.messages)
        if compared is None:
            return 0
        pairs = zip(compared, self._compared, strict=True)
        grew = all(isinstance(now, MessageView) and now.extends(before) for before, now in pairs)
        return len(compared[0]) if grew else 0

    def _too_many(self, request: ModelRequest) -> ReplayMismatch:
        last = max(self.answers.values(), key=lambda call: call.number, default=None)
        return Difference(
            iteration=last.iteration if last else 1,
            what="the number of model calls",
            expected=f"{last.number if last else 0}, then the recording ends",
            got=f"call {request.call}: {request.messages[-1].text}",
        ).error()


def _response(call: ModelCall) -> ModelResponse:
    record = call.response
    assert record is not None  # a call without an error has a response
    return ModelResponse(
        message=message_from_data(record["message"]),  # a copy, because the recorded one is compared with
        usage=usage_from_data(record["usage"]),
        finish_reason=record["finish_reason"],
        model=record["model"],
    )


def _readable(request: ModelRequest, model: Model) -> ModelRequest:
    """``request`` in a form that ``model``, which continues after the recording, can read."""
    if all(type(message.content) is str for message in request.messages):
        return request
    from react_run.models.wire_parts import readable

    return readable(request, model)
