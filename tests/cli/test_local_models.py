"""What ``doctor`` says about the memory of model servers on this machine, told by servers on the loopback address."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import Call, write

from react_run.cli.finding import Finding
from react_run.cli.local_models import memory_findings
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel

GB = 2**30
LLAMA = {
    "general.architecture": "llama",
    "llama.block_count": 32,
    "llama.embedding_length": 4096,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
}
"""The shape of Llama 3.1 with 8 billion parameters: 128 KiB of keys and values per token."""
TAGS = {"models": [{"name": "qwen3:8b", "size": 5 * GB}, {"name": "llama3.1:latest", "size": 4 * GB}]}
OLLAMA = {"/api/tags": TAGS, "/api/ps": {"models": []}, "/api/show": {"model_info": LLAMA}}
LLAMA_CPP = {
    "/v1/models": {"data": [{"id": "/models/a.gguf", "meta": {"n_params": 8_030_261_312, "size": 4_912_898_304}}]}
}

Serve = Callable[[Mapping[str, Any]], str]


class _Answers(BaseHTTPRequestHandler):
    """Answers paths from a table, and everything else with 404."""

    replies: Mapping[str, Any]
    asked: list[tuple[str, Any]]

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.asked.append((self.path, body))
        known = self.path in self.replies
        reply = self.replies.get(self.path)
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(200 if known else 404)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815  # the name that the library asks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Say nothing."""


@pytest.fixture
def asked() -> list[tuple[str, Any]]:
    """The requests that came, each with its body."""
    return []


@pytest.fixture
def serve(asked: list[tuple[str, Any]]) -> Iterator[Serve]:
    """Starts a server with these replies; its address."""
    servers = []

    def start(replies: Mapping[str, Any]) -> str:
        handler = type("Answers", (_Answers,), {"replies": replies, "asked": asked})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        servers.append((server, thread))
        thread.start()
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def found(url: str, name: str, folder: Path, *, free: int | None = 8 * GB, window: int | None = None) -> list[Finding]:
    """What is found when ``free`` bytes are."""
    memory = folder / "meminfo"
    if free is not None:
        memory.write_text(f"MemTotal: 99999999 kB\nMemAvailable: {free // 1024} kB\n", encoding="ascii")
    model = OpenAIModel(model=name, base_url=url, context_window=window)
    return list(memory_findings(model, memory=memory))


def test_weights_and_context_are_compared_with_what_is_free(
    serve: Serve, tmp_path: Path, asked: list[tuple[str, Any]]
) -> None:
    (finding,) = found(serve(OLLAMA), "llama3.1", tmp_path)
    assert (finding.status, finding.what, finding.fix) == ("ok", "memory for llama3.1", "")
    said = "it needs about 4.9 GB (4.0 GB of weights, 0.5 GB for 4,096 tokens of context), and 8.0 GB are free"
    assert finding.detail == f"{said}; an estimate that ignores graphics memory"
    assert ("/api/show", {"model": "llama3.1:latest"}) in asked


def test_a_long_context_is_counted_and_what_is_too_much_is_a_note_with_its_fix(serve: Serve, tmp_path: Path) -> None:
    (finding,) = found(serve(OLLAMA), "llama3.1", tmp_path, window=131_072)
    assert finding.status == "note"  # graphics memory may hold it: no failure
    assert "16.0 GB for 131,072 tokens of context" in finding.detail
    assert "a smaller model, quantization or context_window" in finding.fix


def test_weights_alone_can_be_too_much(serve: Serve, tmp_path: Path) -> None:
    without_shape = {**OLLAMA, "/api/show": {"model_info": {}}}
    (finding,) = found(serve(without_shape), "qwen3:8b", tmp_path, free=5 * GB)
    assert finding.status == "note"
    assert finding.detail.startswith("it needs about 5.5 GB (5.0 GB of weights), and 5.0 GB are free")


def test_a_loaded_model_needs_nothing_more(serve: Serve, tmp_path: Path) -> None:
    running = {**OLLAMA, "/api/ps": {"models": [{"name": "qwen3:8b", "size": 6 * GB}]}}
    (finding,) = found(serve(running), "qwen3:8b", tmp_path, free=GB)
    assert (finding.status, finding.detail) == ("ok", "the server has loaded it (6.0 GB)")
    (finding,) = found(serve(LLAMA_CPP), "anything", tmp_path, free=GB)
    assert (finding.status, finding.detail) == ("ok", "the server has loaded it (4.6 GB)")


def test_a_model_that_the_server_lacks_is_a_failure_with_the_nearest_name(serve: Serve, tmp_path: Path) -> None:
    (finding,) = found(serve(OLLAMA), "qwen3:8", tmp_path)
    assert (finding.status, finding.fix) == ("failed", "ollama pull qwen3:8")
    assert finding.detail == "the server has no model qwen3:8; did you mean qwen3:8b?"


def test_where_free_memory_is_not_known_the_need_is_told(serve: Serve, tmp_path: Path) -> None:
    (finding,) = found(serve(OLLAMA), "llama3.1", tmp_path, free=None)
    assert finding.status == "note"
    assert finding.detail.endswith("how much memory is free is unknown")


@pytest.mark.parametrize(
    "replies",
    [
        {},
        {"/v1/models": {"data": [{"id": "m"}, 5]}},
        {"/api/tags": b"<html>", "/v1/models": b"\xff"},
        {"/api/tags": [], "/v1/models": {"data": {"id": "m"}}},
        {"/api/tags": {"models": [{"size": "big"}, None]}, "/v1/models": {"data": [{"id": "m", "meta": {"size": -1}}]}},
    ],
)
def test_nothing_is_said_of_servers_that_do_not_tell(serve: Serve, tmp_path: Path, replies: Mapping[str, Any]) -> None:
    assert found(serve(replies), "m", tmp_path) == []


def test_other_machines_are_not_asked(tmp_path: Path) -> None:
    assert found("https://models.example.org/v1", "m", tmp_path) == []
    assert list(memory_findings(LiteLLMModel(model="anthropic/claude-sonnet-4-5"))) == []


def test_ollama_models_of_litellm_are_asked_for_by_their_own_name(serve: Serve, tmp_path: Path) -> None:
    root = serve(OLLAMA).removesuffix("/v1")
    (finding,) = memory_findings(LiteLLMModel(model="ollama/llama3.1", base_url=root), memory=tmp_path / "none")
    assert finding.what == "memory for llama3.1"
    assert "2.0 GB for 16,384 tokens of context" in finding.detail  # what react-run asks Ollama for


def test_doctor_tells_the_estimate_unless_it_is_offline(call: Call, tmp_path: Path, serve: Serve) -> None:
    write(tmp_path, f"model: {{kind: openai, model: llama3.1, base_url: '{serve(OLLAMA)}'}}\n")
    status, out, _ = call("doctor", "agent.yaml")
    assert status == 0, out
    assert "memory for llama3.1: it needs about 4.9 GB" in out
    assert "memory for" not in call("doctor", "agent.yaml", "--offline")[1]
