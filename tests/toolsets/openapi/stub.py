"""A service made of nothing but its document: it checks every request with openapi-core and says how it read it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

Document = Mapping[str, Any]


@dataclass
class Read:
    """A request as openapi-core wants it."""

    host_url: str
    path: str
    method: str
    parameters: RequestParameters
    body: bytes
    content_type: str


@dataclass
class Stub:
    """What the service was asked, and what it says instead of its own answer, by path."""

    url: str
    targets: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)


@contextmanager
def serving(document: Document, port: int = 0) -> Iterator[Stub]:
    """A server for ``document``, whose own servers are left out of account."""
    spec: list[OpenAPI] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            stub.targets.append(self.path)
            stub.headers.append({name.lower(): value for name, value in self.headers.items()})
            parts = urlsplit(self.path)
            if parts.path in stub.answers:
                self._send(*stub.answers[parts.path])
                return
            query = ImmutableMultiDict(parse_qsl(parts.query, keep_blank_values=True))
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
            read = Read(
                host_url=stub.url,
                path=parts.path,
                method=self.command.lower(),
                parameters=RequestParameters(
                    query=query,
                    header=Headers([(name, value) for name, value in self.headers.items()]),
                    cookie=ImmutableMultiDict({name: morsel.value for name, morsel in cookies.items()}),
                ),
                body=body,
                content_type=self.headers.get("Content-Type", ""),
            )
            found = spec[0].unmarshal_request(read)
            got = found.parameters
            said = {
                "errors": [repr(error) + repr(error.__cause__ or "") for error in found.errors],
                "method": self.command,
                **{place: dict(getattr(got, place)) for place in ("path", "query", "header", "cookie")},
                "body": found.body,
                "raw": self.path,
            }
            self._send(200, {"Content-Type": "application/json"}, json.dumps(said, default=str).encode())

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815  # the server looks for these names

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    stub = Stub(url=f"http://127.0.0.1:{server.server_address[1]}")
    spec.append(OpenAPI.from_dict({**document, "servers": [{"url": stub.url}]}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
