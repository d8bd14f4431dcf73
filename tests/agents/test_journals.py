"""Journals of runs with sensors, checks and subagents: replayed and resumed, nothing is done twice (J3, J4)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.agents.test_coder import CLAIM, CODER, LOOK, PROJECT, RIGHT, WRONG, edit

from react_run import ModelError, ReActAgent, ReActAgentConfig, ScriptedModel, StopReason, read_journal
from react_run.journal.replay.replay import replay
from react_run.journal.replay.resume import resume

TEAM = Path(__file__).parents[2] / "agents" / "team.yaml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".git").mkdir()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return folder


def coder(*replies: Any, journal: Path | None = None) -> ReActAgent:
    model = ScriptedModel(replies=list(replies))
    return ReActAgent(ReActAgentConfig.from_yaml(CODER), model=model, journal=journal)


def test_a_replay_runs_no_command_and_finds_all_as_it_was(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = project.parent / "j.jsonl"
    replies = (LOOK, WRONG, RIGHT, CLAIM)
    assert coder(*replies, journal=journal).run_sync("go").success
    shutil.rmtree(project / "tests")
    (project / "AGENTS.md").write_text("something else")
    monkeypatch.setenv("PATH", "")
    done = asyncio.run(replay(read_journal(journal), coder(*replies)))
    assert done.complete
    assert done.result is not None
    assert [step.error_code for step in done.result.steps] == [None, None, "sensor_blocked", None]
    assert done.result.success


def interrupted(journal: Path, after: str) -> None:
    """Cut the journal off behind its last record of a type, as a crash would."""
    lines = journal.read_text().splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if json.loads(line)["type"] == after)
    journal.write_text("".join(lines[: last + 1]))


def test_a_resumed_run_keeps_the_seals_it_began_with(project: Path) -> None:
    journal = project.parent / "j.jsonl"
    replies = (edit("== 10", "== 5", "tests/test_shapes.py"), CLAIM)
    coder(*replies, journal=journal).run_sync("go")
    interrupted(journal, after="model_response")
    result = asyncio.run(resume(journal, coder(*replies)))
    assert (result.stop_reason, result.success) == (StopReason.UNACCEPTED, False)
    assert "tests/test_shapes.py was changed" in result.messages[-1].text


def test_a_resumed_run_goes_on_after_the_last_complaint(project: Path) -> None:
    journal = project.parent / "j.jsonl"
    replies = (LOOK, WRONG, RIGHT, CLAIM)
    agent = coder(*replies[:2], {"error": {"status": 400, "message": "gone"}}, journal=journal)
    with pytest.raises(ModelError, match="gone"):
        agent.run_sync("go")
    ran = (project / "shapes.py").read_text()
    assert "2 * width + height" in ran
    result = asyncio.run(resume(journal, coder(*replies)))
    assert [step.error_code for step in result.steps] == [None, None, "sensor_blocked", None]
    assert result.success


def test_a_replay_of_a_team_asks_no_subagent(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    ReActAgent(ReActAgentConfig.from_yaml(TEAM), journal=journal).run_sync("How long?")
    agent = ReActAgent(ReActAgentConfig.from_yaml(TEAM))
    done = asyncio.run(replay(read_journal(journal), agent))
    assert done.complete
    assert done.result is not None
    assert done.result.usage.requests == 9  # what the others used is known from the recording
    assert {record["run"] for record in done.journal.records} == {read_journal(journal).run_id}
