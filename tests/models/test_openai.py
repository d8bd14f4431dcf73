"""The OpenAI-compatible client against a real server: what it sends, what it reads, how it ends."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic import ValidationError
from tests.models.cases import TOOLS
from tests.models.stub_server import Chunks, Json, Raw, Reply, StubServer, as_chunks, completion, sse

from react_run import Message, ModelError, ModelRequest, ModelResponse, TextDelta, ToolRequest
from react_run.models.openai import OpenAIModel
from react_run.models.provider import parse_response

HELLO = [Message(role="system", content="Be brief."), Message(role="user", content="Hello?")]
EVENTS = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True, params=[8, 0], ids=["few", "many"])
def connections(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connections of httpx, for a few calls, and those of aiohttp, for many: nobody sees a difference."""
    monkeypatch.setattr("react_run.models.http._FEW", request.param)


def model_at(server: StubServer, **options: Json) -> OpenAIModel:
    return OpenAIModel(**{"model": "stub", "base_url": server.url, "timeout": 5, **options})


def ask(messages: Sequence[Message] = HELLO, **fields: Json) -> ModelRequest:
    return ModelRequest(messages=list(messages), **fields)


@asynccontextmanager
async def opened(model: OpenAIModel) -> AsyncIterator[None]:
    await model.open()
    yield
    await model.close()


def both(model: OpenAIModel, request: ModelRequest) -> list[ModelResponse]:
    """The replies of not streaming and of streaming; the draft that streams is the text of the reply."""

    async def run() -> list[ModelResponse]:
        return [await model.complete(request), await streamed(model, request)]

    return asyncio.run(run())


async def streamed(model: OpenAIModel, request: ModelRequest) -> ModelResponse:
    items = [item async for item in model.stream(request)]
    response = items.pop()
    assert isinstance(response, ModelResponse)
    drafts = [item.text for item in items if isinstance(item, TextDelta)]
    assert "".join(drafts) == response.text
    return response


async def result_of(call: Coroutine[object, object, ModelResponse]) -> ModelResponse | ModelError:
    try:
        return await call
    except ModelError as error:
        return error


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
    assert whole == stream == parse_response(body, provider="x", model="stub")
    assert [bool(request.body.get("stream")) for request in server.requests] == [False, True]


def test_every_option_reaches_the_provider() -> None:  # agent-files.md: Model
    options: Json = {
        "api_key": "sk-key-0123456789",
        "headers": {"X-Team": "blue"},
        "temperature": 0,
        "max_tokens": 77,
        "settings": {"top_p": 0.5, "seed": 7, "stream_options": None},
    }
    request = ask(tools=(TOOLS["add"],), tool_choice="required", settings={"seed": 8, "stop": ["x"]})
    with StubServer() as server:
        both(model_at(server, **options), request)
    for received in server.requests:
        assert received.headers["authorization"] == "Bearer sk-key-0123456789"
        assert received.headers["x-team"] == "blue"
        expected = {"model": "stub", "temperature": 0, "max_tokens": 77, "top_p": 0.5, "seed": 8, "stop": ["x"]}
        assert {key: received.body[key] for key in expected} == expected
        assert received.body["tool_choice"] == "required"
        assert "stream_options" not in received.body
        assert [tool["function"]["name"] for tool in received.body["tools"]] == ["add"]


def test_a_query_of_the_address_stays_behind_the_path() -> None:
    with StubServer() as server:
        model = OpenAIModel(model="stub", base_url=f"{server.url}/?api-version=2")
        asyncio.run(model.complete(ask()))
    path, _, query = server.requests[0].path.partition("?")
    assert path.endswith("/chat/completions")
    assert query == "api-version=2"


def test_without_options_nothing_is_sent_that_was_not_asked_for() -> None:
    with StubServer() as server:
        both(model_at(server), ask())
    assert [set(request.body) for request in server.requests] == [
        {"model", "messages"},
        {"model", "messages", "stream", "stream_options"},
    ]
    assert "authorization" not in server.requests[0].headers


