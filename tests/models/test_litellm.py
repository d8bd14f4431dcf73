"""The client for every other provider: the same results, quiet, offline at import, nothing lost on the way."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.models.cases import TOOLS, Json
from tests.models.stub_server import Chunks, Raw, Reply, StubServer, as_chunks, completion, sse

from react_run import Message, ModelError, ModelRequest, ModelResponse, TextDelta, ToolRequest, Usage
from react_run.models.litellm import LiteLLMModel
from react_run.models.litellm_library import as_model_error, library
from react_run.models.provider import parse_response

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic):UserWarning"
)

HELLO = [Message(role="system", content="Be brief."), Message(role="user", content="Hello?")]
EVENTS = {"content-type": "text/event-stream"}


def model_at(server: StubServer, **options: Json) -> LiteLLMModel:
    given = {"model": "openai/stub", "base_url": server.url, "api_key": "sk-key-0123456789", "timeout": 20}
    return LiteLLMModel(**{**given, **options})


def ask(*messages: Message, **fields: Json) -> ModelRequest:
    return ModelRequest(messages=list(messages) or HELLO, **fields)


async def streamed(model: LiteLLMModel, request: ModelRequest) -> ModelResponse:
    items = [item async for item in model.stream(request)]
    response = items.pop()
    assert isinstance(response, ModelResponse)
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == response.text
    return response


def both(model: LiteLLMModel, request: ModelRequest) -> list[ModelResponse]:
    async def run() -> list[ModelResponse]:
        return [await model.complete(request), await streamed(model, request)]

    return asyncio.run(run())


def failed(reply: Reply, *, stream: bool, **options: Json) -> ModelError:
    with StubServer([reply]) as server:
        model = model_at(server, **options)
        with pytest.raises(ModelError) as raised:
            asyncio.run(streamed(model, ask()) if stream else model.complete(ask()))
    return raised.value


def test_streaming_and_not_streaming_give_the_same_reply() -> None:  # L10
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}]
    body = completion("Adding ü.", finish_reason="tool_calls", tool_calls=calls, reasoning_content="hm")
    with StubServer([body]) as server:
        whole, stream = both(model_at(server), ask(tools=(TOOLS["add"],)))
    assert whole == parse_response(body, provider="x", model="openai/stub")
    # LiteLLM counts the tokens of streamed reasoning itself.
    assert replace(stream, usage=replace(stream.usage, reasoning_tokens=0)) == whole


def test_every_option_reaches_the_provider() -> None:  # agent-files.md: Model
    options: Json = {"temperature": 0, "max_tokens": 77, "headers": {"X-Team": "blue"}, "settings": {"top_p": 0.5}}
    with StubServer() as server:
        both(model_at(server, **options), ask(tools=(TOOLS["add"],), tool_choice="required", settings={"seed": 8}))
    for received in server.requests:
        assert received.headers["authorization"] == "Bearer sk-key-0123456789"
        assert received.headers["x-team"] == "blue"
        expected = {"model": "stub", "temperature": 0, "max_tokens": 77, "top_p": 0.5, "seed": 8}
        assert {key: received.body[key] for key in expected} == expected
        assert received.body["tool_choice"] == "required"
        assert [tool["function"]["name"] for tool in received.body["tools"]] == ["add"]


def test_what_it_costs_comes_from_the_local_table_or_is_unknown() -> None:  # L8
    with StubServer() as server:
        for response in both(model_at(server, model="openai/gpt-4o"), ask()):
            assert response.usage.cost == pytest.approx(20 * 2.5e-6 + 5 * 1e-5)
        assert [response.usage.cost for response in both(model_at(server), ask())] == [None, None]


def test_a_provider_that_reports_no_usage_leaves_it_unknown() -> None:  # L8
    body = {key: value for key, value in completion("Hi").items() if key != "usage"}
    with StubServer([body, Chunks(chunks=as_chunks(body)[:-1])]) as server:
        for response in both(model_at(server), ask()):
            assert response.usage == Usage()


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_status_is_typed_and_never_retried_here(stream: bool) -> None:  # S6
    body = json.dumps({"error": {"message": "slow down sk-key-0123456789"}}).encode()
    with StubServer([Raw(status=429, headers={"Retry-After": "3"}, steps=[body])]) as server:
        model = model_at(server)
        with pytest.raises(ModelError) as raised:
            asyncio.run(streamed(model, ask()) if stream else model.complete(ask()))
        assert len(server.requests) == 1
    error = raised.value
    assert (error.status, error.code, error.retryable, error.retry_after) == (429, "rate_limit", True, 3)
    assert "sk-key" not in str(error)


TYPED = [
    (Raw(status=401, steps=[b'{"error": {"message": "bad key"}}']), "auth", False),
    (Raw(status=404, steps=[b'{"error": {"message": "no such model"}}']), "not_found", False),
    (Raw(status=400, steps=[b'{"error": {"message": "maximum context length is 10"}}']), "context_overflow", False),
    (Raw(status=400, steps=[b'{"error": {"message": "this model does not support tools"}}']), "no_tools", False),
    (Raw(status=500, steps=[b"oops"]), "server", True),
    (Raw(headers=EVENTS, steps=["hang"], chunked=True), "timeout", True),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("reply", "code", "retryable"), TYPED)
def test_failures_are_typed_as_by_the_other_client(reply: Raw, code: str, retryable: bool, stream: bool) -> None:  # S6
    error = failed(reply, stream=stream, timeout=0.7 if code == "timeout" else 20)
    assert (error.code, error.retryable) == (code, retryable)


def test_a_stream_that_is_cut_is_incomplete_though_litellm_ends_it_politely() -> None:  # A5b
    error = failed(Raw(headers=EVENTS, steps=[sse(as_chunks(completion("Hi"))[:1], done=False)]), stream=True)
    assert error.retryable
    assert error.code in ("incomplete", "connection")


def test_an_unknown_provider_is_said_clearly() -> None:
    with pytest.raises(ModelError, match="nobody/nothing") as raised:
        asyncio.run(LiteLLMModel(model="nobody/nothing").complete(ask()))
    assert not raised.value.retryable


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("gpt-5-mini", "auth", "no key for openai: set api_key, or OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "auth", "no key for anthropic: set api_key, or ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "auth", "no key for gemini: set api_key, or GEMINI_API_KEY"),
        (
            "offlin",
            "not_found",
            "no provider is known for 'offlin': write provider/model, or set base_url",
        ),
    ],
)
def test_what_was_never_sent_is_not_tried_again(
    model: str, code: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.endswith(("_KEY", "_TOKEN"))]:
        monkeypatch.delenv(name)
    with pytest.raises(ModelError) as raised:
        asyncio.run(LiteLLMModel(model=model).complete(ask()))
    assert (raised.value.code, raised.value.retryable) == (code, False)
    assert said in str(raised.value)
    assert ("Did you mean 'offline'?" in str(raised.value)) is (model == "offlin")


def test_errors_of_a_library_below_are_said_without_its_traceback() -> None:
    below = "litellm.APIConnectionError: No module named 'google'\nTraceback (most recent call last):\n  File …"
    error = as_model_error(type("APIConnectionError", (Exception,), {})(below), "vertex_ai", [])
    assert str(error) == "vertex_ai needs a package that is not installed: No module named 'google'"
    assert not error.retryable
    below = "MistralException - Cannot connect to host api.mistral.ai:443 ssl:<ssl.SSLContext> [Name not known]"
    error = as_model_error(type("InternalServerError", (Exception,), {"status_code": 500})(below), "mistral", [])
    assert str(error) == "the connection to mistral (api.mistral.ai:443) failed [Name not known]"
    assert (error.code, error.retryable) == ("connection", True)


def test_a_model_without_tools_is_found_out_before_they_are_dropped() -> None:  # H5
    with pytest.raises(ModelError, match="does not support tools") as raised:
        asyncio.run(LiteLLMModel(model="petals/small", api_key="x").complete(ask(tools=(TOOLS["add"],))))
    assert raised.value.code == "no_tools"


def test_closing_one_model_leaves_the_connections_of_another_in_the_same_loop() -> None:
    async def run(url: str) -> tuple[int, int]:
        first, second = (LiteLLMModel(model="openai/x", base_url=url, api_key=SecretStr("key")) for _ in range(2))
        known = library().in_memory_llm_clients_cache
        request = ModelRequest(messages=[Message(role="user", content="hello")])
        for model in (first, second):
            await model.complete(request)
        suffix = known.update_cache_key_with_event_loop("")

        def clients() -> int:
            return sum(key.endswith(suffix) for key in known.cache_dict)

        await first.close()
        left = clients()
        await second.close()
        return left, clients()

    with StubServer([completion("one"), completion("two")]) as server:
        left, at_last = asyncio.run(run(server.url))
    assert left > 0
    assert at_last == 0


def test_cancelling_closes_the_connection() -> None:
    async def run(model: LiteLLMModel, server: StubServer) -> None:
        task = asyncio.ensure_future(streamed(model, ask()))
        assert await asyncio.to_thread(server.wait_until_asked)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()
        assert await asyncio.to_thread(server.wait_until_closed)

    with StubServer([Raw(headers=EVENTS, steps=[sse(as_chunks(completion("Hi"))[:1], done=False), "hang"])]) as server:
        asyncio.run(run(model_at(server), server))


def test_a_slow_drip_ends_in_time() -> None:
    drip = sse(as_chunks(completion("Hi"))[:1] * 9, done=False)
    steps: list[bytes | float | str] = [piece for byte in drip for piece in (bytes([byte]), 0.02)]
    begin = time.monotonic()
    error = failed(Raw(headers=EVENTS, steps=steps, chunked=True), stream=True, timeout=0.5)
    assert (error.code, time.monotonic() - begin < 3) == ("timeout", True)


def test_nothing_stays_open_when_a_loop_ends() -> None:
    with StubServer() as server:
        for _ in range(2):
            asyncio.run(model_at(server).complete(ask()))
            gc.collect()  # a connection left open would be reported here
        assert server.wait_until_closed()


# -- providers that do not speak OpenAI's language ---------------------------------------------------------------------

THINKING = {"type": "thinking", "thinking": "I add.", "signature": "c2lnbmVk"}


def anthropic_reply(_: Json) -> Reply:
    content = [THINKING, {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1, "b": 2}}]
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 0}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    data = json.dumps({**head, "content": content, "stop_reason": "tool_use", "usage": usage}).encode()
    return Raw(headers={"content-type": "application/json"}, steps=[data], length=len(data))


def test_thinking_goes_back_signed_and_prefixes_are_cached() -> None:  # L5, L7
    async def run(model: LiteLLMModel) -> ModelResponse:
        first = await model.complete(ask(tools=(TOOLS["add"],)))
        result = Message(role="tool", tool_request_id="toolu_1", content="3")
        await model.complete(ask(*HELLO, first.message, result, tools=(TOOLS["add"],)))
        return first

    with StubServer([anthropic_reply], strict=False) as server:
        address = server.url.removesuffix("/v1")
        first = asyncio.run(run(model_at(server, model="anthropic/claude-sonnet-4-5", base_url=address)))
    assert first.message.tool_requests == (ToolRequest(id="toolu_1", name="add", arguments={"a": 1, "b": 2}),)
    assert (first.usage.input_tokens, first.usage.cached_tokens) == (95, 90)
    assert first.usage.cost == pytest.approx(5 * 3e-6 + 90 * 3e-7 + 7 * 1.5e-5)
    sent = server.requests[1].body
    assert THINKING in sent["messages"][1]["content"]
    assert sent["messages"][1]["content"][0] == THINKING
    marked = {"type": "ephemeral"}
    assert sent["system"][-1]["cache_control"] == marked
    assert sent["messages"][0]["content"][-1]["cache_control"] == marked
    assert sent["messages"][2]["content"][-1]["type"] == "tool_result"
    assert sent["messages"][2]["content"][-1]["cache_control"] == marked


def anthropic_stream(_: Json) -> Reply:
    usage = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 0}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    use = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
    events: list[Json] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        *_deltas(0, [{"type": "thinking_delta", "thinking": piece} for piece in ("I ", "add.")]),
        *_deltas(0, [{"type": "signature_delta", "signature": THINKING["signature"]}]),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": use},
        *_deltas(1, [{"type": "input_json_delta", "partial_json": piece} for piece in ('{"a": 1', ', "b": 2}')]),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    data = b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    return Raw(headers=EVENTS, steps=[data])


def _deltas(index: int, deltas: list[Json]) -> list[Json]:
    return [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]


def test_thinking_and_calls_are_the_same_when_they_stream() -> None:  # L10
    with StubServer([anthropic_reply, anthropic_stream], strict=False) as server:
        address = server.url.removesuffix("/v1")
        model = model_at(server, model="anthropic/claude-sonnet-4-5", base_url=address)
        whole, stream = both(model, ask(tools=(TOOLS["add"],)))
    assert stream.message.tool_requests == whole.message.tool_requests
    assert stream.message.extra["thinking_blocks"] == whole.message.extra["thinking_blocks"] == [THINKING]
    assert (stream.usage.input_tokens, stream.usage.output_tokens) == (95, 7)
    assert stream.usage.cached_tokens == 90
    assert stream.usage.cost == pytest.approx(whole.usage.cost)


def test_ollama_is_told_how_much_it_must_read() -> None:  # the context window is set explicitly
    answer = {"model": "small", "message": {"role": "assistant", "content": "Hi"}, "done": True, "done_reason": "stop"}
    data = json.dumps({**answer, "prompt_eval_count": 5, "eval_count": 2}).encode()
    with StubServer([Raw(headers={"content-type": "application/json"}, steps=[data])], strict=False) as server:
        address = server.url.removesuffix("/v1")
        for window in (None, 32_000):
            model = model_at(server, model="ollama/small", base_url=address, api_key=None, context_window=window)
            assert asyncio.run(model.complete(ask(tools=(TOOLS["add"],)))).text == "Hi"
            assert model.context_window == (window or 16_384)
    assert [request.body["options"]["num_ctx"] for request in server.requests] == [16_384, 32_000]
    assert [request.path for request in server.requests] == ["/api/chat"] * 2
    assert server.requests[0].body["tools"]


# -- what importing it does --------------------------------------------------------------------------------------------

ALONE = """
import os, sys, warnings
opened = []
sys.addaudithook(lambda event, args: event in ("socket.connect", "socket.getaddrinfo") and opened.append(args))
before = dict(os.environ)
from react_run.models.litellm import LiteLLMModel
from react_run.models.litellm_library import as_model_error
from react_run.models.litellm_library import library
assert "litellm" not in sys.modules
LiteLLMModel(model="openai/gpt-4o")
assert "litellm" not in sys.modules
library()
assert "litellm" in sys.modules
assert not opened, opened
assert "FROM_DOT_ENV" not in os.environ
changed = {key for key in os.environ if before.get(key) != os.environ[key]} | (before.keys() - os.environ.keys())
assert changed <= {"LITELLM_LOCAL_MODEL_COST_MAP"} or print(changed)
"""


def test_it_is_imported_by_the_first_call_only_offline_and_silently(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOT_ENV=1\n")
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
