"""Programs on pseudo-terminals, as people see and interrupt them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from contextlib import suppress
from pathlib import Path

import pyte
from tests.cli.command_line import command, environment

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str, columns: int = 80, **extra: str) -> None:
        self.columns = columns
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command(*arguments),
            cwd=folder,
            env=environment(folder / "home", **{"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **extra}),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.raw = b""

    @property
    def text(self) -> str:
        return ESCAPES.sub("", self.raw.decode("utf-8", errors="replace"))

    @property
    def rows(self) -> list[str]:
        """What stands there at the end, with what has left the screen above."""
        screen = pyte.HistoryScreen(self.columns, 24, history=1000)
        pyte.Stream(screen).feed(self.raw.decode("utf-8", errors="replace"))
        gone = ["".join(row[at].data for at in range(self.columns)) for row in screen.history.top]
        return [row.rstrip() for row in [*gone, *screen.display]]

    def read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.master, 65_536)
        except OSError:  # the other side is closed
            return False
        self.raw += piece
        return bool(piece)

    def watch(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.process.poll() is None:
            self.read(left)

    def until(self, wanted: str, seconds: float = 60) -> float:
        end = time.monotonic() + seconds
        while wanted not in self.text:
            assert time.monotonic() < end, f"{wanted!r} did not come: {self.text}"
            if not self.read(0.05) and self.process.poll() is not None and not self.read(0):
                raise AssertionError(f"{wanted!r} did not come: {self.text}")
        return time.monotonic() - self.started

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def insist(self, key: str, wanted: str) -> None:
        """Press a key until it is heard: readline shows its prompt a moment before it listens for signals."""
        for _ in range(20):
            self.type(key)
            with suppress(AssertionError):
                self.until(wanted, 1)
                return
        raise AssertionError(f"{wanted!r} did not come: {self.text}")

    def end(self, seconds: float = 60) -> int:
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end: {self.text}"
            self.read(0.05)
        while self.read(0.05):
            pass
        os.close(self.master)
        assert "Traceback" not in self.text
        return self.process.returncode
