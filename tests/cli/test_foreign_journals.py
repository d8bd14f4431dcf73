"""Journals of somebody else drive no agent that needs trust, by whatever door they come in (SECURITY.md)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cli.command_line import Call

RECORDED = """\
version: 1
model:
  kind: scripted
  replies: [{tool_calls: [{name: run_command, arguments: {command: "touch made"}}]}, {text: done}]
toolsets: [shell]
permissions: [{tool: run_command, action: allow}]
"""
MINE = "version: 1\nmodel: offline\ntoolsets: [shell]\npermissions: [{tool: run_command, action: allow}]\n"


@pytest.fixture
def foreign(call: Call, tmp_path: Path) -> Path:
    """A trusted agent, and a recording that came from elsewhere."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "mine" / "agent.yaml").write_text(RECORDED)
    journal = tmp_path / "theirs" / "run.jsonl"
    assert call("mine/agent.yaml", "go", "--trust", "--record", str(journal))[0] == 0
    (tmp_path / "made").unlink()
    (tmp_path / "mine" / "agent.yaml").write_text(MINE)
    assert call("trust", "mine")[0] == 0
    return journal


DOORS = [
    ("--replay", "JOURNAL"),
    ("-m", "{kind: replay, journal: JOURNAL, compare: false}"),
    ("-m", "{kind: replay, journal: JOURNAL, compare: false, then: offline}"),
    ("--set", "model={kind: replay, journal: JOURNAL, compare: false}"),
    ("--set", "fallback_models=[{kind: replay, journal: JOURNAL, compare: false}]"),
]


@pytest.mark.parametrize("door", DOORS)
def test_a_foreign_journal_runs_no_command(call: Call, foreign: Path, tmp_path: Path, door: tuple[str, str]) -> None:
    given = [word.replace("JOURNAL", str(foreign)) for word in door]
    status, _, err = call("mine/agent.yaml", "go", *given)
    assert status != 0
    assert "react-run trust" in err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("door", DOORS)
def test_a_link_to_a_foreign_journal_is_as_foreign(
    call: Call, foreign: Path, tmp_path: Path, door: tuple[str, str]
) -> None:
    link = tmp_path / "mine" / "run.jsonl"
    link.symlink_to(foreign)
    status, _, err = call("mine/agent.yaml", "go", *[word.replace("JOURNAL", str(link)) for word in door])
    assert status != 0
    assert "react-run trust" in err
    assert not (tmp_path / "made").exists()


CASES = """\
cases:
  - name: a
    prompt: go
    replies: [{tool_calls: [{name: run_command, arguments: {command: "touch made"}}]}, done]
"""


@pytest.mark.parametrize("command", ["test", "eval"])
@pytest.mark.parametrize("way", ["mine", "theirs"])
def test_a_link_of_cases_into_or_out_of_a_trusted_directory_drives_nothing(
    call: Call, foreign: Path, tmp_path: Path, command: str, way: str
) -> None:
    other = {"mine": "theirs", "theirs": "mine"}[way]
    (tmp_path / other / "real.yaml").write_text(CASES)
    (tmp_path / way / "cases.yaml").symlink_to(tmp_path / other / "real.yaml")
    status, _, err = call(command, "mine/agent.yaml", f"{way}/cases.yaml")
    assert status != 0
    assert "react-run trust" in err
    assert not (tmp_path / "made").exists()


def test_a_journal_that_lies_where_everything_is_trusted_does(call: Call, foreign: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine" / "run.jsonl"
    shutil.copy(foreign, own)
    (tmp_path / "mine" / "agent.yaml").write_text(RECORDED)
    status, out, err = call("mine/agent.yaml", "go", "--replay", str(own))
    assert (status, out) == (0, "done\n"), err
    assert (tmp_path / "made").exists()
