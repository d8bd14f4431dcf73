"""A real HTTP server on the loopback interface that answers as it is told: well, badly, slowly or not at all."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest

Answer = Callable[[socket.socket], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as the server read it."""

    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def parameters(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}


class LocalServer:
    """Answers requests in order from ``script`` (the last answer repeats), or by path from ``site``."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Answer] = []
        self.site: dict[str, Answer] = {}
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.stopped.set()
        with suppress(OSError):  # not every system lets a listening socket be shut down
            self._listener.shutdown(socket.SHUT_RDWR)  # a blocked accept() would take one more connection
        self._listener.close()

    def reply(
        self,
        body: bytes | str = b"",
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        content_type: str = "text/html; charset=utf-8",
    ) -> Answer:
        data = body.encode() if isinstance(body, str) else body
        fields = {"Content-Type": content_type, "Content-Length": str(len(data)), "Connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**fields, **(headers or {})}.items())
        return lambda connection: connection.sendall(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + data)

    def json(self, value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
        return self.reply(json.dumps(value), status=status, headers=headers, content_type="application/json")

    def redirect(self, location: str, *, status: int = 302) -> Answer:
        return self.reply(status=status, headers={"Location": location})

    def reset(self) -> Answer:
        """Cut the connection with a TCP reset."""
        return lambda connection: connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def drip(self, body: bytes = b" " * 10_000) -> Answer:
        """Send the head, then one byte every now and then until somebody gives up."""

        def answer(connection: socket.socket) -> None:
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode())
            for byte in body:
                if self.stopped.wait(0.05):
                    return
                connection.sendall(bytes([byte]))

        return answer

    def silence(self) -> Answer:
        """Accept the request and never answer."""

        def answer(connection: socket.socket) -> None:
            self.stopped.wait(60)

        return answer

    def cut_off(self) -> Answer:
        """Promise more than is sent."""
        return lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # stopped
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = self._read(connection)
                if request is not None:
                    self._answer(request)(connection)
            except OSError:
                pass  # the client went away

    def _read(self, connection: socket.socket) -> Request | None:
        data = b""
        while b"\r\n\r\n" not in data:
            chunk = connection.recv(65536)
            if not chunk:
                return None
            data += chunk
        first, *lines = data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Request(target=first.split(" ")[1], headers=headers)

    def _answer(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if self.site:
                return self.site.get(request.path) or self.reply("nothing here", status=404)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@pytest.fixture
def server() -> Iterator[LocalServer]:
    local = LocalServer()
    yield local
    local.stop()
