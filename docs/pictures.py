"""Draws the pictures of the README from real runs: ``python docs/pictures.py``. A test compares them."""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parent
PICTURE = HERE / "pictures" / "run.svg"
COLUMNS, LINES = 92, 40
COMMANDS = (
    ["react-run", "agents/calculator.yaml", "34.5 miles in km, and 15*23"],
    ["react-run", "trace", "--last"],
)
_RUN = re.compile(r"\b[0-9a-f]{12}\b")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ")
_SECONDS = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|µs)\b")


def on_terminal(command: list[str], environment: Mapping[str, str]) -> str:
    """What ``command`` writes to a terminal of our width, with its colours."""
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name(command[0])), *command[1:]],
        cwd=ROOT,
        env={**os.environ, **environment, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    written = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # how a terminal says that everybody has left
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    process.wait()
    return written.decode()


def shown(text: str) -> list[str]:
    """What is left on the screen, line by line: a status line that was written over is not."""
    import pyte

    screen = pyte.Screen(COLUMNS, 400)
    pyte.Stream(screen).feed(text)
    lines = [line.rstrip() for line in screen.display]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def session() -> list[str]:
    """The commands and what they print, with a fixed run and fixed times."""
    found = []
    with tempfile.TemporaryDirectory() as home:
        for command in COMMANDS:
            words = [f'"{word}"' if " " in word else word for word in command]
            found.append(f"$ {' '.join(words)}")
            found += [_steady(line) for line in shown(on_terminal(command, {"REACT_RUN_HOME": home}))]
            found.append("")
    return found[:-1]


def _steady(line: str) -> str:
    return _SECONDS.sub("0.1 s", _MOMENT.sub("2026-12-01 10:00:00Z", _RUN.sub("4f1c0a9be2d7", line)))


def picture(lines: list[str]) -> str:
    """The session as an SVG."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115  # rich's own
    for line in lines:
        style = "bold" if line.startswith("$ ") else "dim" if "·" in line else ""
        console.print(Text(line, style=style))
    return console.export_svg(title="react-run", unique_id="run")


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(session()), encoding="utf-8")
