"""The directory of a batch: one process at a time writes its output, and others can tell which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from react_run import ConfigError
from react_run.batch.home import Home


def test_who_writes_the_output_is_known_while_it_does(tmp_path: Path) -> None:
    home = Home(tmp_path / "batch")
    assert home.holder() is None
    with home.held():
        assert str(os.getpid()) in str(Home(tmp_path / "batch").holder())
    assert home.holder() is None


def test_a_second_process_is_told_who_has_the_batch(tmp_path: Path) -> None:
    with Home(tmp_path / "batch").held(), pytest.raises(ConfigError, match=f"batch.*{os.getpid()}"):
        Home(tmp_path / "batch").held().__enter__()
