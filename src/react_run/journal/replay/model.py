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
    """Answers each model call of a run as it was answered in a recording; recorded errors are raised again.

    Raises (from ``complete``):
        ReplayMismatch: A request is not as recorded; the text says what was expected and what came.
        JournalError: The recording cannot be read.
    """

    kind = "replay"

    journal: LocalPath
    """The recording: the journal of a run."""
    run: str | None = None
    """The run, by the beginning of its id, if the file has several; by default the last one."""
    compare: bool = True
    """Whether requests must match the recording."""
    then: Model | None = None
    """The model for calls that were not recorded; by default such calls are errors."""

    _compared: tuple[Sequence[Message], Sequence[Message]] | None = PrivateAttr(default=None)

    @classmethod
    def of(
        cls, recording: Journal, answers: Mapping[int, ModelCall], *, compare: bool = True, then: Model | None = None
    ) -> Self:
        """The model that gives the ``answers`` of a journal that has been read."""
        model = cls(journal=recording.path or Path(), compare=compare, then=then)
        model.__dict__.update(recording=recording, answers=answers)
        return model

    @cached_property
    def recording(self) -> Journal:
        """The recorded run."""
        return read_journal(self.journal, self.run)

    @cached_property
    def answers(self) -> Mapping[int, ModelCall]:
        """The recorded calls that it answers, by number."""
        return self.recording.answers

    @cached_property
    def offers(self) -> Mapping[str, list[str]]:
        """The recorded lists of tools, by digest."""
        return self.recording.offers

    @property
    def name(self) -> str:
        return str(self.recording.header["model"])

    @property
    def context_window(self) -> int | None:
        window: int | None = self.recording.header["context_window"]
        return window if self.then is None else self.then.context_window

    def can_read(self, media_type: str) -> bool | None:
        # What is recorded is compared as it is; but a copy is saved where whoever goes on may need one.
        return True if self.then is None or self.then.can_read(media_type) else None

    async def open(self) -> None:
        if self.then is not None:
            await self.then.open()

    async def close(self) -> None:
        if self.then is not None:
            await self.then.close()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        call = self.answers.get(request.call)
        if self.then is not None and (call is None or self._is_of_another(request)):
            return await self.then.complete(_readable(request, self.then))
        if call is None:
            raise self._too_many(request)
        if self.compare:
            self._check(call, request)
        if call.error is not None:
            raise model_error(call.error["error"])
        return _response(call)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        if self.then is not None and (request.call not in self.answers or self._is_of_another(request)):
            async with streaming(self.then, _readable(request, self.then)) as items:
                async for item in items:
                    yield item
        else:
            async for item in super().stream(request):
                yield item

    def _is_of_another(self, request: ModelRequest) -> bool:
        """Whether it is of a subagent that has no model of its own."""
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
        """How many messages were compared with the request before, because both only grew since."""
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
    assert record is not None  # what has no error has a response
    return ModelResponse(
        message=message_from_data(record["message"]),  # one of its own: the recorded one is what it is compared with
        usage=usage_from_data(record["usage"]),
        finish_reason=record["finish_reason"],
        model=record["model"],
    )


def _readable(request: ModelRequest, model: Model) -> ModelRequest:
    """``request`` as ``model`` can read it, which goes on where the recording ends."""
    if all(type(message.content) is str for message in request.messages):
        return request
    from react_run.models.wire_parts import readable

    return readable(request, model)
