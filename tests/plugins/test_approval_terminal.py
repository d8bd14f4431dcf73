"""Asking at the terminal, for real: a pseudo-terminal, the command line, and nobody there."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.terminal

AGENT = """
version: 1
name: guarded
model:
  kind: scripted
  replies:
    - tool_calls: [{name: note, arguments: {path: a.txt, text: "hello"}}]
    - tool_calls: [{name: note, arguments: {path: a.txt, text: "hello"}}]
    - done
toolsets:
  - {kind: notes.Notes}
permissions:
  - {tool: "read*", action: allow}
failure_handling: legacy
"""

NOTES = """
from pathlib import Path

from react_run import ReActToolset, tool


class Notes(ReActToolset):
    @tool(read_only=False, repeatable=True)
    def note(self, path: str, text: str) -> str:
        "Write a note."
        with Path("notes.log").open("a") as file:
            file.write(text + "\\n")
        return "noted"
"""

REDRAWN = 0.35
"""Seconds in which a status line would be drawn more than once."""
COMMAND = [sys.executable, "-m", "react_run", "agent.yaml", "go", "--trust", "--no-save"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.yaml").write_text(AGENT)
    (tmp_path / "notes.py").write_text(NOTES)
    return tmp_path


def noted(folder: Path) -> int:
    """How many notes were written."""
    log = folder / "notes.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def on_terminal(
    folder: Path, *answers: str, typed_ahead: str = "", interrupt: bool = False, quiet: bool = True
) -> tuple[int, str]:
    """Run the agent on a pseudo-terminal and answer each question; its exit status and all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(COMMAND[0], [*COMMAND, "-q"] if quiet else COMMAND, {**os.environ, "TERM": "xterm"})
    shown, pending = b"", list(answers)
    asked = 0
    try:
        if typed_ahead:
            os.write(terminal, typed_ahead.encode())
        while True:
            if not select.select([terminal], [], [], 30)[0]:
                raise AssertionError(f"nothing more was shown after {shown!r}")
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not piece:
                break
            shown += piece
            while shown.count(b"[N]o: ") + shown.count(b"a or n: ") > asked:
                asked += 1
                if not quiet:
                    assert not select.select([terminal], [], [], REDRAWN)[0], "something is drawn over the question"
                if interrupt:
                    os.kill(child, signal.SIGINT)
                elif pending:
                    os.write(terminal, f"{pending.pop(0)}\n".encode())
    finally:
        os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")


@pytest.mark.parametrize(
    ("answers", "notes", "questions", "ends_as"),
    [
        (["y", "y"], 2, 2, 0),
        (["a"], 2, 1, 0),
        ([""], 0, 1, 1),
        (["perhaps", "YES", "n"], 1, 3, 1),
    ],
)
def test_a_person_at_the_terminal_decides(
    folder: Path, answers: list[str], notes: int, questions: int, ends_as: int
) -> None:
    status, shown = on_terminal(folder, *answers)
    assert noted(folder) == notes, shown
    assert shown.count("[N]o: ") + shown.count("a or n: ") == questions
    assert "guarded wants to call note:" in shown
    assert 'text: "hello"' in shown
    assert status == ends_as  # F6: a denial stands


def test_questions_of_one_reply_come_one_after_the_other(folder: Path) -> None:
    both = "[{name: note, arguments: {path: a, text: A}}, {name: note, arguments: {path: b, text: B}}]"
    agent = AGENT.replace('[{name: note, arguments: {path: a.txt, text: "hello"}}]', both, 1)
    (folder / "agent.yaml").write_text(agent)
    _, shown = on_terminal(folder, "y", "n", "n")
    assert noted(folder) == 1, shown
    assert shown.count("[N]o: ") == 3


def test_nothing_is_drawn_over_a_question(folder: Path) -> None:
    status, shown = on_terminal(folder, "y", "n", quiet=False)
    assert (status, noted(folder)) == (1, 1), shown  # F6: a denial stands


def test_what_was_typed_before_the_question_is_no_answer_to_it(folder: Path) -> None:
    _, shown = on_terminal(folder, "n", typed_ahead="y\ny\n")
    assert noted(folder) == 0, shown


def test_an_interrupt_while_a_person_is_asked_ends_the_run(folder: Path) -> None:
    status, shown = on_terminal(folder, interrupt=True)
    assert (status, noted(folder)) == (130, 0), shown
    assert "Traceback" not in shown


def test_without_a_terminal_the_call_is_denied_with_the_status_for_users(folder: Path) -> None:
    done = subprocess.run(
        COMMAND,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 4, done.stderr
    assert noted(folder) == 0
    assert "note needs approval" in done.stdout
    assert "Traceback" not in done.stderr
