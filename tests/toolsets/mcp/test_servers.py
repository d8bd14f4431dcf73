"""What servers are told, what they may ask, and what they cannot do to us."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.mcp.local_servers import agent_of, code_of, local, script, steps_of

from react_run import Answer, ConfigError, Question, ReActAgentConfig, RunResult, hookimpl
from react_toolsets.mcp import McpToolset

GUARDS: dict[str, str] = {}


class Watcher:
    """Keeps what was noted, and answers questions as it was told."""

    def __init__(self, answer: object = None) -> None:
        self.notes: list[tuple[str, str]] = []
        self.questions: list[Question] = []
        self.answer = answer

    @hookimpl
    def react_guard_fired(self, guard: str, detail: str) -> None:
        self.notes.append((guard, detail))

    @hookimpl
    def react_ask(self, question: Question) -> object:
        self.questions.append(question)
        return Answer(self.answer)


def run(workspace: Path, toolset: McpToolset, *calls: Any, watcher: Watcher | None = None) -> RunResult:
    agent = agent_of(workspace, [toolset], *(calls or [("go", {})]), plugins=[watcher or Watcher()])

    async def go() -> RunResult:
        async with agent:
            return await agent.run("go")

    return asyncio.run(go())


def test_a_server_gets_few_variables_and_those_that_it_is_given(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "secret")
    monkeypatch.setenv("WANTED", "passed on")
    body = """
    import os
    serve([tool("go")], lambda name, arguments, request: text(json.dumps(dict(os.environ))))
    """
    toolset = local(workspace, body, env={"GIVEN": "value-of-given"}, pass_environment=["WANTED", "MISSING"])
    [step] = run(workspace, toolset).steps
    seen = json.loads(step.observation.replace("***", "value-of-given"))
    assert seen["GIVEN"] == "value-of-given"
    assert seen["WANTED"] == "passed on"
    assert seen.keys() >= {"PATH", "HOME"}
    ours = {"GIVEN", "WANTED", "REACT_RUN_MCP_SERVER", "LC_CTYPE"}  # the last one is Python's own
    assert seen.keys() <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", *ours}


def test_the_values_of_env_are_masked_wherever_they_turn_up(workspace: Path) -> None:
    body = """
    import os
    print("token is", os.environ["TOKEN"], file=sys.stderr, flush=True)
    serve([tool("go")], lambda name, arguments, request: text(os.environ["TOKEN"], isError=True))
    """
    toolset = local(workspace, body, env={"TOKEN": "s3cret-value"})
    agent = agent_of(workspace, [toolset], ("go", {}))
    journal = workspace / "journal.jsonl"
    from react_run import Recorder

    agent = agent.replace(journal=[Recorder(path=journal)])
    asyncio.run(steps_of(agent))
    assert "***" in journal.read_text()
    assert "s3cret-value" not in journal.read_text()
    assert (workspace / ".react-run/logs/mcp-demo.log").read_text() == "token is ***\n"


def test_standard_error_goes_to_a_log_and_not_to_the_terminal(
    workspace: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    body = """
    print("hello from the server", file=sys.stderr, flush=True)
    print("this is not JSON", flush=True)
    serve([tool("go")])
    """
    assert run(workspace, local(workspace, body)).steps[0].observation == "go"
    log = (workspace / ".react-run/logs/mcp-demo.log").read_text()
    assert "hello from the server" in log
    assert "[not a message] 'this is not JSON'" in log
    assert capfd.readouterr().err == ""
    assert caplog.records == []


def test_noise_and_broken_bytes_are_skipped_and_noted_once(workspace: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = r"""
    def call(name, arguments, request):
        for part in (b"Loading \xff\xfe s3cret-value ...", b"[1, 2]", b"", b"more"):
            sys.stdout.buffer.write(part + b"\n")
        sys.stdout.buffer.flush()
        return text("fine")
    serve([tool("go")], call)
    """
    watcher = Watcher()
    toolset = local(workspace, body, env={"TOKEN": "s3cret-value"})
    result = run(workspace, toolset, ("go", {}), ("go", {}), watcher=watcher)
    assert [step.observation for step in result.steps] == ["fine", "fine"]
    assert [detail for guard, detail in watcher.notes if guard == "mcp_noise"] == [
        "demo wrote a line that is not a message of the protocol: 'Loading \ufffd\ufffd *** ...'"
    ]
    log = (workspace / ".react-run/logs/mcp-demo.log").read_text()
    assert log.count("[not a message] 'Loading") == log.count("[not a message] 'more'") == 2
    assert "Traceback" not in log
    assert "s3cret" not in log
    assert capfd.readouterr() == ("", "")


def test_a_run_says_once_which_server_it_talks_to(workspace: Path) -> None:
    watcher = Watcher()
    run(workspace, local(workspace), ("ping", {}), ("ping", {}), watcher=watcher)
    assert [note for note in watcher.notes if note[0] == "mcp_server"] == [
        ("mcp_server", "demo: by hand 0.1, protocol 2025-11-25")
    ]


ASKS = """
def call(name, arguments, request):
    send({"id": "q", "method": "elicitation/create", "params": PARAMS})
    for message in messages():
        if message.get("id") == "q":
            return text(json.dumps(message.get("result") or message.get("error"), sort_keys=True))
