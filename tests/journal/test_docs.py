"""docs/journal.md: its examples work, and it names every record and every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.journal.recording import schema

from react_run.evals.suite import read_suite

TEXT = (Path(__file__).parent.parent.parent / "docs" / "journal.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_the_example_of_reading_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[0], {"__name__": "example"})
    assert capsys.readouterr().out.startswith("Say hello. Hello! Usage(")


def test_the_example_of_a_test_is_one_for_pytest() -> None:
    names: dict[str, object] = {"__name__": "example"}
    exec(blocks("python")[1], names)
    assert callable(names["test_the_run_of_may_is_as_it_was"])


def test_the_example_of_cases_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(blocks("yaml")[0], encoding="utf-8")
    assert [case.name for case in read_suite(path).cases] == ["as it was in May", "a sum"]


def test_every_kind_of_record_has_its_line_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(schema()["properties"]["type"]["enum"])
