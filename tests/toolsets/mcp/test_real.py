"""Servers of others: three from PyPI and three from npm, in one agent.

``.ci/run`` installs them into a scratch directory, whose path is in ``REACT_RUN_MCP_SERVERS``: a virtual environment
``py`` and a directory ``node`` with ``node_modules``.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.toolsets.mcp.local_servers import agent_of, code_of, steps_of

from react_toolsets.mcp import McpToolset, McpWarning

HOME = Path(os.environ.get("REACT_RUN_MCP_SERVERS", "/nonexistent"))
PROGRAMS = HOME / "py" / "bin"
MODULES = HOME / "node" / "node_modules" / "@modelcontextprotocol"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROGRAMS / "mcp-server-time").exists(),
        reason="the servers are not installed: REACT_RUN_MCP_SERVERS names no directory with them",
    ),
]
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not MODULES.exists(), reason="Node.js, or its servers, are not installed"
)


def python_server(name: str, *args: str, **options: Any) -> McpToolset:
    command = str(PROGRAMS / f"mcp-server-{name}")
    return McpToolset.model_validate(
        {"name": name, "command": command, "args": args, "start_timeout": 90, "timeout": 90, **options}
    )


def node_server(name: str, module: str, *args: str, **options: Any) -> McpToolset:
    args = (str(MODULES / module / "dist" / "index.js"), *args)
    return McpToolset.model_validate(
        {"name": name, "command": "node", "args": args, "start_timeout": 90, "timeout": 90, **options}
    )


@pytest.fixture
def page() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><body><article><h1>Hello</h1><p>Words of a page.</p></article></body></html>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@needs_node
def test_one_agent_works_with_six_servers_at_once(workspace: Path, page: str) -> None:
    repository = workspace / "repository"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", str(repository)], check=True)
    subprocess.run([*git, "-C", str(repository), "commit", "-q", "--allow-empty", "-m", "first words"], check=True)
    toolsets = [
        python_server("time"),
        python_server("git", "--repository", str(repository)),
        python_server("fetch", "--ignore-robots-txt", "--allow-private-ips"),
        node_server("everything", "server-everything"),
        node_server("files", "server-filesystem", str(workspace)),
        node_server("memory", "server-memory", env={"MEMORY_FILE_PATH": str(workspace / "memory.json")}),
    ]
    entity = {"name": "Ada", "entityType": "person", "observations": ["writes programs"]}
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("time__get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
        (
            "time__convert_time",
            {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            "21:00",
        ),
        ("git__git_status", {"repo_path": str(repository)}, "nothing to commit"),
        ("git__git_log", {"repo_path": str(repository)}, "first words"),
        ("fetch__fetch", {"url": page}, "Words of a page."),
        ("everything__echo", {"message": "hello"}, "hello"),
        ("everything__get-sum", {"a": 2, "b": "3"}, "5"),
        ("everything__get-structured-content", {"location": "New York"}, "temperature"),
        ("everything__get-tiny-image", {}, "saved as .react-run/"),
        ("everything__trigger-long-running-operation", {"duration": 1, "steps": 2}, "completed"),
        ("files__write_file", {"path": str(workspace / "note.txt"), "content": "noted"}, "wrote"),
        ("files__read_text_file", {"path": str(workspace / "note.txt")}, "noted"),
        ("memory__create_entities", {"entities": [entity]}, "Ada"),
        ("memory__search_nodes", {"query": "Ada"}, "writes programs"),
    ]
    agent = agent_of(workspace, toolsets, *[(name, arguments) for name, arguments, _ in calls])
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    steps = asyncio.run(steps_of(agent))
    assert len(agent.tools) >= 50
    wrong = [
        (name, step.observation)
        for (name, _, expected), step in zip(calls, steps, strict=True)
        if code_of(step) or expected not in step.observation
    ]
    assert wrong == []
    left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert [child for child in left if child.status() != psutil.STATUS_ZOMBIE] == []


@needs_node
def test_two_filesystem_servers_work_in_one_agent(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    places = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    toolsets = [node_server(f"files-{place.name[:3]}", "server-filesystem", str(place)) for place in places]
    calls: list[tuple[str, dict[str, Any]]] = []
    for place in places:
        (place / "note.txt").write_text(f"in {place.name[:3]}")
        calls.append((f"files-{place.name[:3]}__read_text_file", {"path": str(place / "note.txt")}))
    one, two = asyncio.run(steps_of(agent_of(workspace, toolsets, *calls)))
    assert ("in one" in one.observation, "in two" in two.observation) == (True, True)


@needs_node
def test_an_error_of_a_server_in_another_language_is_a_failed_call(workspace: Path) -> None:
    toolset = node_server("files", "server-filesystem", str(workspace))
    agent = agent_of(workspace, [toolset], ("files__read_text_file", {"path": "/etc/passwd"}))
    [step] = asyncio.run(steps_of(agent))
    assert code_of(step) == "mcp_error"
    assert "denied" in step.observation


@needs_node
@pytest.mark.skipif(not Path("/proc/self/ns").exists(), reason="confinement is a matter of Linux")
def test_a_confined_server_cannot_write_where_it_was_told_it_may(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from react_toolsets.programs import Confinement

    if not Confinement(write=[]).means:
        pytest.skip("nothing here can confine programs")
    other = tmp_path_factory.mktemp("other")
    toolset = node_server(
        "files", "server-filesystem", str(workspace), str(other), sandbox=True, readable=[str(HOME)], network=False
    )
    calls = [("files__write_file", {"path": str(path / "x"), "content": "x"}) for path in (workspace, other)]
    mine, foreign = asyncio.run(steps_of(agent_of(workspace, [toolset], *calls)))
    assert code_of(mine) == ""
    assert code_of(foreign) == "mcp_error"
    assert not (other / "x").exists()


@needs_node
def test_resources_and_prompts_of_a_real_server_can_be_read(workspace: Path) -> None:
    toolset = node_server("everything", "server-everything", resources=True)
    calls = [
        ("everything__list_resources", {}),
        ("everything__read_resource", {"uri": "demo://resource/dynamic/text/1"}),
    ]
    listed, read = asyncio.run(steps_of(agent_of(workspace, [toolset], *calls)))
    assert "demo://resource" in listed.observation
    assert "Resource 1" in read.observation
    inspection = toolset.inspection()
    try:
        assert "simple-prompt" in inspection.prompt("everything", "", {})
        assert "simple prompt" in inspection.prompt("everything", "simple-prompt", {}).lower()
    finally:
        inspection.end()


def test_a_server_for_an_older_sdk_says_why_it_does_not_start(workspace: Path) -> None:
    if not (PROGRAMS / "mcp-server-sqlite").exists():
        pytest.skip("mcp-server-sqlite is not installed")
    toolset = python_server("sqlite", "--db-path", str(workspace / "x.db"))
    with pytest.warns(McpWarning, match="the MCP server sqlite is left out: .* It wrote: .*"):
        assert toolset.tools() == []


@needs_node
@pytest.mark.parametrize(("how", "path"), [("streamableHttp", "mcp"), ("sse", "sse")])
def test_a_server_in_another_language_is_reached_over_http(workspace: Path, how: str, path: str) -> None:
    from tests.toolsets.mcp.remote import free_port

    port = free_port()
    script = str(MODULES / "server-everything" / "dist" / "index.js")
    log = workspace / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            ["node", script, how], env={**os.environ, "PORT": str(port)}, stdout=output, stderr=output
        )
    try:
        while "listening" not in log.read_text().lower() and "running" not in log.read_text().lower():
            assert process.poll() is None, log.read_text()
            threading.Event().wait(0.1)
        transport = "sse" if how == "sse" else "http"
        toolset = McpToolset.model_validate(
            {"name": "web", "url": f"http://127.0.0.1:{port}/{path}", "transport": transport}
        )
        [step] = asyncio.run(steps_of(agent_of(workspace, [toolset], ("web__get-sum", {"a": 2, "b": 3}))))
        assert "5" in step.observation
        assert json.dumps(code_of(step)) == '""'
    finally:
        process.terminate()
        process.wait(10)
