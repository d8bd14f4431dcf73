"""Many calls in flight: whose connections they use, and that nothing else changes."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.stub_server import Raw, StubServer, completion

from react_run import Message, ModelError, ModelRequest
from react_run.models import http
from react_run.models.openai import OpenAIModel

ASKED = ModelRequest(messages=[Message(role="user", content="Hello?")])


@pytest.fixture(params=[http._FEW, 0], ids=["few", "many"])
def _both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FEW", request.param)


def test_a_few_calls_do_without_the_library_for_many() -> None:
    code = """
import asyncio, sys
from tests.models.stub_server import StubServer, completion
from react_run import Message, ModelRequest
from react_run.models.openai import OpenAIModel

async def main(calls):
    with StubServer([completion("done")] * calls) as server:
        model = OpenAIModel(model="m", base_url=server.url)
        asked = ModelRequest(messages=[Message(role="user", content="Hello?")])
        await asyncio.gather(*(model.complete(asked) for _ in range(calls)))
    print("aiohttp" in sys.modules)

asyncio.run(main(8))
asyncio.run(main(20))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_many_calls_share_their_connections_afterwards() -> None:
    async def run(server: StubServer) -> int:
        model = OpenAIModel(model="m", base_url=server.url)
        for _ in range(3):
            replies = await asyncio.gather(*(model.complete(ASKED) for _ in range(40)))
            assert [reply.text for reply in replies] == ["done"] * 40
        await model.close()
        return len({request.connection for request in server.requests})

    with StubServer([completion("done")] * 120) as server:
        assert asyncio.run(run(server)) <= 40 + http._FEW  # those of a few are given up once there are many


@pytest.mark.usefixtures("_both")
def test_cookies_are_not_kept() -> None:
    async def run(server: StubServer) -> None:
        model = OpenAIModel(model="m", base_url=server.url)
        await model.complete(ASKED)
        await model.complete(ASKED)
        await model.close()

    body = json.dumps(completion("a")).encode()
    headers = {"Set-Cookie": "session=1; Path=/", "Content-Type": "application/json"}
    with StubServer([Raw(steps=[body], headers=headers, length=len(body))]) as server:
        asyncio.run(run(server))
        assert [request.headers.get("cookie") for request in server.requests] == [None, None]


@pytest.mark.usefixtures("_both")
@pytest.mark.parametrize(
    "steps", [[b"not HTTP at all\r\n\r\n"], [b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"], []]
)
def test_what_is_not_an_answer_is_a_broken_connection_that_reached_the_server(steps: list[bytes]) -> None:
    async def run() -> ModelError:
        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            for step in steps:
                writer.write(step)
            writer.close()

        server = await asyncio.start_server(client, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            model = OpenAIModel(model="m", base_url=f"http://127.0.0.1:{port}/v1", timeout=5)
            with pytest.raises(ModelError) as caught:
                await model.complete(ASKED)
            await model.close()
            return caught.value

    error = asyncio.run(run())
    assert (error.code, error.retryable, error.reached) == ("connection", True, True)


@pytest.mark.usefixtures("_both")
def test_a_port_where_nobody_listens_was_not_reached() -> None:
    async def run() -> None:
        await OpenAIModel(model="m", base_url="http://127.0.0.1:9/v1", timeout=5).complete(ASKED)

    with pytest.raises(ModelError, match="Check base_url and the network") as caught:
        asyncio.run(run())
    assert (caught.value.code, caught.value.retryable, caught.value.reached) == ("connection", True, False)


@pytest.mark.usefixtures("_both")
def test_a_call_that_is_cancelled_closes_its_connection() -> None:
    async def run() -> bytes:
        asked, ended = asyncio.Event(), asyncio.Event()
        left: list[bytes] = []

        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            left.append((await reader.read())[-1:])
            ended.set()
            writer.close()

        server = await asyncio.start_server(client, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            model = OpenAIModel(model="m", base_url=f"http://127.0.0.1:{port}/v1", timeout=30)
            call = asyncio.ensure_future(model.complete(ASKED))
            await asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.wait_for(ended.wait(), 60)
            await model.close()
        return left[0]

    assert asyncio.run(run()) == b"}"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that nobody knows, and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl, which makes the certificate, is not installed here")
    made, key = tmp_path / "made.pem", tmp_path / "key.pem"
    request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([program, *request.split(), "-keyout", key, "-out", made], check=True, capture_output=True)
    return made, key


@pytest.mark.usefixtures("_both")
@pytest.mark.parametrize("known", [True, False])
def test_certificates_are_verified(
    certificate: tuple[Path, Path], known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)

    async def run() -> str:
        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head + body)
            await writer.drain()
            writer.close()

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server = await asyncio.start_server(client, "127.0.0.1", 0, ssl=context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            model = OpenAIModel(model="m", base_url=f"https://localhost:{port}/v1", api_key="x", timeout=5)
            try:
                return (await model.complete(ASKED)).text
            finally:
                await model.close()

    if known:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert asyncio.run(run()) == "done"
        return
    with pytest.raises(ModelError, match="CERTIFICATE_VERIFY_FAILED") as caught:
        asyncio.run(run())
    assert (caught.value.code, caught.value.retryable, caught.value.reached) == ("connection", False, False)


@pytest.mark.usefixtures("_both")
def test_a_long_header_is_read() -> None:
    with StubServer(
        [Raw(headers={"X-Long": "x" * 20_000, "Content-Type": "application/json"}, steps=[b"{"])]
    ) as server:

        async def run() -> None:
            await OpenAIModel(model="m", base_url=server.url, timeout=5).complete(ASKED)

        with pytest.raises(ModelError, match="not JSON"):
            asyncio.run(run())
