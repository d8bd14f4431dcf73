"""``react-run acp`` driven by a client of others: acpx, which works agents from the command line.

``.ci/run`` installs it beside the MCP servers for the tests, in the directory that ``REACT_RUN_MCP_SERVERS`` names.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serve.test_acp import FILES, call, scripted
from tests.serve.test_acp_commands import PROMPTS, toolset
from tests.toolsets.mcp.test_interrupts import BY_HAND
from tests.toolsets.mcp.test_processes import appears

from react_run.journal.reading import read_journal

ACPX = Path(os.environ.get("REACT_RUN_MCP_SERVERS", "/nonexistent")) / "node/node_modules/acpx/dist/cli.js"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not ACPX.exists(),
        reason="Node.js, or acpx of npm, is not installed (REACT_RUN_MCP_SERVERS)",
    ),
]
IMPATIENT = "queue owner failed to start"
"""What acpx says when a process of its own is not ready within its patience; nothing was sent then."""


class Acpx:
    """The client, with a home of its own, and our agent."""

    def __init__(self, workspace: Path, file: Path) -> None:
        (workspace / "user").mkdir()
        self.workspace = workspace
        command = shlex.join([sys.executable, "-m", "react_run", "acp", str(file), "--trust"])
        self.command = ["node", str(ACPX), "--ttl", "1", "--cwd", str(workspace), "--agent", command]
        homes = {"HOME": str(workspace / "user"), "REACT_RUN_HOME": str(workspace / "home")}
        self.environment = {**os.environ, **homes}

    def __call__(self, *arguments: str, options: tuple[str, ...] = (), status: int = 0) -> str:
        for _ in range(10):
            done = subprocess.run(
                [*self.command, *options, *arguments],
                cwd=self.workspace,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            if IMPATIENT not in done.stdout + done.stderr:
                break
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def turns(self) -> list[list[str]]:
        """What each turn was asked after, the first turn first; the rules that the agent is given are left out."""
        headers = [read_journal(path).header for path in (self.workspace / "home").rglob("*.jsonl")]
        headers.sort(key=lambda header: header["time"])
        said = [[message.get("content") for message in header["incoming"]] for header in headers]
        return [[*messages[1:], header["prompt"]] for messages, header in zip(said, headers, strict=True)]


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[list[Acpx]]:
    """Clients whose sessions are closed at the end, so that none waits for more."""
    opened: list[Acpx] = []
    yield opened
    for client in opened:
        client("sessions", "close")


@pytest.mark.parametrize(
    ("choice", "status", "written", "shown"),
    [("--approve-all", 0, True, "completed"), ("--deny-all", 5, False, "failed")],
)
def test_a_change_is_made_where_the_client_says_so(
    tmp_path: Path, choice: str, status: int, written: bool, shown: str
) -> None:
    more = f"{FILES}\npermissions: [{{tool: write_file, action: ask}}]"
    file = scripted(tmp_path, call("write_file", path="notes.txt", content="new\n"), "It is done.", more=more)
    lines = Acpx(tmp_path, file)("exec", "go", options=(choice, "--format", "json"), status=status).splitlines()
    messages = [json.loads(line) for line in lines]
    updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
    assert [update["status"] for update in updates if "status" in update][-1] == shown
    words = [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert "".join(words) == "It is done."
    assert messages[-1]["result"]["stopReason"] == "end_turn"
    assert (tmp_path / "notes.txt").exists() is written


def test_a_conversation_goes_on_in_other_processes(tmp_path: Path, sessions: list[Acpx]) -> None:
    client = Acpx(tmp_path, scripted(tmp_path, "fine"))
    sessions.append(client)
    client("sessions", "new")
    for prompt in ("first", "second", "third"):  # the agent of each ends with it, and the journal knows the rest
        assert "fine" in client("prompt", prompt)
    assert client.turns() == [
        ["first"],
        ["first", "fine", "second"],
        ["first", "fine", "second", "fine", "third"],
    ]


def test_a_prompt_of_a_server_is_a_command(tmp_path: Path) -> None:
    client = Acpx(tmp_path, scripted(tmp_path, "Hello!", more=toolset(tmp_path, PROMPTS)))
    assert "Hello!" in client("exec", "/demo:greet who=Ada")
    assert client.turns() == [["Say hello to Ada, @notes.txt /demo:plain"]]
    assert "greet who=… [tone=…]" in client("exec", "/demo:")


def test_cancelling_reaches_the_server_of_a_tool(tmp_path: Path, sessions: list[Acpx]) -> None:
    client = Acpx(tmp_path, scripted(tmp_path, call("hang"), "done", more=toolset(tmp_path, BY_HAND)))
    sessions.append(client)
    client("sessions", "new")
    client("prompt", "--no-wait", "go")
    assert appears(tmp_path / "called")
    client("cancel")
    assert appears(tmp_path / "cancelled")
