"""What the tests of policies share: a tool that does as it is told, and a listener to guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fired import Fired

from react_run import Observation, Outcome, Tool, tool


@pytest.fixture
def fired() -> Fired:
    return Fired()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that agents of this test work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proven(summary: str) -> Observation:
    """A result that its tool calls a success."""
    return Observation(content=summary, outcome=Outcome.success(summary))


@pytest.fixture
def scripted_tool() -> Callable[..., Tool]:
    """Makes a tool that returns, or raises, one thing after the other; the last one for ever."""

    def make(name: str, *results: object, **flags: object) -> Tool:
        pending: Iterator[object] = iter(results)
        latest: list[object] = []

        def run(x: object = None) -> object:
            """Do as told."""
            latest[:] = [next(pending, latest[0] if latest else None)]
            if isinstance(latest[0], Exception):
                raise latest[0]
            return proven(latest[0][1:]) if isinstance(latest[0], str) and latest[0].startswith("!") else latest[0]

        return Tool.from_function(tool(run), name=name, **flags)  # type: ignore[arg-type]  # flags of a tool

    return make
