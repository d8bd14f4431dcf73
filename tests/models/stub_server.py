"""A real HTTP server on 127.0.0.1 that speaks OpenAI's chat completions and refuses what providers refuse.

Use it in a test as ``with StubServer([reply, …]) as server:``; run it alone as ``python -m tests.models.stub_server``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from tests.models.request_rules import violations

Json = Any  # a decoded JSON body; tests index into it freely


@dataclass(frozen=True, kw_only=True)
class Raw:
    """An answer byte by byte.

    ``steps`` are sent in order: bytes, a pause in seconds, or ``"reset"`` (the connection is aborted) or ``"hang"``
    (nothing more comes). Without ``length`` and ``chunked`` the end of the connection is the end of the body.
    """

    steps: Sequence[bytes | float | str]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = False
    length: int | None = None


@dataclass(frozen=True, kw_only=True)
class Chunks:
    """A stream of completion chunks, the last event being ``[DONE]`` unless ``done`` is false."""

    chunks: Sequence[Json]
    done: bool = True


Reply = Raw | Chunks | Mapping[str, Json] | Callable[[Json], "Reply"]


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Json
    connection: int


def completion(text: str | None = "ok", *, finish_reason: str = "stop", **message: Json) -> dict[str, Json]:
    """A whole completion body."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": finish_reason,
    }
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    return {"id": "c-1", "object": "chat.completion", "model": "stub", "choices": [choice], "usage": usage}


def sse(chunks: Iterable[Json], *, done: bool = True) -> bytes:
    """Chunks as the bytes of an event stream."""
    events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    return b"".join([*events, b"data: [DONE]\n\n"] if done else events)


def as_chunks(body: Mapping[str, Json]) -> list[Json]:
    """A completion body as the chunks a streaming server would send: the message, the finish reason, the usage."""
    head = {"id": body.get("id"), "object": "chat.completion.chunk", "model": body.get("model")}
    chunks: list[Json] = []
    for choice in body.get("choices") or ():
        message = dict(choice.get("message") or {})
        if isinstance(message.get("tool_calls"), list):
            message["tool_calls"] = [{"index": n, **call} for n, call in enumerate(message["tool_calls"])]
        chunks.append({**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]})
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}]})
    return [*chunks, {**head, "choices": [], "usage": body.get("usage")}]


class StubServer:
    """Answers the n-th request with the n-th reply, the last one again and again.

    ``requests`` are those received; one that a provider would refuse fails the test at the end of the block.
    """

    def __init__(self, replies: Sequence[Reply] = (), *, strict: bool = True) -> None:
        self.replies: list[Reply] = list(replies) or [completion()]
        self.requests: list[Received] = []
        self.violations: list[str] = []
        self.open_connections = 0
        self.connections = 0
        self.url = ""
        self._strict = strict
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stopped = asyncio.Event()
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> StubServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        self._loop.close()
        if kind is None and self._strict:
            assert not self.violations, self.violations

    def wait_until_closed(self, seconds: float = 5.0) -> bool:
        """Whether all connections get closed within ``seconds``."""
        with self._news:
            return self._news.wait_for(lambda: self.open_connections == 0, timeout=seconds)

    def wait_until_asked(self, seconds: float = 5.0) -> bool:
        """Whether a request comes within ``seconds``."""
        with self._news:
            return self._news.wait_for(lambda: bool(self.requests), timeout=seconds)

    def _serve(self) -> None:
        self._loop.run_until_complete(self._run())

    async def _run(self) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stopped.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        self._count(1)
        try:
            while await self._exchange(reader, writer, number):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, _Closed):
            pass  # the client went away, or the server is being closed
        finally:
            writer.close()
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._news:
            self.open_connections += change
            self._news.notify_all()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        data = await reader.readexactly(int(headers.get("content-length", "0")))
        path = head[0].split(" ")[1]
        try:
            body = json.loads(data.decode())
        except ValueError as error:
            self.violations.append(f"the body is not UTF-8 JSON: {error}")
            body = {}
        if self._strict and (problems := violations(path, headers, body)):
            self.violations += problems
            await _send(writer, reader, _refused("; ".join(problems)))
            return True
        with self._news:
            self.requests.append(Received(path=path, headers=headers, body=body, connection=number))
            self._news.notify_all()
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        while callable(reply):
            reply = reply(body)
        return await _send(writer, reader, _raw(reply, stream=bool(body.get("stream"))))


class _Closed(Exception):
    """The connection is over."""


def _refused(message: str) -> Raw:
    data = json.dumps({"error": {"type": "invalid_request_error", "message": message}}).encode()
    return Raw(status=400, headers={"content-type": "application/json"}, steps=[data], length=len(data))


def _raw(reply: Raw | Chunks | Mapping[str, Json], *, stream: bool) -> Raw:
    if isinstance(reply, Raw):
        return reply
    if isinstance(reply, Chunks):
        return Raw(
            headers={"content-type": "text/event-stream"}, steps=[sse(reply.chunks, done=reply.done)], chunked=True
        )
    if stream and reply.get("choices"):
        return _raw(Chunks(chunks=as_chunks(reply)), stream=True)
    data = json.dumps(reply).encode()
    return Raw(headers={"content-type": "application/json"}, steps=[data], length=len(data))


async def _send(writer: asyncio.StreamWriter, reader: asyncio.StreamReader, raw: Raw) -> bool:
    """Send an answer; whether the connection may be used again."""
    lines = [f"HTTP/1.1 {raw.status} Stub", *(f"{name}: {value}" for name, value in raw.headers.items())]
    if raw.chunked:
        lines.append("transfer-encoding: chunked")
    elif raw.length is not None:
        lines.append(f"content-length: {raw.length}")
    else:
        lines.append("connection: close")
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    async for piece in _pieces(raw, writer, reader):
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if raw.chunked else piece)
        await writer.drain()
    if raw.chunked:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    return raw.chunked or raw.length is not None


async def _pieces(raw: Raw, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    for step in raw.steps:
        if isinstance(step, bytes):
            if step:
                yield step
        elif step == "reset":
            await writer.drain()
            writer.transport.abort()
            raise _Closed
        elif step == "close":
            raise _Closed
        else:
            # Wait as long as wanted, but no longer than the client stays.
            pause = 3600.0 if step == "hang" else float(step)
            try:
                async with asyncio.timeout(pause):
                    if await reader.read(1) == b"":
                        raise _Closed
            except TimeoutError:
                continue


def fifty_words(body: Json) -> Reply:
    """An answer for measurements: fifty chunks when streamed."""
    if not body.get("stream"):
        return completion("word " * 50)
    words = [{"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}] * 50
    return Chunks(chunks=[{"id": "c-1", "model": "stub", **chunk} for chunk in [*words, *as_chunks(completion(""))]])


def main() -> None:
    """Serve until standard input ends; the URL is the first line printed."""
    with StubServer([fifty_words], strict="--lenient" not in sys.argv) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
