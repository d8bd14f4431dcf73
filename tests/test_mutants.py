"""Whoever takes an fsync, a lock or a condition away sees a test fail: the list that says which is whole."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.mutants import Copy, edits, listed, missing, protections, tried

QUICK = (
    "src/react_run/journal/files.py: os.fsync",
    "src/react_run/journal/locks.py: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
    "src/react_run/support/files/replacing.py: os.fsync",
    "src/react_run/support/threads.py: threading.Lock()",
    "toolsets/react_toolsets/sql/database.py: threading.Lock()",
)


def test_every_fsync_and_lock_has_a_test_that_is_said_to_notice() -> None:
    assert list(missing()) == []


def test_what_is_changed_is_still_python() -> None:
    places = [*protections(), *(mutant for mutant, _ in edits())]
    assert len({mutant.name for mutant in places}) == len(places) >= 50
    for mutant in places:
        ast.parse(mutant.changed, mutant.file)


@pytest.mark.slow
def test_some_protections_taken_away_are_noticed(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    copy, known = Copy(tmp_path), listed()
    chosen = [mutant for mutant in protections() if mutant.name in QUICK]
    assert len(chosen) == len(QUICK)
    for mutant in chosen:
        assert copy.verdict(known[mutant.name].tests) == "passed", mutant.name
        assert tried(copy, mutant, known[mutant.name]) == "failed", mutant.name
    record_property("faults", len(chosen))
