"""The plugin ``command_hook``: a program decides and is told; what it does not say clearly is no permission."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import write
from tests.fired import Fired
from tests.plugins.traces import Traces

from react_plugins.command_hook import CommandHook
from react_run import ConfigError, ReActAgent, RunResult, read_journal
from react_run.config import load_config
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says

ROOT = Path(__file__).parents[2]
READ = [calls(("read", {"path": "a"})), says("done")]
LOG = "open('told.jsonl', 'a').write(sys.stdin.read() + chr(10))"


def hook(source: str, **options: Any) -> CommandHook:
    command = [sys.executable, "-c", f"import sys, json, time\n{source}"]
    return CommandHook.model_validate({"command": command, "sandbox": False, **options})


def agent(plugin: object, traces: Traces, *others: object, replies: list[Any] | None = None) -> ReActAgent:
    return agent_with(replies or READ, tools=traces.tools(), plugins=[plugin, *others], name="asked")


def run(folder: Path, plugin: object, *others: object, traces: Traces | None = None, **options: Any) -> RunResult:
    return asyncio.run(agent(plugin, traces or Traces(), *others, **options).run("go", workspace=folder))


def told(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "told.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "command", ["python3 gone.py", ["python3", "gone.py", "--strict"], "sh hooks/gone.sh && true", "./gone.sh"]
)
def test_a_script_that_is_not_there_is_named_as_such_and_refuses(tmp_path: Path, command: str | list[str]) -> None:
    traces = Traces()
    result = run(tmp_path, CommandHook.model_validate({"command": command, "sandbox": False}), traces=traces)
    observation = result.steps[0].observation
    assert traces.reads == []
    assert "cannot be run" in observation
    assert "gone." in observation
    assert "rule of the user" not in observation


@pytest.mark.parametrize(
    "source", ["pass", 'print(\'{"decision": "allow"}\')', "print('hm'); print('{\"decision\": \"allow\"}')"]
)
def test_nothing_or_allow_permits(tmp_path: Path, source: str) -> None:
    traces = Traces()
    assert run(tmp_path, hook(source), traces=traces).success
    assert traces.reads == ["a"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('print(\'{"decision": "deny", "reason": "not today"}\')', "not today"),
        ('print(\'{"decision": "deny"}\')', "no reason was given"),
        ("sys.stderr.write('not today'); sys.exit(2)", "not today"),
        ("sys.exit(2)", "no reason was given"),
        ('print(\'{"reason": "not today"}\'); sys.exit(2)', "not today"),
    ],
)
def test_deny_or_status_2_refuses_with_its_reason(tmp_path: Path, source: str, reason: str) -> None:
    traces, fired = Traces(), Fired()
    result = run(tmp_path, hook(source), fired, traces=traces)
    assert traces.reads == []
    assert result.steps[0].observation == f"Error: read was refused by a rule of the user: {reason}"
    assert (result.steps[0].error_code, result.steps[0].executed) == ("denied", False)
    assert fired.of("command_hook") == [f"read: refused: {reason}"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("time.sleep(60)", "did not end within 1 seconds and was stopped"),
        ("print('hello')", 'wrote no decision: it writes nothing, {"decision": "allow"}'),
        ('print(\'{"decision": "maybe"}\')', "wrote no decision"),
        ("print('[1]')", "wrote no decision"),
        ("print('[' * 100000)", "wrote no decision"),
        ("sys.exit(1)", "ended with exit status 1"),
        ("raise ValueError('broken')", "ValueError: broken"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9"),
    ],
)
def test_a_hook_that_fails_permits_nothing_and_the_run_goes_on(tmp_path: Path, source: str, said: str) -> None:
    traces, fired = Traces(), Fired()
    result = run(tmp_path, hook(source, timeout=1), fired, traces=traces)
    assert traces.reads == []
    assert "because the hook that decides it failed" in result.steps[0].observation
    assert said in result.steps[0].observation
    assert result.steps[0].error_code == "hook_failed"
    assert result.answer == "done"
    assert fired.of("hook_failed")


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    plugin = CommandHook.model_validate({"command": ["no-such-hook"], "sandbox": False})
    result = run(tmp_path, plugin)
    assert "`no-such-hook` cannot be run" in result.steps[0].observation


def test_it_is_told_what_happens_without_secrets(tmp_path: Path) -> None:
    plugin = hook(LOG, at=["run_started", "tool_permit", "tool_call_finished", "iteration_finished", "run_finished"])
    built = agent(plugin, Traces("the key is hunter2hunter2"))
    built.config.masker.add("hunter2hunter2")
    result = asyncio.run(built.run("go", workspace=tmp_path))
    events = told(tmp_path)
    assert [event["hook"] for event in events] == [
        *("run_started", "tool_permit", "tool_call_finished", "iteration_finished"),
        *("iteration_finished", "run_finished"),
    ]
    assert {(event["run"], event["agent"], event["workspace"]) for event in events} == {
        (result.run_id, "asked", str(tmp_path))
    }
    assert events[0]["prompt"] == "go"
    assert (events[1]["tool"], events[1]["arguments"]) == ("read", {"path": "a"})
    assert (events[2]["result"], events[2]["failed"]) == ("the key is ***", False)
    assert (events[4]["reply"], events[4]["calls"]) == ("done", [])
    assert (events[5]["answer"], events[5]["success"]) == ("done", True)


def test_a_hook_of_an_event_that_fails_is_noted_and_the_run_goes_on(tmp_path: Path) -> None:
    fired = Fired()
    result = run(tmp_path, hook("print('oh'); sys.exit(3)", at=["run_started", "run_finished"]), fired)
    assert result.success
    assert len(fired.of("hook_failed")) == 2
    assert "ended with exit status 3 at run_started. It wrote: oh" in fired.of("hook_failed")[0]


def test_it_is_asked_about_the_tools_it_names_only(tmp_path: Path) -> None:
    replies = [calls(("read", {"path": "a"}), ("write", {"path": "b"})), says("done")]
    run(tmp_path, hook(LOG, tools=["wri*"]), replies=replies)
    assert [event["tool"] for event in told(tmp_path)] == ["write"]


def test_a_replay_is_answered_as_the_run_was(tmp_path: Path) -> None:
    replies = [calls(("read", {"path": "a"}), ("read", {"path": "b"})), says("done")]
    source = "text = sys.stdin.read(); open('told.jsonl', 'a').write(text + chr(10)); sys.exit(2 * ('\"b\"' in text))"
    built = agent(hook(source), Traces("text"), replies=replies)
    asyncio.run(built.replace(journal=tmp_path / "run.jsonl").run("go", workspace=tmp_path))
    modes: tuple[Any, ...] = ("recorded", "live")
    for tools in modes:
        assert asyncio.run(replay(read_journal(tmp_path / "run.jsonl"), built, tools=tools)).complete
    assert len(told(tmp_path)) == 2


def test_a_file_with_a_hook_needs_trust(tmp_path: Path) -> None:
    write(tmp_path, "model: offline\nplugins: [{kind: command_hook, command: [x]}]\n")
    with pytest.raises(ConfigError, match=r"agent\.yaml:2:\d+: .*starts programs"):
        load_config(tmp_path / "agent.yaml", trusted=False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("at: [tool_permitted]", "Did you mean 'tool_permit'"),
        ("at: []", "at least 1"),
        ("timeout: 0", "must be more than 0"),
        ("command: []", "plugins[0].command: must"),
        ("commands: [x]", "Did you mean 'command'?"),
    ],
)
def test_a_wrong_option_is_named_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    command = "" if line.startswith("command:") else "    command: [x]\n"
    write(tmp_path, f"model: offline\nplugins:\n  - kind: command_hook\n    {line}\n{command}")
    with pytest.raises(ConfigError, match=r"agent\.yaml:4:\d+: ") as caught:
        load_config(tmp_path / "agent.yaml", trusted=True)
    assert said in str(caught.value)


def test_the_agent_with_a_hook_runs_offline_and_replays(tmp_path: Path) -> None:
    built = ReActAgent(load_config(ROOT / "agents" / "hooked.yaml", trusted=True))
    path = tmp_path / "run.jsonl"
    result = asyncio.run(built.replace(journal=path).run("What is in the folder hooks?", workspace=tmp_path))
    assert [step.error_code for step in result.steps] == ["denied", None]
    assert result.answer == "There is a program in it, no_secrets.py."
    assert asyncio.run(replay(read_journal(path), built)).complete