def test_the_model_id_is_sent_as_written_when_the_address_is_given() -> None:
    with StubServer() as server:
        both(model_at(server, model="openai/gpt-oss"), ask())
    assert server.requests[0].body["model"] == "openai/gpt-oss"
    assert OpenAIModel(model="openai/gpt-4o").name == "openai/gpt-4o"


def test_the_key_of_one_provider_is_never_sent_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    with StubServer() as server:
        both(model_at(server), ask())
    assert not any("sk-for" in str(request.headers) for request in server.requests)


def test_the_proxy_of_the_environment_is_used_except_where_it_says_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(strict=False) as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        both(model_at(server, base_url="http://provider.invalid/v1"), ask())
        both(model_at(server), ask())
    direct, proxied = "/v1/chat/completions", "http://provider.invalid/v1/chat/completions"
    assert [request.path for request in server.requests] == [proxied, proxied, direct, direct]


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as raised:
        asyncio.run(OpenAIModel(model="gpt-4o").complete(ask()))
    assert (raised.value.code, raised.value.retryable) == ("auth", False)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://user:secret-word@host/v1", "https://"])
def test_an_address_must_be_a_plain_web_address(url: str) -> None:
    with pytest.raises(ValidationError) as raised:
        OpenAIModel(model="m", base_url=url)
    assert "base_url" in str(raised.value)


def test_the_context_window_is_given_known_or_unknown() -> None:  # S7
    assert OpenAIModel(model="m", base_url="http://localhost:1/v1").context_window is None
    assert OpenAIModel(model="m", base_url="http://localhost:1/v1", context_window=9000).context_window == 9000
    assert OpenAIModel(model="openai/gpt-4o").context_window == 128_000
    # Ollama cuts a longer prompt silently: its default is assumed.
    assert OpenAIModel(model="m", base_url="http://localhost:11434/v1").context_window == 4096


def test_connections_are_used_again_across_calls_and_streams() -> None:
    async def run(model: OpenAIModel) -> None:
        for _ in range(3):
            await model.complete(ask())
            await streamed(model, ask())

    with StubServer() as server:
        asyncio.run(run(model_at(server)))
        assert {request.connection for request in server.requests} == {1}
        assert server.wait_until_closed()


def test_one_model_serves_several_event_loops_and_can_be_closed_and_used_again() -> None:
    async def run(model: OpenAIModel) -> None:
        await model.open()
        await model.complete(ask())
        await model.close()
        await model.complete(ask())

    with StubServer() as server:
        model = model_at(server)
        for _ in range(2):
            asyncio.run(run(model))
            gc.collect()  # a connection left open would be reported here
        assert len(server.requests) == 4
        assert server.wait_until_closed()


def test_fifty_calls_at_once_get_their_own_replies() -> None:
    def echo(body: Json) -> Reply:
        return completion(body["messages"][-1]["content"])

    async def run(model: OpenAIModel) -> list[str]:
        requests = [ask([Message(role="user", content=f"n{n}")], run_id=f"r{n}") for n in range(50)]
        return [response.text for response in await asyncio.gather(*map(model.complete, requests))]

    with StubServer([echo]) as server:
        assert asyncio.run(run(model_at(server))) == [f"n{n}" for n in range(50)]


def test_a_conversation_of_megabytes_arrives_whole() -> None:
    big = [Message(role="user", content="ü" * 400_000), Message(role="user", content="y" * 3_000_000)]
    with StubServer() as server:
        both(model_at(server), ask(big))
    assert [m["content"] for m in server.requests[1].body["messages"]] == [message.content for message in big]


def test_unreadable_arguments_in_the_history_go_out_as_valid_json() -> None:  # H2
    history = [
        Message(role="user", content="go"),
        Message(
            role="assistant",
            tool_requests=(
                ToolRequest(id="a", name="add", arguments='{"a": '),
                ToolRequest(id="b", name="what<|x|>ever", arguments={"a": 1}),
                ToolRequest(id="c", name="(unnamed)", arguments={}),
            ),
        ),
        *(Message(role="tool", tool_request_id=i, content="") for i in "abc"),
    ]
    with StubServer() as server:
        both(model_at(server), ask(history))
    sent = server.requests[0].body["messages"]
    assert [c["function"]["arguments"] for c in sent[1]["tool_calls"]] == ["{}", '{"a":1}', "{}"]
    assert [m["content"] for m in sent[2:]] == ["(no output)"] * 3


