"""Any endpoint that speaks OpenAI's chat completions: OpenAI, OpenRouter, vLLM, Ollama, LM Studio, llama.cpp, …"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, PrivateAttr

from react_run.errors import ModelError
from react_run.messages import ModelRequest, ModelResponse, TextDelta
from react_run.models import prices
from react_run.models.failures import model_error
from react_run.models.http import Connections
from react_run.models.provider import StreamAssembler, parse_response
from react_run.models.remote import RemoteModel
from react_run.models.reply import USAGE_TIME, Reply, decode
from react_run.models.wire import Encoded, Wire

OPENAI_URL = "https://api.openai.com/v1"

_KEY_VARIABLES: Mapping[str, str] = {"api.openai.com": "OPENAI_API_KEY", "openrouter.ai": "OPENROUTER_API_KEY"}
_ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_OLLAMA_PORT = 11434
_OLLAMA_WINDOW = 4096


def _address_of_environment() -> str:
    """The variables for OpenAI's address on this machine, such as a gateway; OpenAI's SDK and LiteLLM read them as
    well.
    """
    return next((url.rstrip("/") for name in _ADDRESSES if (url := os.environ.get(name, "").strip())), "")


class OpenAIModel(RemoteModel):
    """Calls an OpenAI-compatible endpoint over one pool of keep-alive connections."""

    kind = "openai"

    model: str = Field(min_length=1)
    """The model id. Sent exactly as written when `base_url` is set; otherwise without a leading `openai/`."""

    _wire: Wire = PrivateAttr()
    _connections: Connections = PrivateAttr()
    _host: str = PrivateAttr()
    _is_gateway: bool = PrivateAttr(default=False)

    def model_post_init(self, _: object) -> None:
        parts = urlsplit(self.base_url or _address_of_environment() or OPENAI_URL)
        self._is_gateway = not self.base_url and parts.hostname != urlsplit(OPENAI_URL).hostname
        self._host = parts.hostname or ""
        cached = self.explicit_cache
        if cached is None:
            cached = self._host == "openrouter.ai" and self.model.startswith("anthropic/")
        self._wire = Wire(explicit_cache=cached, can_read=self.can_read)
        url = urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/chat/completions"))  # keep a query at the end
        self._connections = Connections(url=url, provider=self._host, timeout=self.timeout)

    @property
    def context_window(self) -> int | None:
        if self.window is not None:
            return self.window
        if self._host == "api.openai.com":
            return prices.context_window(self._sent_model)
        # Ollama truncates longer prompts silently, and its OpenAI endpoint offers no way to raise the limit.
        return _OLLAMA_WINDOW if urlsplit(self.base_url or "").port == _OLLAMA_PORT else None

    @property
    def _formats_beside_tools(self) -> bool:
        return self._host == "api.openai.com"

    def _table_ids(self) -> tuple[str, ...]:
        return (self._sent_model, f"openrouter/{self.model}")

    def _forget_encoded(self) -> None:
        self._wire.forget()

    async def open(self) -> None:
        await self._connections.open()

    async def close(self) -> None:
        await self._connections.close()
        self._wire.forget()

    async def _complete(self, request: ModelRequest) -> ModelResponse:
        encoded, reply = await self._post(request, stream=False)
        if not reply.is_event_stream:
            return self._response(await reply.json(), encoded)
        async for item in self._assembled(reply, encoded):
            if isinstance(item, ModelResponse):
                return item
        raise AssertionError("a stream ends with its response")

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelResponse, None]:
        encoded, reply = await self._post(request, stream=True)
        if reply.is_event_stream:
            async for item in self._assembled(reply, encoded):
                yield item
        else:
            response = self._response(await reply.json(), encoded)
            if response.text:
                yield TextDelta(text=response.text)
            yield response

    async def _assembled(self, reply: Reply, encoded: Encoded) -> AsyncIterator[TextDelta | ModelResponse]:
        assembler = StreamAssembler(provider=self._host, model=self.model, taken=encoded.ids)
        try:
            while (event := await reply.event()) is not None:
                if event == b"[DONE]":
                    await reply.drain()
                    break
                text = assembler.feed(decode(event, self._host))
                if assembler.finished:
                    reply.hurry(USAGE_TIME)
                if text:
                    yield TextDelta(text=text)
        except ModelError:
            if not assembler.finished:  # a failure after the reply is complete does not matter
                raise
        finally:
            await reply.close()
        yield self._priced(assembler.finish())

    async def _post(self, request: ModelRequest, *, stream: bool) -> tuple[Encoded, Reply]:
        encoded = self._wire.encode(request, self._head(request, stream=stream))
        headers = self._headers(stream=stream)
        return encoded, await self._connections.post(headers, encoded.pieces, encoded.length)

    def _response(self, body: object, encoded: Encoded) -> ModelResponse:
        return self._priced(parse_response(body, provider=self._host, model=self.model, taken=encoded.ids))

    def _priced(self, response: ModelResponse) -> ModelResponse:
        if response.usage.cost is not None or self._host != "api.openai.com" or "service_tier" in self.settings:
            return response
        return replace(response, usage=replace(response.usage, cost=prices.cost_of(self._sent_model, response.usage)))

    @property
    def _sent_model(self) -> str:
        return self.model if self.base_url else self.model.removeprefix("openai/")

    def _head(self, request: ModelRequest, *, stream: bool) -> dict[str, object]:
        # OpenAI's newer models refuse max_tokens; other servers only know that name.
        limit = "max_completion_tokens" if self._host == "api.openai.com" else "max_tokens"
        return {"model": self._sent_model, **self.fields(request, stream=stream, limit=limit)}

    def _headers(self, *, stream: bool) -> dict[str, str]:
        from react_run import __version__

        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if stream else "application/json",
            "Accept-Encoding": "identity" if stream else "gzip",
            "User-Agent": f"react-run/{__version__}",
        }
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        return headers | self.headers

    def secrets_from_environment(self) -> Iterable[str]:
        return (self._key_variable,) if self._key_variable and self.api_key is None else ()

    @property
    def _key_variable(self) -> str:
        """The variable with this server's key; only for a known host name over an encrypted connection."""
        if self._is_gateway:  # its address comes from the same environment as the key
            return "OPENAI_API_KEY"
        url = urlsplit(self.base_url or OPENAI_URL)
        if url.scheme != "https" or url.port not in (None, 443):
            return ""
        return _KEY_VARIABLES.get(self._host, "")

    def missing_key(self) -> str:
        if self.api_key is not None or self.headers:
            return ""
        variable = self._key_variable
        return "" if not variable or os.environ.get(variable, "").strip() else variable

    def _key(self) -> str:
        if self.api_key is not None:
            return self.api_key.get_secret_value().strip()
        variable = self._key_variable
        key = os.environ.get(variable, "").strip() if variable else ""
        if variable and not key and not self.headers:
            problem = f"no key for {self._host}: set api_key, or {variable}"
            raise model_error("auth", problem, provider=self._host, sent=False)
        return key
