"""The ``offline`` model: a deterministic provider, *not* a language model, that needs no key and no network.

    question ─ clauses ─ readings ─┐
                                   ├─ drafts ─ plan ─ calls … observations ─ answer
    tools ──── cards ──── slots ───┘

No tool name is built in: it reads the tools it is offered and the user's words, and calls a tool only if every word of
a clause is accounted for. Otherwise it asks or declines. Every value in an answer comes from an observation.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import ClassVar

from react_offline.replying import Reply, reply_to
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta, ToolRequest, Usage
from react_run.models.base import Model

__all__ = ["OfflineModel"]

_log = logging.getLogger(__name__)


class OfflineModel(Model):
    """A deterministic provider, not a language model: matches plain questions to the tools offered; no key needed."""

    kind: ClassVar[str] = "offline"

    allow_changes: bool = False
    """Whether tools that may change things are called too; ``--yes`` on the command line sets it."""

    @property
    def name(self) -> str:
        """The name of this model in results and journals."""
        return "offline"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the calls to make next, the answer, a question, or a refusal."""
        if any(type(message.content) is not str for message in request.messages):
            request = _without_attachments(request)
        return _response(reply_to(request, allow_changes=self.allow_changes), request)

    def can_read(self, media_type: str) -> None:
        """It reads no attachments, and no notes about them, which it would take for part of the question."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        """Yield an answer word by word, and then the response; a reply that calls tools has no draft."""
        response = await self.complete(request)
        if not response.message.tool_requests:
            for piece in _pieces(response.text):
                yield TextDelta(text=piece)
        yield response


def _response(reply: Reply, request: ModelRequest) -> ModelResponse:
    requests = tuple(
        ToolRequest(id=f"offline-{request.call}-{number}", name=call.name, arguments=call.arguments)
        for number, call in enumerate(reply.calls, start=1)
    )
    usage = Usage(input_tokens=0, output_tokens=0, cost=0.0)
    message = Message(role="assistant", content=reply.text, tool_requests=requests)
    return ModelResponse(message=message, usage=usage, finish_reason=reply.finish_reason, model="offline")


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:] if text else []


def _without_attachments(request: ModelRequest) -> ModelRequest:
    """``request`` without images and files; a warning names them once."""
    from react_run.parts import Part

    messages, left_out = [], []
    for message in request.messages:
        if not isinstance(message.content, str):
            parts = [part for part in message.content if isinstance(part, Part)]
            left_out += [part.label for part in parts]
            kept = [part for part in message.content if not isinstance(part, Part)]
            message = replace(message, content=replace(message, content=kept).text)
        messages.append(message)
    if left_out and request.call == 1:
        _log.warning("the offline model looks at no attachments: %s", ", ".join(left_out))
    return replace(request, messages=messages)
