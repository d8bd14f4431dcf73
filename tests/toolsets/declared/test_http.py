"""``kind: http``: a real server gets exactly what was meant, and nothing that is not public is reached unasked."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.running import step

from react_run import ConfigError, ReActAgentConfig, ReActStep, read_journal
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets.declared.http import HttpToolset


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was sent, or as its path says."""

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        said = {"method": self.command, "path": self.path, "body": body, "headers": dict(self.headers)}
        status, data, kind = 200, json.dumps(said).encode(), "application/json"
        if self.path.startswith("/status/"):
            status, data = int(self.path.rpartition("/")[2]), b'{"error": "no such city"}'
        elif self.path in ("/moved", "/moved/nowhere"):
            status = 302
        elif self.path == "/text":
            data, kind = "grüße".encode("latin-1"), "text/plain; charset=latin-1"
        elif self.path == "/broken":
            data = b"{"
        elif self.path == "/image":
            data, kind = b"\x89PNG\0\0", "image/png"
        elif self.path == "/large":
            data = b"[" + b"0," * 3_000_000 + b"0]"
        elif self.path == "/list":
            data = b'{"data": {"items": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]}}'
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "//[" if self.path.endswith("nowhere") else "http://169.254.169.254/latest")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815  # the server looks for this name


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def tool_at(port: int, path: str, **options: Any) -> HttpToolset:
    given = {"name": "ask", "description": "Ask.", "url": f"http://127.0.0.1:{port}{path}", **options}
    return HttpToolset.model_validate({"allow_hosts": [f"127.0.0.1:{port}"], **given})


def asked(tmp_path: Path, toolset: HttpToolset, **arguments: object) -> ReActStep:
    return step(tmp_path, toolset, "ask", **arguments)


def said(tmp_path: Path, toolset: HttpToolset, **arguments: object) -> Any:
    done = asked(tmp_path, toolset, **arguments)
    assert not done.error_code, done.observation
    return json.loads(done.observation)


def test_path_query_headers_and_body_have_the_values_in_their_places(tmp_path: Path, port: int) -> None:
    toolset = tool_at(
        port,
        "/v1/{city}?lang={lang}",
        method="POST",
        parameters={"city": "text", "lang": "text", "days": "integer", "tags": "list", "note": "text?"},
        query={"days": "{days}", "tag": "{tags}", "note": "{note}", "fixed": 1},
        headers={"X-Client": "react", "X-Api-Key": "hunter2000"},
        body={"city": "{city}", "days": "{days}", "tags": "{tags}", "note": "{note}", "deep": {"x": "<{city}>"}},
    )
    got = said(tmp_path, toolset, city="São Paulo/?#", lang="p&t", days=3, tags=["a", "b"])
    assert got["path"] == "/v1/S%C3%A3o%20Paulo%2F%3F%23?lang=p%26t&days=3&tag=a&tag=b&fixed=1"
    city = "São Paulo/?#"
    assert json.loads(got["body"]) == {"city": city, "days": 3, "tags": ["a", "b"], "deep": {"x": f"<{city}>"}}
    assert got["method"] == "POST"
    headers = {name.lower(): value for name, value in got["headers"].items()}
    assert (headers["content-type"], headers["x-client"]) == ("application/json", "react")


@pytest.mark.parametrize("value", ["..", ".", "", " "])
def test_a_value_cannot_lead_to_another_path(tmp_path: Path, port: int, value: str) -> None:
    done = asked(tmp_path, tool_at(port, "/v1/{city}/now", parameters={"city": "text"}), city=value)
    assert done.error_code == "invalid_path"


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("data.items.*.name", ["a", "b"]),
        ("data.items.-1.n", 2),
        (["data.items.0.name", "data.items.*.n"], {"data.items.0.name": "a", "data.items.*.n": [1, 2]}),
    ],
)
def test_only_a_part_of_the_answer_is_kept(tmp_path: Path, port: int, keep: Any, expected: object) -> None:
    assert said(tmp_path, tool_at(port, "/list", keep=keep)) == expected


@pytest.mark.parametrize(
    ("path", "options", "code", "text"),
    [
        ("/list", {"keep": "data.itms"}, "missing_part", "at 'itms' there is items"),
        ("/status/404", {}, "http_error", "no such city"),
        ("/status/429", {"timeout": 0.1}, "rate_limited", "429"),
        ("/status/500", {"method": "POST"}, "server_error", "500"),
        ("/moved", {}, "http_error", "169.254.169.254, which is not followed"),
        ("/moved/nowhere", {}, "http_error", "an invalid URL"),
        ("/broken", {}, "invalid_response", "not JSON"),
        ("/image", {}, "invalid_response", "image/png (6 bytes), which is not text"),
        ("/large", {}, "too_large", "more than 4096 KiB"),
    ],
)
def test_what_cannot_be_used_is_a_failed_call_with_its_code(
    tmp_path: Path, port: int, path: str, options: dict[str, Any], code: str, text: str
) -> None:
    done = asked(tmp_path, tool_at(port, path, **options))
    assert done.error_code == code
    assert text in done.observation


