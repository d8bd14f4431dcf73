"""What every test needs of the process it runs in."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from tests.distributions import look_at_ours_alone

HERE = Path(__file__).parent

look_at_ours_alone()

settings.register_profile("ci", derandomize=True)  # the same examples in every run of CI; elsewhere new ones
if os.environ.get("CI"):
    settings.load_profile("ci")

# A program started in the background by a shell without job control ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

PROCESSES = (
    "batch/",
    "cli/test_contract.py",
    "evals/test_running.py",
    "test_pytest_plugin.py",
    "cli/test_interrupts.py",
    "journal/test_kill.py",
    "serve/",
    "support/programs/",
    "toolsets/mcp/",
    "toolsets/programs/",
    "toolsets/shell/",
    "toolsets/skills/test_programs.py",
    "toolsets/sql/test_postgres.py",
)
"""Tests that drive other programs (servers, browsers, databases, commands), so that a busy machine can fail them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(HERE).as_posix().startswith(PROCESSES):
            item.add_marker("processes")
