"""A journal that somebody damaged is told to be one, whatever is missing from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.journal.recording import agent_of, schema

from react_run.errors import JournalError
from react_run.journal.reading import HEADER, read_journal
from react_run.testing import calls, says


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), says("3")], journal=tmp_path / "run.jsonl")
    agent.run_sync("go")
    return tmp_path / "run.jsonl"


def test_what_a_header_holds_is_what_its_schema_requires() -> None:
    assert set(schema()["$defs"]["header"]["required"]) == HEADER


@pytest.mark.parametrize("key", sorted(HEADER - {"type", "run", "time"}))
def test_a_header_that_lacks_something_is_named_with_what_it_lacks(journal: Path, key: str) -> None:
    head, *rest = journal.read_text().splitlines(keepends=True)
    fields = {name: value for name, value in json.loads(head).items() if name != key}
    journal.write_text(json.dumps(fields) + "\n" + "".join(rest))
    with pytest.raises(JournalError, match=rf"run\.jsonl.*{key}"):
        read_journal(journal)


@pytest.mark.parametrize("version", [1, 3, "2", None])
def test_a_journal_of_another_format_is_refused_with_the_way_out(journal: Path, version: object) -> None:
    head, *rest = journal.read_text().splitlines(keepends=True)
    journal.write_text(json.dumps({**json.loads(head), "version": version}) + "\n" + "".join(rest))
    with pytest.raises(JournalError) as refused:
        read_journal(journal)
    said = f"run.jsonl:1: the journal has format {version!r}, and this react-run reads format 2 only; open it with"
    assert str(refused.value).endswith(f"{said} react-run {json.loads(head)['react_run']}, which wrote it")


@pytest.mark.parametrize("release", [None, 2, "", "\x1b[2J", "1" * 100])
def test_a_journal_of_another_format_whose_writer_is_not_known_is_refused_too(journal: Path, release: object) -> None:
    head, *rest = journal.read_text().splitlines(keepends=True)
    fields = {**json.loads(head), "version": 1, "react_run": release}
    journal.write_text(json.dumps(fields) + "\n" + "".join(rest))
    with pytest.raises(JournalError, match=r"only; open it with the version that wrote it$"):
        read_journal(journal)


def test_any_key_missing_from_any_record_gives_iterations_or_our_error(journal: Path) -> None:
    lines = journal.read_text().splitlines()
    damaged = 0
    for number, line in enumerate(lines[1:], 1):
        for key in json.loads(line):
            fields = {name: value for name, value in json.loads(line).items() if name != key}
            journal.write_text("\n".join([*lines[:number], json.dumps(fields), *lines[number + 1 :]]) + "\n")
            try:
                assert read_journal(journal).iterations
            except JournalError:
                damaged += 1
    assert damaged
