"""Receives the browser's redirect after a login: one request on the loopback interface."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from react_toolsets.mcp.troubles import LoginRequired

MOST = 16 * 1024
PAGE = "<!doctype html><meta charset=utf-8><title>react-run</title><p>{text} You can close this page."


@dataclass
class Callback:
    """An HTTP server that accepts one redirect.

    Args:
        port: The port on 127.0.0.1.
    """

    port: int
    _answer: asyncio.Future[dict[str, str]] = field(init=False)
    _server: asyncio.Server = field(init=False)

    @classmethod
    def for_port(cls, port: int, *, keep: bool) -> Callback:
        """A callback on ``port``; if that is taken and ``keep`` is false, on a free port."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                if not keep:
                    probe.bind(("127.0.0.1", 0))
            return cls(probe.getsockname()[1] or port)

    @property
    def uri(self) -> str:
        """The redirect URL for the authorization server."""
        return f"http://127.0.0.1:{self.port}/callback"

    async def listen(self) -> None:
        """Start listening.

        Raises:
            LoginRequired: The port is taken.
        """
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=MOST)
        except OSError as error:
            raise LoginRequired(f"cannot receive the login: port {self.port} is in use: {error}") from error

    async def answer(self) -> tuple[str, str | None, str | None]:
        """Wait for the redirect, and return its code, state and issuer.

        Raises:
            LoginRequired: The user or the authorization server refused.
        """
        try:
            found = await self._answer
        finally:
            self._server.close()
        if "code" not in found:
            reason = found.get("error_description") or found.get("error") or "no code came back"
            raise LoginRequired(f"the login failed: {reason}")
        return found["code"], found.get("state"), found.get("iss")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readuntil(b"\r\n")).decode("latin-1")
            target = urlsplit(line.split(" ")[1])
            values = {key: found[0] for key, found in parse_qs(target.query).items()}
            ours = target.path == "/callback" and bool({"code", "error"} & values.keys())
            text = "This is not the page that was expected." if not ours else "Done."
            text = "The login was refused." if ours and "code" not in values else text
            body = PAGE.format(text=text).encode()
            head = f"HTTP/1.1 {200 if ours else 404} -\r\nContent-Type: text/html; charset=utf-8\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            await writer.drain()
            if ours and not self._answer.done():
                self._answer.set_result(values)
        except (ValueError, IndexError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # an unrelated request
        finally:
            writer.close()
