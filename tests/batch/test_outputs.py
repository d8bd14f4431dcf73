"""The file of results: one writer, and on disk when it is closed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from react_run import ConfigError
from react_run.batch.outputs import FileOutput


class Row:
    """A result."""

    def line(self) -> str:
        return '{"index": 0}'


def test_a_second_writer_of_one_file_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first = FileOutput(path, known=False)
    first.write([Row()])
    with pytest.raises(ConfigError, match="another process writes to"):
        FileOutput(path, known=True)
    first.close()
    FileOutput(path, known=True).close()
    assert path.read_text(encoding="utf-8") == '{"index": 0}\n'


def test_what_was_written_is_on_disk_when_the_file_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[int, int]] = []

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        synced.append((found.st_ino, found.st_size))

    monkeypatch.setattr("react_run.batch.outputs.os.fsync", fsync)
    path = tmp_path / "results.jsonl"
    output = FileOutput(path, known=False)
    output.write([Row(), Row()])
    output.close()
    assert synced == [(path.stat().st_ino, path.stat().st_size)]
