"""A home of its own for each test: journals and sessions of one are nothing to another."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("REACT_RUN_HOME", str(found))
    monkeypatch.chdir(tmp_path)
    return found
