"""The coder: a wrong fix is complained about, the right one passes, and without it nothing is accepted (G2, G3)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from react_run import ConfigError, ReActAgent, ReActAgentConfig, RunResult, StopReason
from react_run.testing import calls, says

CODER = Path(__file__).parents[2] / "agents" / "coder.yaml"
PROJECT = Path(__file__).parent / "project"
BODY = "    return width + height"


def edit(old: str, new: str, path: str = "shapes.py") -> dict[str, object]:
    return calls(("edit_file", {"path": path, "old_text": old, "new_text": new}))


LOOK = calls(("read_file", {"path": "shapes.py"}), ("run_command", {"command": "python -m pytest -q --no-header"}))
WRONG = edit(BODY, "    return 2 * width + height")
RIGHT = edit("    return 2 * width + height", "    return 2 * (width + height)")
CLAIM = says("The perimeter is right now.")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".git").mkdir()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return folder


def run(project: Path, *replies: Any) -> tuple[RunResult, ReActAgent]:
    agent = ReActAgent.from_yaml(CODER, model={"kind": "scripted", "replies": list(replies)})
    agent.workspace = project
    return agent.run_sync("Make the tests pass."), agent


def test_a_wrong_fix_is_complained_about_and_the_right_one_passes(project: Path) -> None:
    result, agent = run(project, LOOK, WRONG, RIGHT, CLAIM)
    prompt = agent.model.requests[0].messages[0].text  # type: ignore[attr-defined]  # scripted
    assert "# Shapes\n\nPython 3.11" in prompt  # AGENTS.md of the project
    _, tests, wrong, right = result.steps
    assert "1 failed, 1 passed" in tests.observation
    assert (wrong.error_code, right.error_code) == ("sensor_blocked", None)
    complaint = agent.model.requests[2].messages[-1].text  # type: ignore[attr-defined]  # as above
    assert "Edited shapes.py at line 13.\n\n[block] tests/test_shapes.py:11" in complaint
    assert "assert 7 == 10" in complaint
    assert "Hint: Read the first failure, and correct its cause." in complaint
    assert (result.stop_reason, result.success, result.answer) == ("completed", True, "The perimeter is right now.")
    assert "return 2 * (width + height)" in (project / "shapes.py").read_text()
    assert not (project / "__pycache__").exists()


def test_one_that_never_fixes_it_is_not_believed(project: Path) -> None:
    result, _ = run(project, LOOK, WRONG, CLAIM)
    assert (result.stop_reason, result.success) == (StopReason.UNACCEPTED, False)
    refusals = [message.text for message in result.messages if message.text.startswith("The tests do not pass yet:")]
    assert len(refusals) == 3
    assert "assert 7 == 10" in refusals[0]


def test_one_that_changes_the_tests_is_refused_at_once(project: Path) -> None:
    cheat = edit("== 10", "== 5", "tests/test_shapes.py")
    result, _ = run(project, cheat, CLAIM, RIGHT)
    assert result.steps[0].error_code is None  # the tests pass: the sensor has nothing against it
    assert (result.stop_reason, result.success, result.iterations) == (StopReason.UNACCEPTED, False, 2)
    assert "tests/test_shapes.py was changed" in result.messages[-1].text


def test_one_that_breaks_the_syntax_is_told_where(project: Path) -> None:
    result, _ = run(project, edit("def perimeter(", "def perimeter[("), edit("perimeter[(", "perimeter("), CLAIM)
    assert "[block] shapes.py:11:" in result.steps[0].observation
    assert "this is not valid Python" in result.steps[0].observation


def test_it_needs_trust(project: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        ReActAgentConfig.from_yaml(CODER, trusted=False)
    assert str(caught.value).count("starts programs") == 3  # shell, sensor, check: all at once


# -- on the command line ----------------------------------------------------------------------------------------------


def command(project: Path, *replies: Any) -> subprocess.CompletedProcess[str]:
    agent = project.parent / "scripted.yaml"
    model = json.dumps({"kind": "scripted", "replies": list(replies)})
    agent.write_text(f"extends: {CODER}\nmodel: {model}\n")
    return subprocess.run(
        [sys.executable, "-m", "react_run", str(agent), "--trust", "--no-save", "Make the tests pass."],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "REACT_RUN_HOME": str(project.parent / "home")},
    )


def test_on_the_command_line_it_ends_with_status_0(project: Path) -> None:
    done = command(project, WRONG, RIGHT, CLAIM)
    assert (done.returncode, done.stdout) == (0, "The perimeter is right now.\n"), done.stderr


def test_its_stubborn_twin_ends_with_status_1_and_says_why(project: Path) -> None:
    done = command(project, WRONG, CLAIM)
    assert done.returncode == 1, done.stderr
    assert "the checks did not accept the answer" in done.stderr
    assert "The tests do not pass yet" in done.stderr
