"""What all remote models share: address, credentials and generation settings."""

from __future__ import annotations

import logging
import os
import re
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, SecretStr, field_validator

from react_run.errors import ModelError
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta, Usage
from react_run.models import prices
from react_run.models.base import Model, counted

if TYPE_CHECKING:
    from react_run.models.typed_answers import AnswerTools

_OTHER_NAMES: Mapping[str, str] = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The alternative names of a limit, for servers that refuse the other one."""

_ABILITIES: Mapping[str, str] = {"image": "supports_vision", "application": "supports_pdf_input"}
"""The keys in the table of known models for reading images and PDF files."""
_ABOUT_PARTS = re.compile(
    r"image|vision|multi-?modal|\bfiles?\b|\bpdf\b|document|content.?(?:part|type)|mmproj", re.IGNORECASE
)

_ABOUT_FORMAT = re.compile(
    r"response.?(?:format|schema)|json.?schema|structured.?output|grammar|guided|invalid.?schema|final_answer",
    re.IGNORECASE,
)

NO_MODELS = "REACT_RUN_NO_MODELS"
"""The environment variable that blocks all models on other machines; its text is the reason."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

_log = logging.getLogger(__name__)


class _Tried(NamedTuple):
    """What was known when a request was sent; concurrent requests may find out more."""

    blind: bool
    way: str