# -- what a server can do wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_status_carries_its_retry_time(stream: bool) -> None:  # S6
    body = json.dumps({"error": {"message": "slow down sk-key-0123456789"}}).encode()
    error = failed(
        Raw(status=429, headers={"Retry-After": "3"}, steps=[body]), stream=stream, api_key="sk-key-0123456789"
    )
    assert (error.status, error.code, error.retryable, error.retry_after) == (429, "rate_limit", True, 3)
    assert "sk-key" not in str(error)


@pytest.mark.parametrize("stream", [False, True])
def test_a_redirect_is_not_followed_but_explained(stream: bool) -> None:
    error = failed(Raw(status=308, headers={"Location": "https://elsewhere.example/v1"}, steps=[]), stream=stream)
    assert (error.code, error.retryable) == ("redirect", False)
    assert "https://elsewhere.example/v1" in str(error)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["text/html", "application/json", ""])
def test_a_page_instead_of_an_answer_is_a_bad_response(kind: str, stream: bool) -> None:
    error = failed(Raw(headers={"content-type": kind}, steps=[b"<html>log in</html>"]), stream=stream)
    assert (error.code, error.retryable) == ("bad_response", True)


def test_a_server_may_stream_unasked_or_not_stream_though_asked() -> None:  # L10
    body = completion("Hi")
    data = json.dumps(body).encode()
    with StubServer([Chunks(chunks=as_chunks(body)), Raw(headers=JSON, steps=[data], length=len(data))]) as server:
        assert {response.text for response in both(model_at(server), ask())} == {"Hi"}


@pytest.mark.parametrize("stream", [False, True])
def test_compressed_answers_are_read_and_broken_ones_typed(stream: bool) -> None:
    body = completion("Hi")
    data = gzip.compress(sse(as_chunks(body)) if stream else json.dumps(body).encode())
    headers = {**(EVENTS if stream else JSON), "content-encoding": "gzip"}
    with StubServer([Raw(headers=headers, steps=[data], length=len(data))]) as server:
        model = model_at(server)
        response = asyncio.run(streamed(model, ask()) if stream else model.complete(ask()))
        assert response.text == "Hi"
    error = failed(Raw(headers=headers, steps=[b"not gzip"], length=8), stream=stream)
    assert (error.code, error.retryable) == ("bad_response", True)