serve([tool("go")], call)
"""
FORM = {
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {"who": {"type": "string"}, "age": {"type": "integer", "default": 7}},
        "required": ["who"],
    },
}


def asking(workspace: Path, params: dict[str, Any], **options: Any) -> McpToolset:
    return local(workspace, ASKS.replace("PARAMS", repr(params)), **options)


def test_a_question_of_the_server_is_put_to_the_user(workspace: Path) -> None:
    watcher = Watcher({"who": "me"})
    [step] = run(workspace, asking(workspace, FORM), watcher=watcher).steps
    assert json.loads(step.observation) == {"action": "accept", "content": {"age": 7, "who": "me"}}
    assert "The MCP server demo asks: Who are you?" in str(watcher.questions[0])


def test_nobody_there_is_a_refusal_and_the_run_goes_on(workspace: Path) -> None:
    result = run(workspace, asking(workspace, FORM))
    assert json.loads(result.steps[0].observation) == {"action": "decline"}
    assert result.answer == "done"


def test_a_page_is_shown_and_never_opened(workspace: Path) -> None:
    params = {"mode": "url", "message": "Log in", "url": "https://example.com/x", "elicitationId": "1"}
    watcher = Watcher("done")
    [step] = run(workspace, asking(workspace, params), watcher=watcher).steps
    assert json.loads(step.observation) == {"action": "accept"}
    assert "https://example.com/x" in str(watcher.questions[0])


def test_a_form_that_wants_a_secret_is_refused_without_asking(workspace: Path) -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    watcher = Watcher({"password": "x"})
    params = {"message": "Your password, please", "requestedSchema": schema}
    [step] = run(workspace, asking(workspace, params), watcher=watcher).steps
    assert json.loads(step.observation) == {"action": "decline"}
    assert watcher.questions == []
    assert "asked for password, which looks like a secret" in dict(watcher.notes)["mcp_secret_refused"]


def test_decline_means_that_no_question_is_even_offered(workspace: Path) -> None:
    body = ASKS.replace("PARAMS", repr(FORM)).replace(
        'return text(json.dumps(message.get("result") or message.get("error"), sort_keys=True))',
        'refuse(request, message["error"]["code"], message["error"]["message"]); return None',
    )
    [step] = run(workspace, local(workspace, body, elicitation="decline")).steps
    assert code_of(step) == "needs_answer"


def test_time_in_which_the_user_is_asked_is_not_the_servers(workspace: Path) -> None:
    class Slow(Watcher):
        @hookimpl
        async def react_ask(self, question: Question) -> object:
            await asyncio.sleep(1.5)
            return Answer({"who": "me"})

    [step] = run(workspace, asking(workspace, FORM, timeout=1, max_timeout=1), watcher=Slow()).steps
    assert json.loads(step.observation)["action"] == "accept"


def test_roots_are_told_when_there_are_any(workspace: Path) -> None:
    body = """
    def call(name, arguments, request):
        send({"id": "r", "method": "roots/list"})
        for message in messages():
            if message.get("id") == "r":
                return text(json.dumps(message.get("result") or message["error"]))
    serve([tool("go")], call)
    """
    [step] = run(workspace, local(workspace, body, roots=[str(workspace)])).steps
    assert json.loads(step.observation)["roots"][0]["uri"] == workspace.as_uri()
    [step] = run(workspace, local(workspace, body, name="none")).steps
    assert json.loads(step.observation)["code"] == -32600


def test_resources_are_two_more_tools_when_they_are_wanted(workspace: Path) -> None:
    body = """
    def other(message):
        if message["method"] == "resources/list":
            answer(message, {"resources": [{"uri": "memo://1", "name": "one", "mimeType": "text/plain"}]})
        elif message["method"] == "resources/templates/list":
            answer(message, {"resourceTemplates": [{"uriTemplate": "memo://{id}", "name": "any"}]})
        elif message["method"] == "resources/read":
            answer(message, {"contents": [{"uri": message["params"]["uri"], "text": "remember"}]})
        else:
            refuse(message, -32601, "Method not found")
    serve([tool("go")], other=other, resources={})
    """
    toolset = local(workspace, body, prefix=None, resources=True)
    assert [tool.name for tool in toolset.tools()] == ["demo__go", "demo__list_resources", "demo__read_resource"]
    calls = [("demo__list_resources", {}), ("demo__read_resource", {"uri": "memo://1"})]
    listed, read = run(workspace, toolset, *calls).steps
    assert listed.observation == "memo://1 (one, text/plain)\nmemo://{id} (any)"
    assert "\nremember\n" in read.observation


def test_each_server_is_a_skill_and_its_instructions_come_with_it(workspace: Path) -> None:
    body = """
    names = [f"tool_number_{number}" for number in range(50)]
    for message in messages():
        if message["method"] == "initialize":
            info = {"name": "by hand", "version": "1"}
            answer(message, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info,
                             "instructions": "Look before you leap."})
        elif message["method"] == "tools/list":
            answer(message, {"tools": [tool(name, "words " * 100) for name in names]})
        elif "id" in message: refuse(message, -32601, "no")
    """
    toolset = local(workspace, body)
    [skill] = toolset.get_skill_specs()
    described = local(workspace, body, instructions=True).tools()[0].description
    assert described.startswith("Look before you leap.\n\nwords")
    assert (skill.name, skill.instructions, len(skill.tool_names)) == ("demo", "Look before you leap.", 50)
    agent = agent_of(workspace, [toolset], tool_disclosure="skills")
    asyncio.run(steps_of(agent))
    first = agent.model.requests[0]  # type: ignore[attr-defined]
    assert len(json.dumps([tool.wire for tool in first.tools])) < 2_000
    assert "Look before" not in repr(first.messages)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="confinement is a matter of Linux")
def test_a_sandboxed_server_writes_only_where_it_may(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    from react_toolsets.programs import Confinement

    if not Confinement(write=[]).means:
        pytest.skip("neither Landlock nor bubblewrap is available here")
    outside = tmp_path_factory.mktemp("outside")
    body = """
    import pathlib
    def call(name, arguments, request):
        try:
            pathlib.Path(arguments["path"]).write_text("x")
        except OSError as error:
            return text(type(error).__name__)
        return text("written")
    serve([tool("go", properties={"path": {"type": "string"}})], call)
    """
    here = str(Path(__file__).parent)
    toolset = local(workspace, body, sandbox=True, readable=[here])
    paths = [str(workspace / "in"), str(outside / "out")]
    steps = run(workspace, toolset, *[("go", {"path": path}) for path in paths]).steps
    assert [step.observation == "written" for step in steps] == [True, False]
    assert not (outside / "out").exists()


def test_a_server_that_forks_leaves_nothing_behind(workspace: Path) -> None:
    import psutil

    body = """
    import subprocess
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    serve([tool("go")], lambda name, arguments, request: text(str(child.pid)))
    """
    [step] = run(workspace, local(workspace, body)).steps
    pid = int(step.observation)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=5)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def servers_file(workspace: Path, servers: dict[str, Any]) -> Path:
    path = workspace / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def test_servers_of_other_programs_files_work_with_variables_filled_in(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "hello")
    body = "import os\nserve([tool('go')], lambda *_: text(os.environ['SAY'] + sys.argv[1]))"
    command, *args = script(workspace, body)
    entry = {"command": command, "args": [*args, "${WORD}"], "env": {"SAY": "${env:WORD} "}}
    path = servers_file(workspace, {"My Server": entry, "off": {**entry, "disabled": True}, "other": entry})
    toolset = McpToolset.model_validate({"file": str(path), "servers": ["My*"]})
    assert [tool.name for tool in toolset.tools()] == ["my-server__go"]
    [step] = run(workspace, toolset, ("my-server__go", {})).steps
    assert "hello" in step.observation or "***" in step.observation


def test_a_variable_that_is_not_set_is_an_error_of_the_file(workspace: Path) -> None:
    path = servers_file(workspace, {"x": {"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}}})
    with pytest.raises(ConfigError, match="needs the variable NOT_SET_ANYWHERE, which is not set"):
        ReActAgentConfig.from_mapping({"toolsets": [{"kind": "mcp", "file": str(path)}]})


def test_import_turns_such_files_into_yaml_without_secrets(workspace: Path) -> None:
    path = servers_file(
        workspace,
        {
            "GitHub": {"command": "npx", "args": ["-y", "server"], "env": {"GITHUB_TOKEN": "ghp_abc", "MODE": "a"}},
            "web": {"type": "sse", "url": "https://example.com/sse", "headers": {"Authorization": "Bearer abc"}},
        },
    )
    text, variables = McpToolset.imported(path)
    assert variables == ["GITHUB_TOKEN", "WEB_AUTHORIZATION"]
    assert "ghp_abc" not in text
    assert "Bearer abc" not in text
    import yaml

    toolsets = yaml.safe_load(text)["toolsets"]
    assert toolsets[0] == {
        "kind": "mcp",
        "name": "github",
        "command": "npx",
        "args": ["-y", "server"],
        "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "MODE": "a"},
    }
    assert toolsets[1]["headers"] == {"Authorization": "Bearer ${WEB_AUTHORIZATION}"}
    ReActAgentConfig.from_mapping({"toolsets": toolsets[:1]})