def test_text_is_read_in_its_own_encoding(tmp_path: Path, port: int) -> None:
    assert asked(tmp_path, tool_at(port, "/text")).observation == "grüße"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/x",
        "http://localhost:{port}/x",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]:{port}/x",
    ],
)
def test_what_is_not_public_is_reached_only_when_it_is_named(tmp_path: Path, port: int, url: str) -> None:
    toolset = HttpToolset(name="ask", description="Ask.", url=url.replace("{port}", str(port)))
    done = asked(tmp_path, toolset)
    assert done.error_code
    assert "public" in done.observation


def test_nobody_there_is_a_failed_call(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]
    done = asked(tmp_path, tool_at(free, "/x", method="POST"))
    assert done.error_code == "network_error"
    assert "could not be reached" in done.observation


def test_what_a_key_header_holds_is_in_no_journal(tmp_path: Path, port: int) -> None:
    path = tmp_path / "run.jsonl"
    toolset = tool_at(port, "/echo", headers={"Authorization": "Bearer hunter2000", "Accept": "application/json"})
    agent = agent_with([calls(("ask", {})), says("done")], toolsets=[toolset]).replace(journal=path)
    result = agent.run_sync("go")
    assert "hunter2000" in result.steps[0].observation
    assert "hunter2000" not in path.read_text()
    assert "application/json" in path.read_text()
    assert read_journal(path).footer is not None


def test_annotations_follow_from_the_method() -> None:
    tools = {
        method: HttpToolset(name="a", description="A.", url="https://example.org/", method=method).tools()[0]
        for method in ("GET", "POST", "DELETE")
    }
    assert [tool.read_only for tool in tools.values()] == [True, False, False]
    assert [tool.idempotent for tool in tools.values()] == [False, False, True]
    assert all(tool.network for tool in tools.values())


@pytest.mark.parametrize(
    ("lines", "place", "text"),
    [
        ("url: 'https://{host}/x'", "6:10", "the host is fixed"),
        ("url: 'ftp://example.org/'", "6:10", "http"),
        ("url: 'https://me:pw@example.org/'", "6:10", "password"),
        ("url: 'https://example.org/{cty}'", "6:10", "{cty} has no parameter. Did you mean {city}?"),
        ("url: 'https://example.org/'\n    query: {q: '{cty}'}", "7:16", "{cty} has no parameter"),
        ("url: 'https://example.org/'\n    body: {q: 1}", "7:11", "GET sends no body"),
        ("url: 'https://example.org/'\n    method: FETCH", "7:13", "must be 'GET', 'HEAD'"),
        ("url: 'https://example.org/'\n    allow_hosts: ['a b']", "7:18", "not a host"),
    ],
)
def test_what_is_wrong_in_the_file_is_reported_with_its_place(
    tmp_path: Path, lines: str, place: str, text: str
) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(f"""version: 1
toolsets:
  - kind: http
    name: ask
    description: Ask.
    {lines}
    parameters: {{city: text, host: text}}
""")
    with pytest.raises(ConfigError, match=re.escape(text)) as caught:
        ReActAgentConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}:{place}: "), str(caught.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("headers: {Authorization: x}", "sends a secret to another machine (Authorization)"),
        ("method: DELETE", "changes things on other machines (DELETE)"),
        ("allow_hosts: ['10.0.0.1:80']", "reaches non-public addresses"),
        ("query: {a: 1}", ""),
    ],
)
def test_what_an_untrusted_file_may_not_do(tmp_path: Path, options: str, why: str) -> None:
    path = tmp_path / "agent.yaml"
    tool = f"{{kind: http, name: a, description: A., url: 'https://example.org/', {options}}}"
    path.write_text(f"version: 1\ntoolsets: [{tool}]\n")
    if not why:
        assert ReActAgentConfig.from_yaml(path, trusted=False).toolsets
        return
    with pytest.raises(ConfigError, match=re.escape(why)):
        ReActAgentConfig.from_yaml(path, trusted=False)


def test_a_run_that_made_a_request_can_be_replayed_without_it(tmp_path: Path, port: int) -> None:
    path = tmp_path / "run.jsonl"
    replies = [calls(("ask", {"city": "Rome"})), says("done")]
    toolset = tool_at(port, "/v1/{city}", parameters={"city": "text"}, keep="path")
    agent_with(replies, toolsets=[toolset]).replace(journal=path).run_sync("go")
    elsewhere = tool_at(8080, "/v1/{city}", parameters={"city": "text"}, keep="path")
    replayed = asyncio.run(replay(read_journal(path), agent_with(replies, toolsets=[elsewhere])))
    assert replayed.result is not None
    assert replayed.result.steps[0].observation == "/v1/Rome"
