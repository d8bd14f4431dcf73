"""What every model behind a network has in common: where it is, who asks, and how it generates."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from react_run.messages import ModelRequest
from react_run.models.base import Model


class RemoteModel(Model):
    """The options that :class:`OpenAIModel` and :class:`LiteLLMModel` share. Neither retries by itself (S6)."""

    has_provider: ClassVar[bool] = True

    model: str = Field(min_length=1)
    """The model id."""
    base_url: str | None = None
    """Where the API lives, such as `http://localhost:8000/v1`. Unset: the provider's own address."""
    api_key: SecretStr | None = None
    """The key. Unset: the provider's usual environment variable, such as `OPENAI_API_KEY`."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further HTTP headers."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature. Unset: the provider's default."""
    max_tokens: int | None = Field(default=None, ge=1)
    """The most tokens one reply may have. Unset: the provider's default."""
    timeout: float = Field(default=300, gt=0)
    """Seconds for one request, from sending it to the last byte of the reply."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, passed through; `null` leaves out a field that would be sent otherwise."""
    window: int | None = Field(default=None, ge=1, alias="context_window")
    """Tokens the model can read at once. Unset: looked up for known models."""
    explicit_cache: bool | None = None
    """Mark the stable part of the prompt with `cache_control`. Unset: for Anthropic's models, which need it."""

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

    @property
    def name(self) -> str:
        return self.model

    def fields(self, request: ModelRequest, *, stream: bool, limit: str = "max_tokens") -> dict[str, object]:
        """The fields of a request besides model, messages and tools; later sources win: options, settings, request.

        Args:
            request: What is asked for.
            stream: Whether the reply is to be streamed, its usage included.
            limit: What the provider calls ``max_tokens``.
        """
        fields: dict[str, object] = {"temperature": self.temperature, limit: self.max_tokens}
        if request.tools and request.tool_choice:
            fields["tool_choice"] = request.tool_choice
        if stream:
            fields |= {"stream": True, "stream_options": {"include_usage": True}}
        fields |= {**self.settings, **request.settings}
        return {key: value for key, value in fields.items() if value is not None}
