"""Weakenings of guards, hooks and permissions are noticed: what a sceptic would ask of the guard bench."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.guards.mutants import mutants, patched

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_every_mutant_is_noticed_and_every_probe_passes_without_it() -> None:
    command = [sys.executable, "-m", "benchmarks.guards.mutants"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_mutants_replace_is_there() -> None:
    for mutant in mutants():
        with patched(mutant.target, mutant.value):
            pass  # entering fails when a name was changed


def test_there_are_many_mutants_each_with_a_name_of_its_own() -> None:
    names = Counter(mutant.name for mutant in mutants())
    assert len(names) == sum(names.values()) >= 60
