"""The shell toolset: commands, deadlines, and what is told about them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.running import run_in, step, steps
from tests.toolsets.skills.child_processes import command_ends

from react_run import ConfigError, ReActAgentConfig, hookimpl
from react_run.testing import agent_with, calls, says
from react_toolsets.shell import ShellToolset

SHELL = ShellToolset()


def run(root: Path, command: str | list[str], toolset: ShellToolset = SHELL, **more: object) -> str:
    return step(root, toolset, "run_command", command=command, **more).observation


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo one; echo two >&2", "one\ntwo"),
        ("exit 3", "(no output)\n[ended with exit status 3]"),
        ("echo half; kill -9 $$", "half\n[was ended by signal 9]"),
        ("nowhere", "/bin/sh: 1: nowhere: not found\n[ended with exit status 127]"),
        (["echo", "a  b", "$HOME", "; ls"], "a  b $HOME ; ls"),
        ("cat < /dev/stdin", "(no output)"),
        ("printf 'a\\n\\n\\nb\\n\\n'", "a\n\n\nb"),
    ],
)
def test_a_command_says_what_it_wrote_and_how_it_ended(tmp_path: Path, command: Any, output: str) -> None:
    assert run(tmp_path, command) == output


def test_commands_run_in_the_workspace_or_in_root(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert run(tmp_path, "pwd") == str(tmp_path)
    assert run(tmp_path, "pwd", ShellToolset(root=tmp_path / "elsewhere")) == str(tmp_path / "elsewhere")


def test_a_failing_command_is_no_failed_call_and_may_run_again(tmp_path: Path) -> None:  # F4
    taken = steps(tmp_path, SHELL, *[("run_command", {"command": "echo x >> log; wc -l < log; false"})] * 3)
    assert [(one.failed, one.executed, one.observation[0]) for one in taken] == [
        (False, True, "1"),
        (False, True, "2"),
        (False, True, "3"),
    ]


@pytest.mark.parametrize("toolset", [ShellToolset(timeout=0.3), SHELL], ids=["option", "argument"])
def test_a_command_that_takes_too_long_is_ended_with_all_it_started(
    tmp_path: Path, toolset: ShellToolset
) -> None:  # T2
    line = "sleep 61.01 & echo started; wait"
    taken = step(tmp_path, toolset, "run_command", command=line, **({} if toolset.timeout < 1 else {"seconds": 0.3}))
    assert taken.error_code == "timeout"
    assert "did not end within 0.3 seconds and was stopped. It wrote:\nstarted" in taken.observation
    assert command_ends("sleep", "61.01")


def test_cancelling_a_run_ends_its_commands(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pid")

    async def cancelled() -> None:
        agent = agent_with([calls(("run_command", {"command": "echo $$ > pid; exec sleep 62.01"}))], toolsets=[SHELL])
        agent.workspace = tmp_path
        task = asyncio.ensure_future(agent.run("go"))
        await asyncio.to_thread((tmp_path / "pid").read_text)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert command_ends("sleep", "62.01")


@pytest.mark.parametrize("command", ["", "  ", [], ["", "x"]])
def test_nothing_is_no_command(tmp_path: Path, command: Any) -> None:
    assert step(tmp_path, SHELL, "run_command", command=command).error_code == "invalid_command"


def test_what_cannot_be_started_is_said_to_be(tmp_path: Path) -> None:
    taken = step(tmp_path, ShellToolset(sandbox=False), "run_command", command=["nowhere"])
    assert (taken.error_code, "'nowhere' cannot be started" in taken.observation) == ("not_started", True)
    assert "nowhere: No such file" in run(tmp_path, ["nowhere"])


def test_keys_of_ours_are_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("WANTED", "yes")
    toolset = ShellToolset(environment={"COLOUR": "blue"}, pass_environment=["WANTED"])
    text = run(tmp_path, "env", toolset)
    assert "sk-secret" not in text
    assert "COLOUR=blue" in text
    assert "WANTED=yes" in text


def test_commands_cannot_leave_their_directory_where_that_is_enforced(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("CANARY")
    if not SHELL.confinement(root).means:
        pytest.skip("nothing confines programs here")
    assert "CANARY" not in run(root, "cat ../secret.txt")
    assert run(root, "cat ../secret.txt", ShellToolset(sandbox=False)) == "CANARY"
    assert run(root, "cat ../secret.txt", ShellToolset(readable=[tmp_path])) == "CANARY"


def test_people_are_told_once_per_run_what_is_enforced(tmp_path: Path) -> None:
    told: list[str] = []

    class Listener:
        @hookimpl
        def react_guard_fired(self, guard: str, detail: str) -> None:
            told.extend([detail] if guard == "sandbox" else [])

    replies = [calls(("run_command", {"command": "true"}), ("run_command", {"command": "echo"})), says("ok")]
    run_in(tmp_path, replies, toolsets=[SHELL], plugins=[Listener()])
    run_in(tmp_path, replies, toolsets=[ShellToolset(sandbox=False)], plugins=[Listener()])
    assert told == [SHELL.report(tmp_path), "Not confined: sandbox is switched off."]


def test_the_model_is_told_its_terms_and_the_runtime_what_a_command_can_do() -> None:
    [tool] = SHELL.tools()
    assert "may not use the network" in tool.description
    assert "stopped after 60 seconds" in tool.description
    assert (tool.read_only, tool.repeatable, tool.runs_programs, tool.network) == (False, True, True, False)
    assert ShellToolset(network=True).tools()[0].network
    assert ShellToolset(sandbox=False).tools()[0].network


def test_an_agent_file_needs_trust_for_it(tmp_path: Path) -> None:
    agent = tmp_path / "a.yaml"
    agent.write_text("version: 1\nmodel: offline\ntoolsets:\n  - kind: react_toolsets.shell:ShellToolset\n")
    ReActAgentConfig.from_yaml(agent)
    with pytest.raises(ConfigError, match=r"a\.yaml:4:.*this starts programs, which .* only in a trusted directory"):
        ReActAgentConfig.from_yaml(agent, trusted=False)
