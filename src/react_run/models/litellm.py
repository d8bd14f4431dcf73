"""Every provider that LiteLLM knows, by LiteLLM's ids: ``anthropic/…``, ``gemini/…``, ``bedrock/…``, ``ollama/…``.

LiteLLM is imported in the first call, because its import takes seconds, and isolated: prices from its own table, no
network and no ``.env`` at import, no telemetry, no retries, no output.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Any

from pydantic import PrivateAttr, field_validator

from react_run.errors import ModelError
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta
from react_run.models import prices
from react_run.models.failures import model_error
from react_run.models.key_hosts import NO_KEY, can_do_without, may_take_key, wrong_field
from react_run.models.known_ids import missing_key, provider_of
from react_run.models.litellm_library import (
    as_model_error,
    close_clients,
    library,
    reason_received,
    reply_as_data,
    use_clients,
    without_guess,
)
from react_run.models.per_loop import PerLoop
from react_run.models.provider import StreamAssembler, parse_response, request_ids
from react_run.models.remote import RemoteModel
from react_run.models.wire import BREAKPOINT, NO_OUTPUT, breakpoints, message_json
from react_run.secrets import looks_secret

_OLLAMA_WINDOW = 16_384


class LiteLLMModel(RemoteModel):
    """Calls any provider through LiteLLM's async API. Parameters that a provider does not support are dropped."""

    kind = "litellm"

    _held: PerLoop[None] = PrivateAttr(default_factory=lambda: PerLoop(use_clients, close_clients))

    @field_validator("settings")
    @classmethod
    def _name_no_address(cls, settings: dict[str, Any]) -> dict[str, Any]:
        for name, value in settings.items():
            if problem := wrong_field(name, value):
                raise ValueError(problem)
        return settings

    @property
    def context_window(self) -> int | None:
        if self._ollama:
            return self.window or _OLLAMA_WINDOW
        known = prices.context_window(self.model) or prices.context_window(self.model.partition("/")[2])
        return self.window or known

    def missing_key(self) -> str:
        if self.api_key is not None or self.headers or self.base_url:
            return ""
        return missing_key(provider_of(self.model))

    async def close(self) -> None:
        await self._held.close()

    async def _complete(self, request: ModelRequest) -> ModelResponse:
        await self._ready()
        try:
            async with asyncio.timeout(self.timeout):
                reply = await self._call(request, stream=False)
        except Exception as error:
            raise self._typed(error) from None
        taken = request_ids(request.messages)
        return parse_response(reply_as_data(reply, self._id), provider=self._provider, model=self.model, taken=taken)

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse, None]:
        assembler = StreamAssembler(provider=self._provider, model=self.model, taken=request_ids(request.messages))
        async with aclosing(self._chunks(request)) as chunks:
            async for chunk in chunks:
                if text := assembler.feed(chunk):
                    yield TextDelta(text=text)
        yield assembler.finish()

    async def _chunks(self, request: ModelRequest) -> AsyncGenerator[object, None]:
        await self._ready()
        deadline = asyncio.get_running_loop().time() + self.timeout
        try:
            async with asyncio.timeout_at(deadline):
                stream = await self._call(request, stream=True)
            try:
                while True:
                    async with asyncio.timeout_at(deadline):
                        chunk = await anext(stream, None)
                    if chunk is None:
                        break
                    yield without_guess(reply_as_data(chunk, self._id), stream)
            except Exception:
                # A failure after the reply is complete does not matter; LiteLLM may hold its end back.
                if not (reason := reason_received(stream)):
                    raise
                yield {"choices": [{"delta": {}, "finish_reason": reason}]}
            finally:
                if hasattr(stream, "aclose"):
                    await stream.aclose()
        except Exception as error:
            raise self._typed(error) from None
        if hasattr(stream, "received_finish_reason") and not reason_received(stream):
            words = f"the stream of {self._provider} ended before the reply was complete"
            raise model_error("incomplete", words, provider=self._provider)

    async def _call(self, request: ModelRequest, *, stream: bool) -> Any:  # LiteLLM's own types
        litellm = library()
        if request.tools and "tools" not in (litellm.get_supported_openai_params(self._id) or ("tools",)):
            # LiteLLM would drop the tools, and the model would answer as if there were none.
            raise model_error("no_tools", f"{self.model} does not support tools", provider=self._provider)
        fields = self.fields(request, stream=stream)
        for name, value in fields.items():
            if problem := wrong_field(name, value):
                raise model_error("invalid_request", problem, provider=self._provider)
        return await litellm.acompletion(
            model=self._id,
            messages=self._messages(request),
            **({"tools": [tool.wire for tool in request.tools]} if request.tools else {}),
            **({"api_base": self.base_url} if self.base_url else {}),
            **self._key(),
            **({"extra_headers": self.headers} if self.headers else {}),
            **({"num_ctx": self.context_window} if self._ollama else {}),
            timeout=self.timeout,
            num_retries=0,
            max_retries=0,
            drop_params=True,
            **fields,
        )

    def _key(self) -> dict[str, str]:
        """The key to send: without one, LiteLLM takes the environment's, which may not be sent to every address."""
        if self.api_key is not None:
            return {"api_key": self.api_key.get_secret_value()}
        if may_take_key(self._provider, self.base_url):
            return {}
        if can_do_without(self._provider):
            return {"api_key": NO_KEY}
        problem = (
            f"LiteLLM would send the environment's key for {self._provider} to {self.base_url}, which is not its "
            "own host: write api_key"
        )
        raise model_error("auth", problem, provider=self._provider, sent=False)

    def secrets_from_environment(self) -> Iterable[str]:
        """LiteLLM looks up keys in the environment, under its own names for each provider."""
        return [name for name in os.environ if looks_secret(name)] if self.api_key is None else []

    async def _ready(self) -> None:
        """Before the first call, outside its timeout: the import takes seconds, while the event loop keeps running."""
        if variable := self.missing_key():  # known before LiteLLM is imported
            problem = f"no key for {provider_of(self.model)}: set api_key, or {variable}"
            raise model_error("auth", problem, provider=self._provider, sent=False)
        if "litellm" not in sys.modules:
            await asyncio.to_thread(library)
        await self._held.get()

    def _messages(self, request: ModelRequest) -> list[dict[str, object]]:
        ends = breakpoints(request.messages) if self._explicit_cache else frozenset()
        messages = [
            _marked(message, self.can_read) if n in ends else message_json(message, can_read=self.can_read)
            for n, message in enumerate(request.messages)
        ]
        if all(type(message.content) is str for message in request.messages):
            return messages
        from react_run.models.wire_parts import behind_results

        return list(behind_results(messages, empty=NO_OUTPUT, keep_images=self._provider == "anthropic"))

    @property
    def _formats_beside_tools(self) -> bool:
        return self._provider in ("openai", "azure")

    def _table_ids(self) -> tuple[str, ...]:
        return (self.model, self.model.partition("/")[2])

    def _typed(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        original = getattr(error, "original_exception", None)
        if isinstance(original, Exception):
            error = original
        secrets = [self.api_key.get_secret_value()] if self.api_key else []
        secrets += [os.environ.get(name, "") for name in self.secrets_from_environment()]
        return as_model_error(error, self._provider, secrets)

    @property
    def _provider(self) -> str:
        return self.model.partition("/")[0] if "/" in self.model else "litellm"

    @property
    def _ollama(self) -> bool:
        return self._provider in ("ollama", "ollama_chat")

    @property
    def _id(self) -> str:
        # LiteLLM's plain ollama route has no tools: it writes them into the prompt.
        return self.model.replace("ollama/", "ollama_chat/", 1) if self._provider == "ollama" else self.model

    @property
    def _explicit_cache(self) -> bool:
        known = "claude" in self.model or "anthropic" in self.model
        return known if self.explicit_cache is None else self.explicit_cache


def _marked(message: Message, can_read: Callable[[str], bool | None]) -> dict[str, object]:
    if message.role == "tool":  # here the marker applies to the whole result
        return {**message_json(message, can_read=can_read), "cache_control": BREAKPOINT}
    return message_json(message, breakpoint_here=True, can_read=can_read)