def test_a_stream_cut_at_any_byte_is_complete_or_incomplete_never_wrong() -> None:  # A5b
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}]
    body = completion("Grüße 🍸 " * 60, finish_reason="tool_calls", tool_calls=calls)
    data = sse(as_chunks(body))
    assert 1900 < len(data) < 2600
    finish = data.index(b'"tool_calls"}]}') + len(b'"tool_calls"}]}')
    whole = parse_response(body, provider="x", model="stub")

    async def run(model: OpenAIModel) -> None:
        for at in range(len(data)):
            outcome = await result_of(streamed(model, ask()))
            if isinstance(outcome, ModelError):
                assert outcome.retryable, at
                assert outcome.code in ("incomplete", "bad_response", "connection"), at
                assert at < finish, at
            else:
                assert at >= finish, at
                assert outcome.message == whole.message, at

    replies = [Raw(headers=EVENTS, steps=[data[:at]]) for at in range(len(data))]
    with StubServer(replies) as server:
        asyncio.run(run(model_at(server)))
        assert len(server.requests) == len(data)


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_a_body_that_ends_early_is_a_broken_connection(framing: str) -> None:
    data = json.dumps(completion("Hi" * 100)).encode()
    chunked = framing == "chunked"
    steps: list[bytes | float | str] = [data[:50], "close"]
    cut = Raw(headers=JSON, steps=steps, chunked=chunked, length=None if chunked else len(data))
    error = failed(cut, stream=False)
    assert (error.code, error.retryable) == ("connection", True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("steps", [["reset"], [b'data: {"choi', "reset"]], ids=["at once", "in the body"])
def test_a_reset_is_a_broken_connection(steps: list[bytes | float | str], stream: bool) -> None:
    error = failed(Raw(headers=EVENTS, steps=steps, chunked=True), stream=stream)
    assert (error.code, error.retryable) == ("connection", True)


def test_nobody_listening_is_a_broken_connection() -> None:
    with StubServer() as server:
        url = server.url
    with pytest.raises(ModelError) as raised:
        asyncio.run(OpenAIModel(model="m", base_url=url).complete(ask()))
    assert (raised.value.code, raised.value.retryable) == ("connection", True)
    assert "Check base_url" in str(raised.value)


FIRST = sse(as_chunks(completion("Hi"))[:1], done=False)
SLOW = {
    "stall": Raw(headers=EVENTS, steps=[FIRST, "hang"], chunked=True),
    "drip": Raw(headers=EVENTS, steps=[piece for byte in FIRST * 9 for piece in (bytes([byte]), 0.02)], chunked=True),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["stall", "drip"])
def test_a_stall_and_a_slow_drip_end_in_time(kind: str, stream: bool) -> None:
    begin = time.monotonic()
    error = failed(SLOW[kind], stream=stream, timeout=0.4)
    assert (error.code, error.retryable) == ("timeout", True)
    assert 0.3 < time.monotonic() - begin < 10


def test_what_fails_after_the_reply_is_complete_takes_nothing_away() -> None:  # A5b
    *chunks, _ = as_chunks(completion("Hi"))
    for end in ("reset", b"data: {broken\n\n", b'data: {"error": {"message": "late"}}\n\n'):
        with StubServer([Raw(headers=EVENTS, steps=[sse(chunks, done=False), end], chunked=True)]) as server:
            assert asyncio.run(streamed(model_at(server), ask())).text == "Hi"


def test_a_stream_that_says_done_and_stays_open_ends_at_once() -> None:
    with StubServer([Raw(headers=EVENTS, steps=[sse(as_chunks(completion("Hi"))), "hang"], chunked=True)]) as server:
        begin = time.monotonic()
        assert asyncio.run(streamed(model_at(server), ask())).usage.input_tokens == 20
        assert time.monotonic() - begin < 10


@pytest.mark.parametrize("stream", [False, True])
def test_cancelling_closes_the_connection(stream: bool) -> None:
    async def run(model: OpenAIModel, server: StubServer) -> None:
        call = streamed(model, ask()) if stream else model.complete(ask())
        task = asyncio.ensure_future(call)
        assert await asyncio.to_thread(server.wait_until_asked)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_until_closed)

    with StubServer([SLOW["stall"]]) as server:
        asyncio.run(run(model_at(server), server))


def test_leaving_a_stream_early_closes_the_connection() -> None:
    async def run(model: OpenAIModel, server: StubServer) -> None:
        stream = model.stream(ask())
        assert await anext(stream) == TextDelta(text="Hi")
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
        assert await asyncio.to_thread(server.wait_until_closed)

    with StubServer([SLOW["stall"]]) as server:
        asyncio.run(run(model_at(server), server))


def test_importing_it_loads_no_http_library() -> None:
    code = "import sys, react_run.models.openai; assert not {'httpx', 'litellm', 'openai'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_calls_in_flight_share_the_connections_of_those_before() -> None:
    async def waves(model: OpenAIModel) -> None:
        async with opened(model):
            for _ in range(3):
                await asyncio.gather(*(model.complete(ask()) for _ in range(20)))
            await model.complete(ask())

    with StubServer([completion("ok")]) as server:
        asyncio.run(waves(OpenAIModel(model="m", base_url=server.url)))
        assert len(server.requests) == 61
        assert server.connections <= 20 + 8  # those of a few are given up once there are many
        assert server.wait_until_closed()


def test_a_reply_that_is_given_up_frees_no_broken_connection() -> None:
    async def cut_off(model: OpenAIModel) -> str:
        async with opened(model):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await model.complete(ask())
            return (await model.complete(ask())).text

    with StubServer([Raw(steps=[b"{", "hang"], length=9), completion("ok")]) as server:
        assert asyncio.run(cut_off(OpenAIModel(model="m", base_url=server.url))) == "ok"
        assert server.connections == 2
