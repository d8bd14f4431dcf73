"""Journals that somebody edited: what cannot be used is named, whatever it breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command_line import views
from tests.journal.test_commands import AGENT

from react_run.cli.exit import ended
from react_run.journal.locate import run_files

VIEWS = views()
COMMANDS = [*VIEWS, ("replay",), ("resume",)]
DAMAGES = [
    ("model_request", "keep", 50),
    ("tool_finished", "executed", "yes"),
    ("tool_finished", "seconds", {}),
    ("model_response", "usage", "none"),
    ("tool_started", "arguments", None),
    ("footer", "stop_reason", []),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("kind", "field", "value"), DAMAGES, ids=lambda value: str(value))
def test_a_damaged_line_is_named_or_does_no_harm(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    kind: str,
    field: str,
    value: object,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    ended(["agent.yaml", "go", "--record", "run.jsonl", "-q"])
    records = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    number = next(number for number, record in enumerate(records, 1) if record["type"] == kind)
    records[number - 1][field] = value
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    capsys.readouterr()
    ended([*command, "run.jsonl"])
    err = capsys.readouterr().err
    assert "internal error" not in err
    if "damaged here" in err:
        assert f"run.jsonl:{number}: the journal is damaged here: {field}: " in err


ODD = ["1e300", "-1e300", "1e400", "NaN", "9" * 400, "253402300800", "-62135596801", "true"]
PLACES = [("header", "time"), ("model_request", "time"), ("model_response", "seconds"), ("tool_finished", "time")]


@pytest.mark.parametrize(("kind", "field"), [*PLACES, ("model_request", "keep"), ("footer", "time")])
def test_numbers_and_moments_that_cannot_be_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, field: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    ended(["agent.yaml", "go", "--record", "run.jsonl", "-q"])
    records = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    number = next(number for number, record in enumerate(records, 1) if record["type"] == kind)
    records[number - 1][field] = "@"
    text = "".join(json.dumps(record) + "\n" for record in records)
    told = 0
    for odd in ODD:
        (tmp_path / "run.jsonl").write_text(text.replace('"@"', odd), encoding="utf-8")
        for command in VIEWS:
            capsys.readouterr()
            ended([*command, "run.jsonl"])
            err = capsys.readouterr().err
            assert "internal error" not in err, (odd, command)
            told += f"run.jsonl:{number}: the journal is damaged here: {field}: " in err
    assert told


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("torn", [b"", b'{"type": "model_re', b"\xff\xfe{", b'"\xed\xa0\x80', b"[[[["])
def test_a_run_that_ended_early_in_the_middle_of_a_line_is_shown_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cut: int, torn: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    ended(["agent.yaml", "go", "--record", "run.jsonl", "-q"])
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run.jsonl").write_bytes(b"".join(lines[:cut]) + torn)
    for command in VIEWS:
        capsys.readouterr()
        ended([*command, "run.jsonl"])
        assert "internal error" not in capsys.readouterr().err, command


def test_a_damaged_journal_is_left_out_of_the_list_of_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    ended(["agent.yaml", "go", "-q"])
    (kept,) = run_files()
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    for field in ("status", "stop_reason", "usage", "time"):
        footer = {**json.loads(lines[-1]), field: []}
        kept.with_name(f"{field}.jsonl").write_text("".join([*lines[:-1], json.dumps(footer), "\n"]), encoding="utf-8")
    capsys.readouterr()
    assert ended(["runs", "list"]) == 0
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), err) == (2, "")
