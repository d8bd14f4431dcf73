"""The test double: answers from a list of replies, and refuses requests that a provider would refuse."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from react_run.components.option_errors import unknown_key
from react_run.errors import ModelError
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta, ToolRequest, Usage
from react_run.models.base import Model
from react_run.models.protocol import RequestChecker


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class ScriptedCall(_Strict):
    """One tool call of a scripted reply."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None


class ScriptedError(_Strict):
    """A provider failure."""

    message: str = "scripted error"
    status: int | None = None
    code: str = ""
    retry_after: float | None = None
    retryable: bool | None = None


class ScriptedUsage(_Strict):
    """The usage of a reply."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None


class ScriptedReply(_Strict):
    """A reply in the long form."""

    text: str = ""
    tool_calls: list[ScriptedCall] = []
    finish_reason: str | None = None
    usage: ScriptedUsage | None = None
    error: ScriptedError | None = None
    delay: float = Field(default=0.0, ge=0)
    response: dict[str, Any] | None = None
    stream: list[Any] | None = None
    extra: dict[str, Any] = {}


Reply = str | ScriptedReply | ModelResponse | Callable[[ModelRequest], object]


class _Seen:
    """The requests that a scripted model has received so far."""

    def __init__(self, keep: int) -> None:
        self.requests: deque[ModelRequest] = deque(maxlen=keep)
        self.checker = RequestChecker()
        self.count = 0


class ScriptedModel(Model):
    """Answers the n-th model call of a run with the n-th reply; for tests, demos and recorded sessions.

    A reply is text, a mapping (``text``, ``tool_calls``, ``finish_reason``, ``usage``, ``error``, ``delay``, or a whole
    provider body as ``response`` or ``stream``), or, from Python, a function of the request that returns one of these.

    Raises:
        ProtocolViolation: The request is one that a provider would refuse.
    """

    kind = "scripted"

    replies: list[Any] = Field(min_length=1)
    """The replies, in order."""
    repeat_last: bool = True
    """Whether to repeat the last reply; otherwise running out of replies is an error."""
    scope: Literal["run", "agent"] = "run"
    """`run`: every run starts with the first reply. `agent`: the list is used up across runs."""
    keep_requests: int = Field(default=10_000, ge=0)
    """How many of the latest requests `.requests` keeps."""
    reads: list[str] = Field(default_factory=list)
    """Attachment types it receives, such as `[image/*]`; for others it gets a note."""
    window: int | None = None
    """The context window to report, in tokens."""

    @field_validator("replies")
    @classmethod
    def _known_forms(cls, replies: list[Any]) -> list[Reply]:
        return [_parsed(reply) for reply in replies]

    @cached_property
    def seen(self) -> _Seen:
        """The requests received so far."""
        return _Seen(self.keep_requests)

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def context_window(self) -> int | None:
        return self.window

    def can_read(self, media_type: str) -> bool:
        return media_type.startswith("text/") or any(fnmatchcase(media_type, pattern) for pattern in self.reads)

    @property
    def requests(self) -> list[ModelRequest]:
        """The requests received, oldest first."""
        return list(self.seen.requests)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        reply = self._next(request)
        if isinstance(reply, ScriptedReply):
            if reply.delay:
                await asyncio.sleep(reply.delay)
            if reply.error is not None:
                raise _error(reply.error)
        return _response(reply, request.call)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        response = await self.complete(request)
        for piece in re.findall(r"\s*\S+|\s+\Z", response.message.text):
            yield TextDelta(text=piece)
        yield response

    def _next(self, request: ModelRequest) -> Reply:
        seen = self.seen
        seen.checker.check(request)
        seen.requests.append(request)
        seen.count += 1
        number = request.call if self.scope == "run" else seen.count
        if number > len(self.replies) and not self.repeat_last:
            problem = f"the scripted model has no reply for call {number}"
            raise ModelError(problem, provider="scripted", code="exhausted")
        reply: Reply = self.replies[min(number, len(self.replies)) - 1]
        while callable(reply):
            reply = _parsed(reply(request))
        return reply


def _parsed(reply: object) -> Reply:
    if isinstance(reply, (str, ScriptedReply, ModelResponse)) or callable(reply):
        return reply
    if isinstance(reply, Mapping):
        keys = sorted(ScriptedReply.model_fields)
        for key in reply:
            if key not in keys:
                raise unknown_key(str(key), keys, [])
        return ScriptedReply.model_validate(reply)
    raise ValueError(f"a reply is text or a mapping, not {type(reply).__name__}")


def _error(error: ScriptedError) -> ModelError:
    transient = error.status is None or error.status in (408, 429) or error.status >= 500
    return ModelError(
        error.message,
        provider="scripted",
        status=error.status,
        code=error.code,
        retryable=transient if error.retryable is None else error.retryable,
        retry_after=error.retry_after,
    )


def _response(reply: Reply, call: int) -> ModelResponse:
    if isinstance(reply, ModelResponse):
        return reply
    if isinstance(reply, str):
        return ModelResponse(message=Message(role="assistant", content=reply), model="scripted")
    assert isinstance(reply, ScriptedReply)  # the other forms are handled above and in _next
    if reply.response is not None or reply.stream is not None:
        return _provider_body(reply)
    requests = tuple(
        ToolRequest(id=wanted.id or f"call_{call}_{index}", name=wanted.name, arguments=_arguments(wanted.arguments))
        for index, wanted in enumerate(reply.tool_calls, 1)
    )
    return ModelResponse(
        message=Message(role="assistant", content=reply.text, tool_requests=requests, extra=reply.extra),
        usage=Usage(**reply.usage.model_dump()) if reply.usage else Usage(),
        finish_reason=reply.finish_reason or ("tool_calls" if requests else "stop"),
        model="scripted",
    )


def _arguments(arguments: dict[str, Any] | str) -> dict[str, Any] | str:
    return arguments if isinstance(arguments, str) else dict(arguments)


def _provider_body(reply: ScriptedReply) -> ModelResponse:
    from react_run.models.provider import StreamAssembler, parse_response

    if reply.response is not None:
        return parse_response(reply.response, provider="scripted", model="scripted")
    assembler = StreamAssembler(provider="scripted", model="scripted")
    for chunk in reply.stream or ():
        assembler.feed(chunk)
    return assembler.finish()
