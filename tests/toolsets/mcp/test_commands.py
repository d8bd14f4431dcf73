"""MCP servers in the commands of people: prompts in a chat, and what ``doctor`` finds."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from tests.toolsets.mcp.local_servers import script

from react_run.cli import main

PROMPTS = """
def more(message):
    if message["method"] == "prompts/list":
        answer(message, {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]})
    elif message["method"] == "prompts/get":
        if message["params"]["name"] != "greet":
            return refuse(message, -32602, "there is no such prompt")
        who = message["params"]["arguments"]["who"]
        block = {"type": "text", "text": f"Hello {who}"}
        answer(message, {"messages": [{"role": "user", "content": block}]})
    else:
        refuse(message, -32601, "Method not found")
serve([tool("go")], lambda name, arguments, request: text(name), other=more, prompts={})
"""
SERVER = "serve([tool('go')])"


def agent_file(workspace: Path, body: str) -> str:
    command, *args = script(workspace, body)
    toolset = {"kind": "mcp", "name": "demo", "command": command, "args": args, "prefix": ""}
    model = {"kind": "scripted", "replies": ["done"]}
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"model": model, "toolsets": [toolset]}))
    return str(path)


def react_run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_prompt_of_a_server_is_asked_in_a_chat(
    workspace: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "secret.txt").write_text("not for servers")
    path = agent_file(workspace, PROMPTS)
    asked = "/demo:greet who='you and @secret.txt'"
    lines = ["/demo:", asked, "/demo:nope who=x", "/no:greet", "/demo:greet who", "/demo:greet 'who=x", "/quit"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    assert react_run("chat", path, "--trust") == 0
    out, err = capsys.readouterr()
    assert out == "done\n"  # one turn was taken
    assert "greet who=…" in err
    assert "there is no such prompt" in err
    assert "names no MCP server 'no'. Servers: demo" in err
    assert "write KEY=VALUE" in err
    assert "No closing quotation" in err
    [journal] = data.rglob("*.jsonl")
    text = journal.read_text()
    assert "Hello you and @secret.txt" in text  # what a server says names no files of ours
    assert "not for servers" not in text


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (SERVER, 0, "1 tool, as locked"),
        (SERVER.replace("[", "[tool('changed'), "), 1, "it differs from the lock: changed: new"),
    ],
)
def test_doctor_starts_every_server_and_says_what_it_found(
    workspace: Path, capsys: pytest.CaptureFixture[str], body: str, status: int, said: str
) -> None:
    path = agent_file(workspace, SERVER)
    assert react_run("mcp", "lock", path, "--trust", "--yes") == 0
    agent_file(workspace, body)
    capsys.readouterr()
    assert react_run("doctor", path, "--trust", "--offline") == status
    out = capsys.readouterr().out
    assert re.search(r"MCP server demo: ready in \d+\.\d\d s: .*, protocol 20\d\d-\d\d-\d\d, ", out), out
    assert said in out


@pytest.mark.filterwarnings("ignore::react_toolsets.mcp.McpWarning")  # as for a user: a note, and no error
def test_doctor_names_a_server_that_does_not_start(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = agent_file(workspace, "sys.exit('no database')")
    assert react_run("doctor", path, "--trust", "--offline") == 1
    out = capsys.readouterr().out
    assert "no database" in out
    assert "fix: run its command by hand, and read .react-run/logs/mcp-demo.log" in out
