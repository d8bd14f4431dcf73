"""Isolates LiteLLM, and converts its errors, replies and prices."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from react_run.components.errors import near
from react_run.components.kinds import installed
from react_run.errors import ModelError
from react_run.models.coerce import as_count, as_mapping, first_text
from react_run.models.failures import failure, model_error
from react_run.models.reply import transport_error


@cache
def library() -> Any:  # the LiteLLM module has its own types
    """Import LiteLLM on first use, and configure it to stay quiet and offline."""
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
    # Its later imports warn about its own type hints.
    warnings.filterwarnings("ignore", message="Items? .* on TypedDict class", category=UserWarning)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


_users: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()


def use_clients() -> None:
    """Count a model that uses LiteLLM's HTTP clients for the running loop."""
    loop = asyncio.get_running_loop()
    _users[loop] = _users.get(loop, 0) + 1


async def close_clients(_: None) -> None:
    """After the last user, close the HTTP clients that LiteLLM would leave open for the running loop."""
    loop = asyncio.get_running_loop()
    _users[loop] -= 1
    known: Any = getattr(library(), "in_memory_llm_clients_cache", None)
    if _users[loop] or not hasattr(known, "update_cache_key_with_event_loop"):
        return  # other models on the loop share them, or another version keeps them elsewhere
    suffix = known.update_cache_key_with_event_loop("")
    keys = [key for key in known.cache_dict if suffix and key.endswith(suffix)]
    clients: list[_Closable] = [
        known.cache_dict.pop(key) for key in keys
    ]  # before the first await, so that no other task sees them
    for client in clients:
        with suppress(Exception):  # ignore any error: the loop is ending
            await client.close()


class _Closable(Protocol):
    async def close(self) -> None: ...


def as_model_error(error: Exception, provider: str, secrets: list[str]) -> ModelError:
    """Convert LiteLLM's errors by HTTP status; network errors and timeouts as everywhere."""
    status = getattr(error, "status_code", None)
    name = type(error).__name__
    words = str(error).removeprefix(f"litellm.{name}: ").partition("Traceback (most recent call last)")[0].strip()
    if unsent := _unsent(words, provider, secrets):
        return unsent
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


_NO_KEY = re.compile(
    r"missing (credentials|.{0,40}api[_ ]key)|unable to locate credentials|api_key .{0,40}must be set", re.IGNORECASE
)
_KEY_NAME = re.compile(r"\b[A-Z]+(?:_[A-Z]+)*_(?:KEY|TOKEN)\b")
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided.{0,2000}?You passed model=(\S{1,500})", re.DOTALL)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_HOST = re.compile(r"Cannot connect to host (\S{1,300})")


def _unsent(words: str, provider: str, secrets: list[str]) -> ModelError | None:
    """The error for a request that LiteLLM never sent: it blames the provider, sometimes with an invented status."""
    if _NO_KEY.search(words):
        name = _KEY_NAME.search(words)
        whose = provider if provider != "litellm" else "the model"
        problem = f"no key for {whose}: {f'set api_key, or {name[0]}' if name else words}"
        return model_error("auth", problem, provider=provider, sent=False)
    if found := _NO_PROVIDER.search(words):
        problem = (
            f"no provider is known for {found[1]!r}: write provider/model, or set base_url for a server of your own."
            f"{near(found[1], installed('models'))}"
        )
        return model_error("not_found", problem, provider=provider, sent=False)
    if found := _NO_MODULE.search(words):
        problem = f"{provider} needs a package that is not installed: {found[0]}"
        return model_error("invalid_request", problem, provider=provider, sent=False)
    if found := _NO_HOST.search(words):
        _, bracket, reason = words[found.end() :].rstrip().partition("[")
        why = f" [{reason}" if bracket and reason.endswith("]") else ""
        problem = f"the connection to {provider} ({found[1]}) failed{why}"
        return model_error("connection", problem, provider=provider, secrets=secrets)
    return None


def _said(error: Exception, words: str) -> object:
    said = as_mapping(getattr(error, "body", None))
    return {"error": {**said, "message": words}}


def _headers(error: Exception) -> Mapping[str, str]:
    found = getattr(error, "litellm_response_headers", None) or getattr(getattr(error, "response", None), "headers", {})
    return {str(key).lower(): str(value) for key, value in dict(found or {}).items()}


def reason_received(stream: object) -> str:
    """The provider's real finish reason: LiteLLM invents one for a truncated stream (behaviour A5b)."""
    names = ("received_finish_reason", "intermittent_finish_reason")
    return first_text(getattr(stream, name, None) for name in names)


def without_guess(chunk: dict[str, object], stream: Any) -> dict[str, object]:
    """``chunk`` without usage that LiteLLM counted itself because the provider reported none (behaviour L8)."""
    seen = getattr(stream, "chunks", None)
    if chunk.get("usage") and seen and not any(getattr(each, "usage", None) for each in seen):
        del chunk["usage"]
    return chunk


def reply_as_data(reply: Any, model: str) -> dict[str, object]:  # LiteLLM's own types
    """A reply or chunk as plain data, with its price."""
    data: dict[str, object] = reply.model_dump(exclude_none=True, warnings=False)
    usage = as_mapping(data.get("usage"))
    if usage.get("prompt_tokens") or usage.get("completion_tokens"):
        data["usage"] = {"cost": _cost(model, usage), **usage}
    else:
        data.pop("usage", None)  # its zeros mean that the provider reported nothing
    return data


def _cost(model: str, usage: Mapping[str, object]) -> float | None:
    """The cost in USD by LiteLLM's table and rules; ``None`` if the price is unknown (behaviour L8)."""
    cached = as_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    try:
        prompt, completion = library().cost_per_token(
            model=model,
            prompt_tokens=as_count(usage.get("prompt_tokens")) or 0,
            completion_tokens=as_count(usage.get("completion_tokens")) or 0,
            cache_read_input_tokens=as_count(usage.get("cache_read_input_tokens")) or as_count(cached) or 0,
            cache_creation_input_tokens=as_count(usage.get("cache_creation_input_tokens")) or 0,
        )
    except Exception:  # LiteLLM raises a plain Exception for a model without a price
        return None
    return float(prompt + completion)
