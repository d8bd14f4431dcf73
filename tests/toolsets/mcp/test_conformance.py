"""The official conformance suite (npm), with us as the client and as the server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITE = (
    Path(os.environ.get("REACT_RUN_MCP_SERVERS", "/nonexistent"))
    / "node/node_modules/@modelcontextprotocol/conformance/dist/index.js"
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not SUITE.exists(),
        reason="Node.js, or the conformance suite of npm, is not installed (REACT_RUN_MCP_SERVERS)",
    ),
]


@pytest.fixture(scope="module")
def suite() -> Path:
    """The suite, fit for the Node.js that is here: before 22 it lacks a function, which these scenarios do not use."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.findall(r"\d+", version)[0]) >= 22:
        return SUITE
    text = SUITE.read_text(encoding="utf-8")
    text = re.sub(r'globSync as (\w+),([^"]*?)from"fs";', r'\2from"fs";const \1=()=>[];', text, count=1)
    patched = SUITE.with_name("index-for-older-node.js")
    patched.write_text(text, encoding="utf-8")
    return patched


def passes(suite: Path, workspace: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["node", str(suite), *arguments],
        cwd=workspace,
        env={**os.environ, "REACT_RUN_HOME": str(workspace / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = re.findall(r"Passed: (\d+)/(\d+), 0 failed", done.stdout + done.stderr)
    assert found, (done.stdout + done.stderr)[-3000:]
    assert found[-1][0] == found[-1][1] != "0"
    return done.stdout


@pytest.mark.parametrize(
    "scenario",
    [
        "initialize",
        "tools_call",
        "sse-retry",
        "elicitation-sep1034-client-defaults",
        "auth/metadata-default",
        "auth/metadata-var1",
        "auth/metadata-var2",
        "auth/metadata-var3",
        "auth/basic-cimd",
        "auth/scope-from-www-authenticate",
        "auth/scope-from-scopes-supported",
        "auth/scope-omitted-when-undefined",
        "auth/scope-step-up",
        "auth/scope-retry-limit",
        "auth/token-endpoint-auth-basic",
        "auth/token-endpoint-auth-post",
        "auth/token-endpoint-auth-none",
        "auth/pre-registration",
    ],
)
def test_as_a_client(suite: Path, workspace: Path, scenario: str) -> None:
    command = f"{sys.executable} {HERE / 'conformance_client.py'}"
    passes(suite, workspace, "client", "--command", command, "--scenario", scenario)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    workspace = tmp_path_factory.mktemp("served")
    (workspace / "agent.yaml").write_text("name: calculator\ntoolsets: [math]\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "react_run", "serve", "--mcp", "--http", "127.0.0.1:0", "agent.yaml"],
        cwd=workspace,
        env={**os.environ, "REACT_RUN_HOME": str(workspace / "home")},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    yield process.stderr.readline().split()[-1].replace("127.0.0.1", "localhost")
    process.terminate()
    process.stderr.close()
    process.wait(10)


@pytest.mark.parametrize(
    "scenario", ["server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams"]
)
def test_as_a_server(suite: Path, workspace: Path, url: str, scenario: str) -> None:
    passes(suite, workspace, "server", "--url", url, "--scenario", scenario)
