"""The scripted model as a server on this machine: OpenAI's chat completions, without streaming."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from benchmarks.guards.peers.scenarios import Call, Heard, Persona, Reply

FINAL = "final_answer"
"""The tool by which some runtimes want an answer."""


class ModelServer:
    """Serves a persona, and notes what it was asked."""

    def __init__(self, persona: Persona) -> None:
        self.persona = persona
        self.turn = self.requests = self.largest = 0
        self._lock = Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # the name is the library's
                data = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, body = server.answer(data)
                self.send_response(status)
                for name, value in {
                    **headers,
                    "Content-Type": "application/json",
                    "Content-Length": str(len(body)),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def close(self) -> None:
        """Stop serving."""
        self.http.shutdown()
        self.http.server_close()

    def answer(self, data: bytes) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a request."""
        with self._lock:
            self.requests += 1
            self.largest = max(self.largest, len(data))
            asked = json.loads(data)
            reply = self.persona(Heard(turn=self.turn, news=_news(asked["messages"]), tools=_offers(asked)))
            self.turn += 1
            if reply.status != 200:
                headers = {"Retry-After": reply.retry_after} if reply.retry_after else {}
                return reply.status, headers, b'{"error": {"message": "busy", "type": "server_error"}}'
            return 200, {}, json.dumps(_completion(reply, asked, self.turn)).encode()


def _offers(asked: dict[str, Any]) -> bool:
    names = [tool["function"]["name"] for tool in asked.get("tools") or ()]
    return bool(set(names) - {FINAL}) and asked.get("tool_choice") != "none"


def _news(messages: list[dict[str, Any]]) -> list[str]:
    """What came after the last reply, as text."""
    news: list[str] = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        content = message.get("content") or ""
        news.append(content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content))
    return news[::-1]


def _completion(reply: Reply, asked: dict[str, Any], turn: int) -> dict[str, Any]:
    calls: list[Call] = list(reply.calls)
    wants_call = any(tool["function"]["name"] == FINAL for tool in asked.get("tools") or ())
    is_answer = bool(reply.text) and not calls and not reply.finish and not reply.text.startswith("<")
    if wants_call and is_answer:  # an answer, in the form in which this runtime wants it
        calls, reply = [(FINAL, {"answer": reply.text})], Reply()
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or (None if calls else "")}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{turn}_{0 if reply.same_ids else number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls)
        ]
    return {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 0,
        "model": asked.get("model", "scripted"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": reply.finish or ("tool_calls" if calls else "stop")}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
