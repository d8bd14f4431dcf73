"""A recorded run as a regression test, as people write it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.journal.recording import agent_of

from react_run import ReplayMismatch
from react_run.errors import JournalError
from react_run.testing import calls, replayed, says

CONFTEST = 'pytest_plugins = ["react_run.testing"]\n'
TEST = """\
from react_run import ReActAgent, tool
from react_run.testing import Functions

@tool(read_only=True)
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b{change}

def test_the_recorded_run(replay_recording):
    result = replay_recording("run.jsonl", ReActAgent(toolsets=[Functions(functions=[add])]))
    assert result.answer == "3"
"""
REPLIES = [calls(("add", {"a": 1, "b": 2})), says("3")]


@pytest.mark.parametrize(("change", "status"), [("", 0), (" + 1", 1)])
def test_the_fixture_replays_a_recording_that_lies_beside_the_test(tmp_path: Path, change: str, status: int) -> None:
    test = TEST.format(change=change)
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_run.py").write_text(test, encoding="utf-8")
    record = test.replace("def test_the_recorded_run(replay_recording):", "def record():")
    names: dict[str, object] = {"__name__": "recorded"}
    exec(record.replace(f"a + b{change}", "a + b"), names)
    agent = agent_of(REPLIES, tools=[names["add"]], journal=tmp_path / "run.jsonl")
    agent.run_sync("go")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stdout
    if status:
        assert "ReplayMismatch: iteration 1: the result of add differs from the recording" in done.stdout


def test_a_recording_without_a_result_is_no_regression_test(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent_of(REPLIES, journal=path).run_sync("go")
    assert replayed(path, agent_of(REPLIES)).answer == "3"
    with pytest.raises(ReplayMismatch):
        replayed(path, agent_of(REPLIES, system_prompt="Be brief."))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]))
    with pytest.raises(JournalError, match="does not end with a result"):
        replayed(path, agent_of(REPLIES))


def test_importing_the_helpers_does_not_import_pytest() -> None:
    code = "import sys, react_run.testing; assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
