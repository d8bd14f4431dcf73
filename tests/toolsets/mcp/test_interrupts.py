"""Ctrl-C on a terminal while a tool of a server is at work: the server hears of it, and all ends in good order."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminals import Terminal
from tests.toolsets.mcp.local_servers import script
from tests.toolsets.mcp.test_processes import appears, is_gone

from react_run.journal.reading import read_journal

pytestmark = pytest.mark.terminal

BY_HAND = """
import os
def note(name, data):
    with open(name + ".part", "w") as file: json.dump(data, file)
    os.rename(name + ".part", name)
for message in messages():
    if message["method"] == "initialize": initialized(message)
    elif message["method"] == "tools/list": answer(message, {"tools": [tool("hang")]})
    elif message["method"] == "tools/call": note("called", {"id": message["id"], "pid": os.getpid()})
    elif message["method"] == "notifications/cancelled": note("cancelled", message["params"])
    elif "id" in message: refuse(message, -32601, "Method not found")
note("ended", "the input has ended")
"""
WITH_SDK = """
import json, os, sys
import anyio
from mcp.server import MCPServer
server = MCPServer("sdk")
def note(name, data):
    with open(name + ".part", "w") as file: json.dump(data, file)
    os.rename(name + ".part", name)
@server.tool()
async def hang() -> str:
    '''Hang.'''
    try:
        note("called", {"pid": os.getpid()})
        await anyio.sleep_forever()
    except BaseException as error:
        note("cancelled", type(error).__name__)
        raise
server.run()
note("ended", "the input has ended")
"""


@pytest.fixture(params=["by hand", "with the SDK"])
def agent_file(request: pytest.FixtureRequest, workspace: Path) -> Path:
    command, *args = script(workspace, BY_HAND)
    if request.param == "with the SDK":  # which speaks the protocol of 2026
        (workspace / "server.py").write_text(WITH_SDK)
        args = ["server.py"]
    model = {"kind": "scripted", "replies": [{"tool_calls": [{"name": "demo__hang"}]}, "done"]}
    toolset = {"kind": "mcp", "name": "demo", "command": command, "args": args, "start_timeout": 90}
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"model": model, "toolsets": [toolset]}))
    return path


@pytest.fixture
def opened() -> Iterator[list[Terminal]]:
    terminals: list[Terminal] = []
    yield terminals
    for terminal in terminals:
        if terminal.process.poll() is None:
            terminal.process.send_signal(signal.SIGKILL)
            terminal.process.wait()


def read(path: Path) -> Any:
    assert appears(path), f"{path.name} did not come"
    return json.loads(path.read_text())


def look_at_what_was_heard(workspace: Path) -> None:
    called, cancelled = read(workspace / "called"), read(workspace / "cancelled")
    if isinstance(cancelled, dict):  # the notification as it came
        assert cancelled == {"requestId": called["id"], "reason": "caller cancelled"}
    else:
        assert cancelled == "CancelledError"


def test_a_run_ends_with_130_and_its_server_has_heard_why(
    workspace: Path, agent_file: Path, opened: list[Terminal]
) -> None:
    terminal = Terminal(workspace, str(agent_file), "hi", "--trust")
    opened.append(terminal)
    called = read(workspace / "called")
    terminal.type("\x03")
    assert terminal.end() == 130
    look_at_what_was_heard(workspace)
    assert is_gone(called["pid"], 60)
    [journal] = (workspace / "home").rglob("*.jsonl")
    last = read_journal(journal).own[-1]
    assert (last["type"], last["stop_reason"]) == ("footer", "cancelled")


def test_a_chat_goes_on_with_the_same_server(workspace: Path, agent_file: Path, opened: list[Terminal]) -> None:
    terminal = Terminal(workspace, "chat", str(agent_file), "--trust")
    opened.append(terminal)
    terminal.until("/help for help")
    terminal.type("hi\r")
    called = read(workspace / "called")
    terminal.type("\x03")
    terminal.until("interrupted; this turn")
    look_at_what_was_heard(workspace)
    assert not (workspace / "ended").exists()
    (workspace / "called").unlink()
    (workspace / "cancelled").unlink()
    terminal.type("again\r")
    assert read(workspace / "called")["pid"] == called["pid"]
    terminal.type("\x03")
    look_at_what_was_heard(workspace)
    terminal.insist("\x04", "\n")
    assert terminal.end() == 0
    assert read(workspace / "ended")  # it was not killed, and the keys of the terminal did not reach it
    assert is_gone(called["pid"], 60)