class RemoteModel(Model):
    """The options that :class:`OpenAIModel` and :class:`LiteLLMModel` share. Neither retries by itself (S6)."""

    has_provider: ClassVar[bool] = True

    model: str = Field(min_length=1)
    """The model id."""
    base_url: str | None = None
    """The address of the API, such as `http://localhost:8000/v1`. Default: the provider's own address."""
    api_key: SecretStr | None = None
    """The API key. Default: the provider's usual environment variable, such as `OPENAI_API_KEY`."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Additional HTTP headers."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature. Default: the provider's."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Maximum tokens of one reply. Default: the provider's."""
    timeout: float = Field(default=300, gt=0)
    """Time limit for one request, in seconds, up to the last byte of the reply."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Additional request fields, passed through; `null` removes a field that would otherwise be sent."""
    window: int | None = Field(default=None, ge=1, alias="context_window")
    """The context window in tokens. Default: looked up for known models."""
    explicit_cache: bool | None = None
    """Whether to mark the stable part of the prompt with `cache_control`. Default: for Anthropic's models, which need
    it.
    """

    reads: list[str] | None = None
    """Attachment types the model can read, such as `[image/*, application/pdf]`; text is always readable. Default:
    looked up for known models, and tried with others."""

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be a URL that begins with http:// or https://")
        if parts.username or parts.password:
            raise ValueError("must not contain credentials: put them into api_key or headers")
        return url.rstrip("/")

    _left_out: dict[str, str] = PrivateAttr(default_factory=dict)
    """Fields that the provider refused, with their replacements (usually none)."""
    _answer_tools: AnswerTools | None = PrivateAttr(default=None)
    _refuses_answer_tool: bool = PrivateAttr(default=False)
    """Whether the provider refused the answer's schema as the schema of a tool."""
    _refuses_parts: bool = PrivateAttr(default=False)
    """Whether the provider refused an attachment because the model cannot read it."""

    @property
    def name(self) -> str:
        return self.model

    def missing_key(self) -> str:
        """The variable of a missing key; ``""`` if the key is set, or none is needed."""
        return ""

    def can_read(self, media_type: str) -> bool | None:
        if media_type.startswith("text/"):
            return True
        if self.reads is not None:
            return any(fnmatchcase(media_type, pattern) for pattern in self.reads)
        if self._refuses_parts:
            return False
        entry = next(filter(None, map(prices.known, self._table_ids())), None)
        return None if entry is None else bool(entry.get(_ABILITIES[media_type.partition("/")[0]]))

    def _table_ids(self) -> tuple[str, ...]:
        """The possible ids of this model in the table of known models."""
        return (self.model,)

    def _forget_encoded(self) -> None:
        """Release cached encodings of conversations."""

    def fields(self, request: ModelRequest, *, stream: bool, limit: str = "max_tokens") -> dict[str, object]:
        """The fields of a request besides model, messages and tools; later sources win: options, settings, request.

        Args:
            request: The request.
            stream: Whether to stream the reply, with usage.
            limit: The provider's name for ``max_tokens``.
        """
        fields: dict[str, object] = {"temperature": self.temperature, limit: self.max_tokens}
        if request.tools and request.tool_choice:
            fields["tool_choice"] = request.tool_choice
        if stream:
            fields |= {"stream": True, "stream_options": {"include_usage": True}}
        if (way := self.answers_by(request)) == "response_format":
            from react_run.models.typed_answers import response_format

            assert request.output_schema is not None  # otherwise there is no schema
            fields[way] = response_format(request.output_schema)
        for key, value in (*self.settings.items(), *request.settings.items()):
            if key in _OTHER_NAMES and value is not None:  # one limit, one field, whatever its name in the source
                fields.pop(_OTHER_NAMES[key], None)
                fields.pop(key, None)
                key = limit if key == "max_tokens" else key
            fields[key] = value
        fields = {self._left_out.get(key, key): value for key, value in fields.items()}
        return {key: value for key, value in fields.items() if key and value is not None}

    def _check_allowed(self) -> None:
        reason = os.environ.get(NO_MODELS, "")
        if reason and urlsplit(self.base_url or "").hostname not in _LOOPBACK:
            error = ModelError(f"{self.name} is blocked: {reason}", provider=self.kind, code="blocked", retryable=False)
            error.sent = False
            raise error

    def answers_by(self, request: ModelRequest) -> Literal["", "response_format", "tool"]:
        """How to request a typed answer; empty if there is no schema, or the settings already say how."""
        schema = request.output_schema
        if schema is None or "response_format" in self.settings or "response_format" in request.settings:
            return ""
        has_tools = bool(request.tools) and request.tool_choice != "none"
        by_format = schema.get("type") == "object" and "response_format" not in self._left_out
        if by_format and (self._formats_beside_tools or not has_tools):
            return "response_format"
        return "tool" if has_tools and not self._refuses_answer_tool else ""

    @property
    def _formats_beside_tools(self) -> bool:
        """Whether this provider's models still call tools if a response format is given."""
        return False

    def asked(self, request: ModelRequest) -> tuple[ModelRequest, str]:
        """``request`` with the tool for a typed answer, and the name of the tool, if there is one."""
        if self.answers_by(request) != "tool":
            return request, ""
        if self._answer_tools is None:
            from react_run.models.typed_answers import AnswerTools

            self._answer_tools = AnswerTools()
        return self._answer_tools.offered(request)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self._check_allowed()
        refused = 0
        while True:
            tried = _Tried(self._refuses_parts, self.answers_by(request))
            asked, tool = self.asked(request)
            try:
                return counted(_answered(await self._complete(asked), tool, request), refused)
            except ModelError as error:
                if (response := self._settled(error, request, tried)) is not None:
                    return counted(response, refused)
                refused += 1

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        self._check_allowed()
        refused, begun = 0, False
        while True:
            tried = _Tried(self._refuses_parts, self.answers_by(request))
            asked, tool = self.asked(request)
            try:
                async with aclosing(self._stream(asked)) as items:
                    async for item in items:
                        if isinstance(item, ModelResponse):
                            reply = counted(_answered(item, tool, request), refused)
                            if reply.text != item.text and not begun:
                                yield TextDelta(text=reply.text)
                            yield reply
                        else:
                            begun = True
                            yield item
                return
            except ModelError as error:
                if begun:
                    raise
                if (response := self._settled(error, request, tried)) is not None:
                    yield counted(response, refused)
                    return
                refused += 1

    @abstractmethod
    async def _complete(self, request: ModelRequest) -> ModelResponse:
        """Send one request."""

    @abstractmethod
    def _stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse, None]:
        """Send one request, streaming."""

    def _settled(self, error: ModelError, request: ModelRequest, tried: _Tried) -> ModelResponse | None:
        """The reply that ``error`` represents; ``None`` if another request, without the refused field, may help.

        Raises:
            ModelError: Neither applies.
        """
        if (
            error.code == "content_filter"
        ):  # some providers use a status where others use a finish reason (behaviour S3)
            usage = Usage(input_tokens=0, output_tokens=0, cost=0.0)
            message = Message(role="assistant", content=str(error))
            return ModelResponse(message=message, usage=usage, finish_reason="content_filter", model=self.model)
        if self._refused_part(error, request, tried):
            self._refuses_parts = True
            self._forget_encoded()
            words = (
                "from now on it gets their names, types and sizes; set `reads: []` in the agent file to avoid the "
                "attempt"
            )
            _log.warning("%s cannot read attachments (%s): %s.", self.name, error, words)
            return None
        if self._refused_format(error, tried):
            if tried.way == "tool":
                self._refuses_answer_tool = True
            else:
                self._left_out["response_format"] = ""
            words = "from now on another way is used; set `output_mode: prompt` to avoid the attempt"
            _log.warning("%s refuses the answer's format (%s): %s.", self.name, error, words)
            return None
        field = self._refused_field(error, request) if error.code == "unsupported_parameter" else ""
        if not field:
            raise error
        self._left_out[field] = _OTHER_NAMES.get(field, "")
        instead = f"sent as {self._left_out[field]}" if self._left_out[field] else "left out"
        _log.warning("%s refuses %s: it is %s from now on. Change it in the agent file.", self.name, field, instead)
        return None

    def _refused_part(self, error: ModelError, request: ModelRequest, tried: _Tried) -> bool:
        """Whether the error means that this model cannot read attachments, which only an attempt shows."""
        if tried.blind or self.reads is not None or error.status not in (400, 404, 415, 422, 500, 501):
            return False
        if _ABOUT_PARTS.search(str(error)) is None:
            return False
        from react_run.models.wire_parts import carries_parts

        return carries_parts(request.messages)

    def _refused_format(self, error: ModelError, tried: _Tried) -> bool:
        """Whether the error concerns the schema of the answer, which some servers and models do not accept."""
        if not tried.way or error.status not in (400, 404, 422, 500, 501):
            return False
        return error.parameter == "response_format" or _ABOUT_FORMAT.search(str(error)) is not None

    def _refused_field(self, error: ModelError, request: ModelRequest) -> str:
        """The field that a provider refused by name, if it was sent unchanged."""
        sent = {
            "temperature",
            *_OTHER_NAMES,
            "stream_options",
            *self.settings,
            *request.settings,
        } - self._left_out.keys()
        sent -= set(self._left_out.values())
        if error.parameter in sent:
            return error.parameter
        words = str(error)
        named = [(found.start(), field) for field in sent if (found := re.search(rf"\b{re.escape(field)}\b", words))]
        return min(named)[1] if named and not error.parameter else ""


def _answered(response: ModelResponse, tool: str, request: ModelRequest) -> ModelResponse:
    """``response`` with the call of ``tool`` as its text."""
    if not tool or not response.message.tool_requests:
        return response
    from react_run.models.typed_answers import answered

    assert request.output_schema is not None  # there is no tool otherwise
    return answered(response, tool, request.output_schema)
