"""``react-run acp`` over real pipes, seen by the client of the published SDK."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, spawn_agent_process, text_block
from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    EnvVariable,
    McpServerStdio,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from acp.schema import DeniedOutcome as Cancelled

PIXEL = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
).decode()


class Editor:
    """An editor that notes what it is told, and answers what it is asked with ``answer``."""

    def __init__(self, answer: str | None = "yes", form: dict[str, Any] | None = None) -> None:
        self.answer, self.form = answer, form
        self.updates: list[Any] = []
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.forms: list[tuple[str, Any]] = []
        self.told = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.told.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        if self.answer is None:
            return RequestPermissionResponse(outcome=Cancelled(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.answer))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> AcceptElicitationResponse:
        self.forms.append((message, mode))
        return AcceptElicitationResponse(action="accept", content=self.form)

    @property
    def said(self) -> str:
        """The answer as it came."""
        return "".join(u.content.text for u in self.updates if u.session_update == "agent_message_chunk")

    def of(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]

    async def until(self, kind: str) -> None:
        """Wait for an update of a kind."""
        while not self.of(kind):
            self.told.clear()
            await self.told.wait()


@asynccontextmanager
async def agent(file: Path, editor: Editor, *options: str, **variables: str) -> AsyncIterator[Any]:
    """A connection to ``react-run acp FILE``, which knows what the editor can do."""
    environment = {**os.environ, "XDG_DATA_HOME": str(file.parent / "data"), **variables}
    command = (sys.executable, "-m", "react_run", "acp", str(file), "--trust", *options)
    async with spawn_agent_process(
        editor,  # type: ignore[arg-type]  # it has what is used of a client
        *command,
        env=environment,
        use_unstable_protocol=True,
        transport_kwargs={"stderr": None, "shutdown_timeout": 120},
    ) as (connection, process):
        forms = ElicitationCapabilities(form=ElicitationFormCapabilities()) if editor.form is not None else None
        await connection.initialize(
            protocol_version=1, client_capabilities=ClientCapabilities.model_validate({"elicitation": forms})
        )
        yield connection
    assert process.returncode == 0, process.returncode


def talked(file: Path, editor: Editor, work: Callable[[Any], Awaitable[Any]], *options: str, **variables: str) -> Any:
    """What ``work`` finds out with a connection."""

    async def talk() -> Any:
        async with asyncio.timeout(240), agent(file, editor, *options, **variables) as connection:
            return await work(connection)

    return asyncio.run(talk())


def scripted(directory: Path, *replies: Any, more: str = "") -> Path:
    path = directory / "agent.yaml"
    model = json.dumps({"kind": "scripted", "replies": replies})
    path.write_text(f"version: 1\nname: helper\nmodel: {model}\n{more}\n")
    return path


def call(name: str, /, **arguments: object) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


async def asked(connection: Any, directory: Path, *blocks: Any) -> Any:
    """The answer to one prompt in a new session."""
    session = await connection.new_session(cwd=str(directory), mcp_servers=[])
    return await connection.prompt(session_id=session.session_id, prompt=list(blocks) or [text_block("go")])


MATH = "toolsets: [math]"
FILES = "toolsets: [{kind: files, read_only: false}]"


def test_an_answer_and_its_tool_calls_are_shown_as_they_happen(tmp_path: Path) -> None:
    editor = Editor()
    file = scripted(tmp_path, call("calculate", expression="15*23"), "It is 345.", more=MATH)
    done = talked(file, editor, lambda connection: asked(connection, tmp_path))
    assert (done.stop_reason, editor.said) == ("end_turn", "It is 345.")
    [started], [finished] = editor.of("tool_call"), editor.of("tool_call_update")
    assert (started.title, started.status, started.kind) == ("calculate 15*23", "in_progress", "read")
    assert started.raw_input == {"expression": "15*23"}
    assert (finished.tool_call_id, finished.status) == (started.tool_call_id, "completed")
    assert "345" in finished.content[0].content.text


def test_what_is_written_to_standard_output_does_not_disturb(tmp_path: Path) -> None:
    (tmp_path / "noise.py").write_text(
        "import os, subprocess\n"
        "def shout() -> str:\n    '''Shout.'''\n"
        "    print('noise'); os.write(1, b'more noise\\n'); subprocess.run(['echo', 'noise of a program'])\n"
        "    return 'shouted'\n"
    )
    more = "toolsets: [{kind: functions, path: noise.py}]\npermissions: [{tool: shout, action: allow}]"
    editor = Editor()
    talked(scripted(tmp_path, call("shout"), "done", more=more), editor, lambda c: asked(c, tmp_path))
    assert editor.of("tool_call_update")[0].content[0].content.text == "shouted"
    assert editor.said == "done"


@pytest.mark.parametrize(("answer", "written"), [("yes", True), ("always", True), ("no", False), (None, False)])
def test_a_change_is_shown_and_asked_about_in_the_editor(tmp_path: Path, answer: str | None, written: bool) -> None:
    (tmp_path / "notes.txt").write_text("old\n")
    editor = Editor(answer)
    more = f"{FILES}\npermissions: [{{tool: write_file, action: ask}}]"
    file = scripted(tmp_path, call("write_file", path="notes.txt", content="new\n"), "done", more=more)
    talked(file, editor, lambda connection: asked(connection, tmp_path))
    [(shown, options)] = editor.asked
    assert shown.tool_call_id == editor.of("tool_call")[0].tool_call_id
    assert [(option.option_id, option.kind) for option in options] == [
        ("yes", "allow_once"),
        ("always", "allow_always"),
        ("no", "reject_once"),
    ]
    [change] = [part for part in shown.content or () if part.type == "diff"]
    assert (change.path, change.old_text, change.new_text) == (str(tmp_path / "notes.txt"), "old\n", "new\n")
    assert (tmp_path / "notes.txt").read_text() == ("new\n" if written else "old\n")
    assert editor.of("tool_call_update")[-1].status == ("completed" if written else "failed")


def test_a_session_goes_on_in_another_process_and_is_told_again(tmp_path: Path) -> None:
    file = scripted(tmp_path, call("calculate", expression="2*3"), "It is 6.", "Still 6.", more=MATH)

    async def first(connection: Any) -> str:
        session = await connection.new_session(cwd=str(tmp_path), mcp_servers=[])
        await connection.prompt(session_id=session.session_id, prompt=[text_block("What is 2*3?")])
        return str(session.session_id)

    name = talked(file, Editor(), first)
    again = Editor()

    async def second(connection: Any) -> Any:
        listed = (await connection.list_sessions(cwd=str(tmp_path))).sessions
        elsewhere = (await connection.list_sessions(cwd="/")).sessions
        await connection.load_session(cwd=str(tmp_path), session_id=name, mcp_servers=[])
        told = list(again.updates)
        await connection.prompt(session_id=name, prompt=[text_block("And now?")])
        await connection.close_session(session_id=name)
        with pytest.raises(RequestError, match="there is no session"):
            await connection.prompt(session_id=name, prompt=[text_block("x")])
        return listed, elsewhere, told

    listed, elsewhere, told = talked(file, again, second)
    assert [(one.session_id, one.title, one.cwd) for one in listed] == [(name, "What is 2*3?", str(tmp_path))]
    assert elsewhere == []
    kinds = [update.session_update for update in told]
    assert kinds == ["user_message_chunk", "tool_call", "agent_message_chunk"]
    assert "6" in told[1].content[0].content.text
    ids = [update.tool_call_id for update in again.of("tool_call")]
    assert len(set(ids)) == len(ids)


def test_a_session_that_was_never_there_is_refused(tmp_path: Path) -> None:
    async def work(connection: Any) -> None:
        with pytest.raises(RequestError, match="the journal has no session 'x'"):
            await connection.load_session(cwd=str(tmp_path), session_id="x", mcp_servers=[])
        with pytest.raises(RequestError, match="is not a directory"):
            await connection.new_session(cwd=str(tmp_path / "gone"), mcp_servers=[])
        with pytest.raises(RequestError, match="is not a directory"):
            await connection.new_session(cwd="relative", mcp_servers=[])

    talked(scripted(tmp_path, "hi"), Editor(), work)


SLEEPS = """toolsets:
  - {kind: command, name: wait, description: Wait., command: [sleep, "600"], timeout: 600, read_only: true}"""


def test_a_turn_is_cancelled_and_the_session_goes_on(tmp_path: Path) -> None:
    editor = Editor()

    async def work(connection: Any) -> list[str]:
        session = (await connection.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        ended = []
        for _ in range(2):  # a cancelled turn is forgotten, so this model says the same again
            editor.updates.clear()
            turn = asyncio.ensure_future(connection.prompt(session_id=session, prompt=[text_block("go")]))
            await editor.until("tool_call")
            with pytest.raises(RequestError, match="the previous turn has not ended"):
                await connection.prompt(session_id=session, prompt=[text_block("more")])
            await connection.cancel(session_id=session)
            ended.append((await turn).stop_reason)
        return ended

    assert talked(scripted(tmp_path, call("wait"), more=SLEEPS), editor, work) == ["cancelled", "cancelled"]


def test_an_editor_that_leaves_ends_everything(tmp_path: Path) -> None:
    import psutil

    async def work(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        asyncio.ensure_future(connection.prompt(session_id=session, prompt=[text_block("go")])).add_done_callback(
            lambda turn: turn.exception()
        )
        await editor.until("tool_call")

    editor = Editor()
    talked(scripted(tmp_path, call("wait"), "awake", more=SLEEPS), editor, work)
    assert [p for p in psutil.process_iter(["cmdline", "cwd"]) if p.info["cwd"] == str(tmp_path)] == []


def test_what_is_attached_reaches_the_model(tmp_path: Path) -> None:
    blocks = [
        text_block("Look:"),
        image_block(PIXEL, "image/png"),
        resource_link_block("notes.txt", f"file://{tmp_path}/notes.txt"),
        resource_block(embedded_text_resource("file:///a/b.py", "x = 1")),
    ]
    file = scripted(tmp_path, "seen")
    talked(file, Editor(), lambda connection: asked(connection, tmp_path, *blocks))
    [journal] = (tmp_path / "data/react-run/runs").glob("*.jsonl")
    text = journal.read_text()
    assert f"[notes.txt]({tmp_path}/notes.txt)" in text
    assert "b.py" in text
    assert "image/png" in text


def test_pictures_of_a_tool_are_shown_in_the_editor(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(base64.b64decode(PIXEL))
    path = scripted(tmp_path, call("read_file", path="dot.png"), "A dot.", more=FILES)
    path.write_text(path.read_text().replace('"replies"', '"reads": ["image/*"], "replies"'))
    editor = Editor()
    talked(path, editor, lambda connection: asked(connection, tmp_path))
    pictures = [part.content for part in editor.of("tool_call_update")[-1].content if part.content.type == "image"]
    assert [(picture.mime_type, picture.data) for picture in pictures] == [("image/png", PIXEL)]


def test_a_form_is_filled_in_where_the_editor_can(tmp_path: Path) -> None:
    editor = Editor(form={"answer": "blue"})
    file = scripted(tmp_path, call("ask_user", question="Which colour?"), "Blue it is.", more="toolsets: [people]")
    talked(file, editor, lambda connection: asked(connection, tmp_path))
    [(message, mode)] = editor.forms
    assert "Which colour?" in message
    assert "answer" in mode.requested_schema.properties
    assert "blue" in editor.of("tool_call_update")[-1].content[0].content.text


def test_an_editor_without_forms_is_not_asked_for_text(tmp_path: Path) -> None:
    editor = Editor()
    file = scripted(tmp_path, call("ask_user", question="Which colour?"), "No colour.", more="toolsets: [people]")
    talked(file, editor, lambda connection: asked(connection, tmp_path))
    assert (editor.asked, editor.forms) == ([], [])


def test_choices_are_offered_as_options(tmp_path: Path) -> None:
    editor = Editor("two")
    question = call("ask_user", question="How many?", choices=["one", "two"])
    talked(scripted(tmp_path, question, "done", more="toolsets: [people]"), editor, lambda c: asked(c, tmp_path))
    assert [option.option_id for option in editor.asked[0][1]] == ["one", "two"]
    assert "two" in editor.of("tool_call_update")[-1].content[0].content.text


def test_secrets_are_shown_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("API_TOKEN=hunter2000hunter\n")
    (tmp_path / "notes.txt").write_text("the key is hunter2000hunter\n")
    more = f"{FILES}\nmetadata: {{key: '${{API_TOKEN}}'}}"
    file = scripted(tmp_path, call("read_file", path="notes.txt"), "It is hunter2000hunter.", more=more)
    editor = Editor()
    talked(file, editor, lambda connection: asked(connection, tmp_path), API_TOKEN="hunter2000hunter")
    assert "hunter2000" not in repr(editor.updates)
    assert editor.said.startswith("It is ")


SERVER = """
from mcp.server import MCPServer
server = MCPServer("greeter")
@server.tool()
def greet(name: str) -> str:
    "Greet somebody."
    import os
    return f"{os.environ['GREETING']}, {name}"
