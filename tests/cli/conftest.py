"""The command line called in this process: quicker than a process of its own, where that makes no difference."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.cli.command_line import Call

from react_run.cli.exit import ended


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in an empty directory with a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))

    def called(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        status = ended(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    return called
