"""Every provider that LiteLLM knows, by LiteLLM's ids: ``anthropic/…``, ``gemini/…``, ``bedrock/…``, ``ollama/…``.

LiteLLM is imported inside the first call, because its import costs seconds, and set up to keep to itself: prices from
the table it ships, no network and no ``.env`` at import, no telemetry, no retries, nothing printed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from functools import cache
from typing import Any, Protocol, cast

from pydantic import PrivateAttr

from react_run.errors import ModelError
from react_run.messages import Message, ModelRequest, ModelResponse, TextDelta
from react_run.models import prices
from react_run.models.failures import failure, model_error
from react_run.models.http import transport_error
from react_run.models.per_loop import PerLoop
from react_run.models.provider import StreamAssembler, parse_response, request_ids
from react_run.models.remote import RemoteModel
from react_run.models.values import count, first_text, mapping
from react_run.models.wire import BREAKPOINT, breakpoints, message_json

_OLLAMA_WINDOW = 16_384


class LiteLLMModel(RemoteModel):
    """Calls any provider through LiteLLM's async API. Parameters that a provider does not know are dropped."""

    kind = "litellm"

    _held: PerLoop[None] = PrivateAttr(default_factory=lambda: PerLoop(lambda: None, _close_clients))

    @property
    def context_window(self) -> int | None:
        if self._ollama:
            return self.window or _OLLAMA_WINDOW
        known = prices.context_window(self.model) or prices.context_window(self.model.partition("/")[2])
        return self.window or known

    async def close(self) -> None:
        await self._held.close()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        await self._ready()
        try:
            async with asyncio.timeout(self.timeout):
                reply = await self._call(request, stream=False)
        except Exception as error:
            raise self._typed(error) from None
        taken = request_ids(request.messages)
        return parse_response(_as_json(reply, self._id), provider=self._provider, model=self.model, taken=taken)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
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
                    yield _without_guess(_as_json(chunk, self._id), stream)
            except Exception:
                # What fails after the reply is complete takes nothing away from it; LiteLLM may hold its end back.
                if not (reason := _reason_received(stream)):
                    raise
                yield {"choices": [{"delta": {}, "finish_reason": reason}]}
            finally:
                if hasattr(stream, "aclose"):
                    await stream.aclose()
        except Exception as error:
            raise self._typed(error) from None
        if hasattr(stream, "received_finish_reason") and not _reason_received(stream):
            words = f"the stream of {self._provider} ended before the reply was complete"
            raise model_error("incomplete", words, provider=self._provider)

    async def _call(self, request: ModelRequest, *, stream: bool) -> Any:  # LiteLLM's own types
        litellm = library()
        if request.tools and "tools" not in (litellm.get_supported_openai_params(self._id) or ("tools",)):
            # It would drop them, and the model would answer as if there were none.
            raise model_error("no_tools", f"{self.model} does not support tools", provider=self._provider)
        return await litellm.acompletion(
            model=self._id,
            messages=self._messages(request),
            **({"tools": [tool.wire for tool in request.tools]} if request.tools else {}),
            **({"api_base": self.base_url} if self.base_url else {}),
            **({"api_key": self.api_key.get_secret_value()} if self.api_key else {}),
            **({"extra_headers": self.headers} if self.headers else {}),
            **({"num_ctx": self.context_window} if self._ollama else {}),
            timeout=self.timeout,
            num_retries=0,
            max_retries=0,
            drop_params=True,
            **self.fields(request, stream=stream),
        )

    async def _ready(self) -> None:
        """Before the first call, outside its time limit: the import takes seconds, during which the loop goes on."""
        if "litellm" not in sys.modules:
            await asyncio.to_thread(library)
        await self._held.get()

    def _messages(self, request: ModelRequest) -> list[dict[str, object]]:
        ends = breakpoints(request.messages) if self._explicit_cache else frozenset()
        return [_marked(message) if n in ends else message_json(message) for n, message in enumerate(request.messages)]

    def _typed(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        original = getattr(error, "original_exception", None)
        if isinstance(original, Exception):
            error = original
        secrets = [self.api_key.get_secret_value()] if self.api_key else []
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


@cache
def library() -> Any:  # the LiteLLM module; its types are its own
    """LiteLLM, imported on first use and set up to stay quiet and offline."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    mode = os.environ.get("LITELLM_MODE")
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # otherwise it reads the .env file of the working directory
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
    if mode is None:
        del os.environ["LITELLM_MODE"]
    else:
        os.environ["LITELLM_MODE"] = mode
    # What it imports later warns about its own type hints.
    warnings.filterwarnings("ignore", message="Items? .* on TypedDict class", category=UserWarning)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


async def _close_clients(_: None) -> None:
    """Close the HTTP clients that LiteLLM made for the running loop and would leave open."""
    known: Any = getattr(library(), "in_memory_llm_clients_cache", None)
    if not hasattr(known, "update_cache_key_with_event_loop"):
        return  # another version, which keeps them elsewhere
    suffix = known.update_cache_key_with_event_loop("")
    for key in [key for key in known.cache_dict if suffix and key.endswith(suffix)]:
        client = cast("_Closable", known.cache_dict.pop(key))
        with suppress(Exception):  # whatever it is, the loop is ending
            await client.close()


class _Closable(Protocol):
    async def close(self) -> None: ...


def as_model_error(error: Exception, provider: str, secrets: list[str]) -> ModelError:
    """LiteLLM's errors by their HTTP status; errors of the network and the clock as everywhere."""
    status = getattr(error, "status_code", None)
    words = str(error).removeprefix(f"litellm.{type(error).__name__}: ")
    name = type(error).__name__
    if name == "Timeout" or isinstance(error, TimeoutError):
        return model_error("timeout", f"{provider} did not answer in time: {words}", provider=provider, secrets=secrets)
    if name == "APIConnectionError":
        return model_error(
            "connection", f"the connection to {provider} failed: {words}", provider=provider, secrets=secrets
        )
    if name == "ContextWindowExceededError":
        status, words = 400, f"context_length_exceeded: {words}"
    if isinstance(status, int):
        return failure(status, _said(error, words), _headers(error), provider=provider, secrets=secrets)
    typed = transport_error(error, provider, {})
    if typed is not None:
        return typed
    problem = f"LiteLLM cannot ask {provider}: {name}: {words}"
    return model_error("invalid_request", problem, provider=provider, retryable=False, secrets=secrets)


def _said(error: Exception, words: str) -> object:
    said = mapping(getattr(error, "body", None))
    return {"error": {**said, "message": words}}


def _headers(error: Exception) -> Mapping[str, str]:
    found = getattr(error, "litellm_response_headers", None) or getattr(getattr(error, "response", None), "headers", {})
    return {str(key).lower(): str(value) for key, value in dict(found or {}).items()}


def _reason_received(stream: object) -> str:
    """The finish reason that the provider sent: LiteLLM invents one for a stream that was cut (behaviour A5b)."""
    names = ("received_finish_reason", "intermittent_finish_reason")
    return first_text(getattr(stream, name, None) for name in names)


def _without_guess(chunk: dict[str, object], stream: Any) -> dict[str, object]:
    """``chunk`` without usage that LiteLLM counted itself because the provider reported none (behaviour L8)."""
    seen = getattr(stream, "chunks", None)
    if chunk.get("usage") and seen and not any(getattr(each, "usage", None) for each in seen):
        del chunk["usage"]
    return chunk


def _as_json(reply: Any, model: str) -> dict[str, object]:  # LiteLLM's own types
    """A reply or chunk as plain data, its usage priced."""
    data: dict[str, object] = reply.model_dump(exclude_none=True, warnings=False)
    usage = mapping(data.get("usage"))
    if usage.get("prompt_tokens") or usage.get("completion_tokens"):
        data["usage"] = {"cost": _cost(model, usage), **usage}
    else:
        data.pop("usage", None)  # its zeros for a provider that reports nothing
    return data


def _marked(message: Message) -> dict[str, object]:
    if message.role == "tool":  # here the mark belongs to the whole result
        return {**message_json(message), "cache_control": BREAKPOINT}
    return message_json(message, breakpoint_here=True)


def _cost(model: str, usage: Mapping[str, object]) -> float | None:
    """USD by LiteLLM's own table and rules; ``None`` when it does not know the price (behaviour L8)."""
    cached = mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    try:
        prompt, completion = library().cost_per_token(
            model=model,
            prompt_tokens=count(usage.get("prompt_tokens")) or 0,
            completion_tokens=count(usage.get("completion_tokens")) or 0,
            cache_read_input_tokens=count(usage.get("cache_read_input_tokens")) or count(cached) or 0,
            cache_creation_input_tokens=count(usage.get("cache_creation_input_tokens")) or 0,
        )
    except Exception:  # LiteLLM raises a plain Exception for a model without a price
        return None
    return float(prompt + completion)
