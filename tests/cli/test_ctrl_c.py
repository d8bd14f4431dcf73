"""Ctrl-C at random moments of a run on a terminal: status 130, and nothing that is left behind.

``REACT_RUN_INTERRUPTS`` is how many there are: 50 in CI, a thousand by night.
"""

from __future__ import annotations

import os
import random
import signal
import termios
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.cli.command_line import react_run, write
from tests.cli.terminals import Terminal

from react_run import JournalError, read_journal

pytestmark = pytest.mark.terminal

INTERRUPTS = int(os.environ.get("REACT_RUN_INTERRUPTS", "50"))
LONGEST = 0.7
"""Seconds after the first sign of life in which the interrupts are spread; about as long as the run takes."""
MARK = "REACT_RUN_TEST_OF_CTRL_C"
TOOLS = """\
import subprocess
import time

from react_run import tool


@tool
def nap() -> str:
    \"\"\"Sleep, in a thread.\"\"\"
    time.sleep(0.05)
    return "rested"


@tool(read_only=True)
def look() -> str:
    \"\"\"Have another program look.\"\"\"
    return subprocess.run(["sleep", "0.05"], check=True) and "looked"
"""
AGENT = """\
model:
  kind: scripted
  replies:
    - {delay: 0.05, tool_calls: [{name: nap, arguments: {}}, {name: look, arguments: {}}]}
    - {delay: 0.05, tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}
    - {delay: 0.05, text: "It is **42**."}
toolsets: [math, "naps:nap", "naps:look"]
"""


def left_behind(mark: str) -> list[str]:
    """The programs that are still there and were started with ``mark`` in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue  # gone meanwhile, or somebody else's
    return found


def interrupted(folder: Path, moment: float, number: int) -> int:
    """Run the agent, press Ctrl-C ``moment`` seconds after it first said something, and look at what is left."""
    journal = folder / f"{number}.jsonl"
    mark = f"{os.getpid()}-{number}"
    # As for users: an import that is interrupted leaves a file to the collector, and Python's warning is no traceback.
    words = ("agent.yaml", "go", "--trust", "--record", journal.name)
    terminal = Terminal(folder, *words, REACT_RUN_TEST_OF_CTRL_C=mark, PYTHONWARNINGS="")
    try:
        terminal.until("s")  # of the status line
        before = termios.tcgetattr(terminal.master)
        terminal.watch(moment)
        pressed = time.monotonic()
        terminal.type("\x03")
        status = wait_for(terminal)
        assert time.monotonic() - pressed < 10, "it takes its time"
        assert termios.tcgetattr(terminal.master) == before, "the terminal is not as it was"
    finally:
        if terminal.process.poll() is None:
            os.killpg(terminal.process.pid, signal.SIGKILL)
            terminal.process.wait()
        os.close(terminal.master)
    assert "Traceback" not in terminal.text
    assert terminal.raw.count(b"\x1b[?25l") == terminal.raw.count(b"\x1b[?25h"), "the cursor is hidden"
    assert status == (0 if "It is 42." in terminal.text and "interrupted" not in terminal.text else 130), terminal.text
    last = terminal.raw.rpartition(b"\x1b[2K")[2].replace(b"^C", b"").strip(b"\r")
    assert not last or last.endswith(b"\n"), f"the prompt would not stand on a line of its own: {last!r}"
    until_nothing_is_left(mark)
    if journal.exists() and journal.stat().st_size:
        try:
            recorded = read_journal(journal)
        except JournalError as error:
            raise AssertionError(f"{error}: {journal.read_bytes()!r}") from error
        assert not recorded.torn
    return status


def wait_for(terminal: Terminal, seconds: float = 60) -> int:
    end = time.monotonic() + seconds
    while terminal.process.poll() is None:
        assert time.monotonic() < end, f"it does not end: {terminal.text}"
        terminal.read(0.02)
    while terminal.read(0.02):
        pass
    return int(terminal.process.returncode)


def until_nothing_is_left(mark: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while left := left_behind(mark):  # what the terminal's own Ctrl-C ended may still be on its way out
        assert time.monotonic() < end, f"left behind: {left}"


@pytest.mark.slow
def test_ctrl_c_at_random_moments_ends_with_its_status_and_leaves_nothing_behind(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    write(tmp_path, TOOLS, "naps.py")
    write(tmp_path, AGENT)
    chance = random.Random(7)
    statuses = [interrupted(tmp_path, chance.uniform(0, LONGEST), number) for number in range(INTERRUPTS)]
    record_property("faults", INTERRUPTS)
    assert 130 in statuses


STOPS = {
    "a text is executed": 'exec("import signal\\nsignal.raise_signal(signal.SIGINT)")\n',  # as dataclasses have it
    "a class is made": """\
import signal


class Named:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)


class Owner:
    named = Named()
""",
    "a schema is built": """\
import signal

from pydantic_core import SchemaValidator


class Word:
    def __repr__(self):
        signal.raise_signal(signal.SIGINT)


SchemaValidator({"type": "literal", "expected": [Word()]})
""",
    "nothing can be raised": """\
import signal

from react_run import tool


class Gone:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)


Gone()


@tool
def look() -> str:
    \"\"\"Look.\"\"\"
    return ""
""",
}
"""What Python makes something else of when it is interrupted."""


@pytest.mark.parametrize("when", STOPS)
def test_ctrl_c_while_something_is_imported_ends_with_its_status(tmp_path: Path, when: str) -> None:
    write(tmp_path, STOPS[when], "stops.py")
    write(tmp_path, "model: {kind: scripted, replies: [done]}\ntoolsets: [stops:look]\n")
    done = react_run(tmp_path, "agent.yaml", "go", "--trust")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr in ("", "interrupted\n")