server.run()
"""


def test_servers_of_the_editor_are_started_only_when_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    variables = [EnvVariable(name="GREETING", value="Hello")]
    server = McpServerStdio(
        name="My Greeter", command=sys.executable, args=[str(tmp_path / "server.py")], env=variables
    )

    async def work(connection: Any) -> Any:
        session = await connection.new_session(cwd=str(tmp_path), mcp_servers=[server])
        return await connection.prompt(session_id=session.session_id, prompt=[text_block("go")])

    more = "permissions: [{tool: '*', action: allow}]"
    file = scripted(tmp_path, call("my-greeter__greet", name="Ada"), "done", more=more)
    with pytest.raises(RequestError, match="--editor-servers"):
        talked(file, Editor(), work)
    editor = Editor()
    talked(file, editor, work, "--editor-servers")
    # What a server gets as a variable counts as a secret.
    assert "***, Ada" in editor.of("tool_call_update")[-1].content[0].content.text


def test_limits_are_told_in_the_words_of_the_protocol(tmp_path: Path) -> None:
    replies = [call("calculate", expression=f"1+{n}") for n in range(5)]
    file = scripted(tmp_path, *replies, more=f"{MATH}\nmax_iterations: 2")
    editor = Editor()
    done = talked(file, editor, lambda connection: asked(connection, tmp_path))
    assert done.stop_reason == "max_turn_requests"
    assert editor.said


def test_a_file_that_is_wrong_is_said_before_the_editor_waits(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "agent.yaml").write_text("version: 1\nmodle: x\n")
    done = subprocess.run(
        [sys.executable, "-m", "react_run", "acp", str(tmp_path / "agent.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'model'?" in done.stderr


@pytest.mark.parametrize("command", [["acp"], ["serve", "--port", "0"]], ids=lambda command: command[0])
def test_a_place_where_no_journal_can_be_kept_is_wrong_use(tmp_path: Path, command: list[str]) -> None:
    import subprocess

    (tmp_path / "home").write_text("a file, where the directory should be")
    done = subprocess.run(
        [sys.executable, "-m", "react_run", *command, str(scripted(tmp_path, "hi"))],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "REACT_RUN_HOME": str(tmp_path / "home")},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "journals cannot be saved in " in done.stderr
    assert "--no-save saves none, and REACT_RUN_HOME sets another directory" in done.stderr


@pytest.mark.parametrize("which", ["stdin", "stdout"])
@pytest.mark.parametrize("name", ["file", os.devnull])
def test_where_no_editor_can_be_that_is_said_at_once(tmp_path: Path, which: str, name: str) -> None:
    import subprocess

    file = scripted(tmp_path, "hi")
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (tmp_path / name).open("a+b") as opened:
        done = subprocess.Popen(
            [sys.executable, "-m", "react_run", "acp", str(file)],
            **{**streams, which: opened},
            stderr=subprocess.PIPE,
            env={**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")},
        )
        _, said = done.communicate(timeout=60)
    assert done.returncode == 2, said
    assert b"an editor starts this command and talks to it through pipes: see docs/acp.md" in said


def test_the_page_names_every_option_and_its_examples_are_right() -> None:
    from react_run.cli.acp import command

    page = (Path(__file__).parents[2] / "docs/acp.md").read_text(encoding="utf-8")
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert any(f"`{name}`" in page for name in parameter.opts), parameter.opts
    blocks = [part.partition("```")[0] for part in page.split("```json\n")[1:]]
    assert [json.loads(block)["agent_servers"]["coder"]["args"][0] for block in blocks] == ["acp", "acp"]
