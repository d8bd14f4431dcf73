"""Prompts of MCP servers as commands in an editor, seen by the client of the published SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from acp import text_block
from tests.serve.test_acp import PIXEL, Editor, asked, call, scripted, talked
from tests.toolsets.mcp.local_servers import script

from react_run.journal.reading import read_journal

PROMPTS = """
import os
open("started", "a").write(f"{os.getpid()}\\n")
ARGUMENTS = [{"name": "who", "required": True}, {"name": "tone"}]
GREET = {"name": "greet", "description": "Greets\\nsomebody.", "arguments": ARGUMENTS}
def more(message):
    if message["method"] == "prompts/list" and "cursor" not in message.get("params", {}):
        answer(message, {"prompts": [GREET], "nextCursor": "2"})
    elif message["method"] == "prompts/list":
        answer(message, {"prompts": [{"name": "plain"}, {"name": "not a word"}]})
    elif message["method"] == "prompts/get":
        given = message["params"].get("arguments", {})
        if message["params"]["name"] not in ("greet", "plain"):
            return refuse(message, -32602, "there is no such prompt")
        block = {"type": "text", "text": f"Say hello to {given.get('who', 'all')}, @notes.txt /demo:plain"}
        answer(message, {"messages": [{"role": "user", "content": block}]})
    else:
        refuse(message, -32601, "Method not found")
serve([tool("go")], lambda name, arguments, request: text(name), other=more, prompts={})
"""


def toolset(workspace: Path, body: str = PROMPTS, **options: Any) -> str:
    command, *args = script(workspace, body)
    given: dict[str, Any] = {"kind": "mcp", "name": "demo", "command": command, "args": args, "cwd": str(workspace)}
    given.update({"prefix": "", **options})
    return f"toolsets: {json.dumps([given])}"


def commands(editor: Editor) -> list[tuple[str, str, str]]:
    """Name, description and hint of what was announced last."""
    available = editor.of("available_commands_update")[-1].available_commands
    return [(one.name, one.description, one.input.root.hint if one.input else "") for one in available]


KNOWN = [
    ("demo:greet", "Greets somebody.", "who=… [tone=…]"),
    ("demo:plain", "A prompt of the MCP server demo", ""),
]


def test_prompts_of_servers_are_announced_and_asked(tmp_path: Path) -> None:
    editor = Editor()
    file = scripted(tmp_path, "Hello!", more=toolset(tmp_path))

    async def work(connection: Any) -> Any:
        session = (await connection.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        await editor.until("available_commands_update")
        assert commands(editor) == KNOWN
        return await connection.prompt(session_id=session, prompt=[text_block("/demo:greet who='you two'")])

    done = talked(file, editor, work)
    said = "Say hello to you two, @notes.txt /demo:plain"  # is text, whatever it looks like
    assert [update.content.text for update in editor.of("user_message_chunk")] == [said]
    assert (done.stop_reason, editor.said) == ("end_turn", "Hello!")
    [journal] = (tmp_path / "data/react-run/runs").glob("*.jsonl")
    assert read_journal(journal).header["prompt"] == said
    assert len(editor.of("available_commands_update")) == 1  # nothing has changed since
    pids = map(int, (tmp_path / "started").read_text().split())
    assert [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"] == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/demo:", "greet who=… [tone=…]: Greets\nsomebody.\nplain\nnot a word"),
        ("/demo:nope", "there is no such prompt"),
        ("/demo:greet you", "you: write KEY=VALUE, such as path=notes.txt"),
        ("/demo:greet 'who=x", "No closing quotation"),
    ],
)
def test_what_needs_no_turn_is_answered_without_one(tmp_path: Path, typed: str, said: str) -> None:
    editor = Editor()
    file = scripted(tmp_path, "a turn", more=toolset(tmp_path))
    done = talked(file, editor, lambda connection: asked(connection, tmp_path, text_block(typed)))
    assert (done.stop_reason, editor.said) == ("end_turn", said)
    assert list((tmp_path / "data/react-run/runs").glob("*.jsonl")) == []


@pytest.mark.parametrize("typed", ["/other:greet", "/etc/hosts: what is in it?", "demo:greet", "/demo"])
def test_other_text_is_text(tmp_path: Path, typed: str) -> None:
    editor = Editor()
    file = scripted(tmp_path, "a turn", more=toolset(tmp_path))
    talked(file, editor, lambda connection: asked(connection, tmp_path, text_block(typed)))
    assert editor.said == "a turn"
    [journal] = (tmp_path / "data/react-run/runs").glob("*.jsonl")
    assert read_journal(journal).header["prompt"] == typed


def test_a_locked_server_is_not_started_to_be_asked_for_its_prompts(tmp_path: Path) -> None:
    from react_run.cli import main

    file = scripted(tmp_path, call("go"), "done", more=toolset(tmp_path))
    with pytest.raises(SystemExit):
        main(["mcp", "lock", str(file), "--trust", "--yes"])
    (tmp_path / "started").unlink()
    editor = Editor()

    async def work(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        await editor.until("available_commands_update")
        assert commands(editor) == [("demo:", "List the prompts of the MCP server demo, which starts it", "")]
        assert not (tmp_path / "started").exists()
        editor.updates.clear()
        await connection.prompt(session_id=session, prompt=[text_block("go")])  # its tool is called
        await editor.until("available_commands_update")

    talked(file, editor, work)
    assert commands(editor) == KNOWN
    assert (tmp_path / "started").read_text().count("\n") == 1


def test_a_prompt_that_is_waited_for_can_be_cancelled(tmp_path: Path) -> None:
    body = PROMPTS.replace(
        'if message["params"]["name"] not',
        'open("asked", "w").close(); return\n        if message["params"]["name"] not',
    )
    editor = Editor()
    file = scripted(tmp_path, "a turn", more=toolset(tmp_path, body, timeout=600))

    async def work(connection: Any) -> str:
        import asyncio

        session = (await connection.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        turn = asyncio.ensure_future(connection.prompt(session_id=session, prompt=[text_block("/demo:plain")]))
        while not (tmp_path / "asked").exists():  # noqa: ASYNC110  # the server says so in a file
            await asyncio.sleep(0.02)
        await connection.cancel(session_id=session)
        return str((await turn).stop_reason)

    assert talked(file, editor, work) == "cancelled"


def test_an_agent_without_servers_announces_nothing(tmp_path: Path) -> None:
    editor = Editor()
    talked(scripted(tmp_path, "hi"), editor, lambda connection: asked(connection, tmp_path, text_block("/demo:x")))
    assert (editor.said, editor.of("available_commands_update")) == ("hi", [])


def test_attachments_beside_a_command_make_it_text(tmp_path: Path) -> None:
    from acp.helpers import image_block

    editor = Editor()
    file = scripted(tmp_path, "a turn", more=toolset(tmp_path))
    blocks = [text_block("/demo:plain"), image_block(PIXEL, "image/png")]
    talked(file, editor, lambda connection: asked(connection, tmp_path, *blocks))
    assert (editor.said, editor.of("user_message_chunk")) == ("a turn", [])
