"""Coordinates three writers on one terminal: notes and a status line on stderr, the draft answer on stdout."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import cycle
from time import monotonic

from react_run.cli.draft_area import DraftArea
from react_run.cli.exit import write_error_line
from react_run.cli.terminal import coloured, fitted, is_dumb, is_terminal, width
from react_run.support.text import printable

REFRESH = 0.1
"""Seconds between updates of the status line."""
_ERASE = "\r\x1b[2K"
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_KEY = 2
"""Columns that the terminal needs to show a Ctrl-C (``^C``) in the row of the status line, and not in the next one."""
_THOUGHT = 6
"""How many rows of a discarded draft stay on the screen."""


def starting(seconds: float) -> str:
    """The first status line."""
    return f"starting · {seconds:.1f} s"


class Screen:
    """Writes notes, a status line and a draft so that none overwrites another.

    The status line appears only on a terminal, and has its own thread: it moves even while an import blocks the loop.

    Args:
        quiet: Write neither notes nor a status line.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.animated = is_terminal(sys.stderr) and not is_dumb() and not quiet
        self.shows_drafts = is_terminal(sys.stdout)
        self._area = DraftArea()
        self._erases = self.shows_drafts and not is_dumb()
        self._lock = threading.RLock()
        self._drawn = False
        self._mid_line = False
        self._paused = False
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._text: Callable[[float], str] = starting

    def note(self, line: str) -> None:
        """Write a line on stderr, above the status line and the draft."""
        if self.quiet or sys.stderr is None:
            return
        with self._lock:
            self._clear()
            draft = self._area.text if self._erases and is_terminal(sys.stderr) else ""
            if draft:
                self._write(self._area.erase())
            else:
                self._end_line()
            self.quiet = not write_error_line(line)
            if draft:
                self._write(self._area.add(draft))

    def draft(self, text: str) -> None:
        """Append to the answer on stdout as it arrives."""
        with self._lock:
            self._clear()
            shown = printable(text)
            self._write(self._area.add(shown) if self._erases else shown)
            self._mid_line = not shown.endswith("\n") if shown and not self._erases else bool(shown) or self._mid_line

    def set_aside(self, mark: str = "") -> None:
        """The draft so far was a thought, or will be written again: its beginning stays, dimmed, after ``mark``."""
        with self._lock:
            self._clear()
            rows = f"{mark}{self._area.text.strip()}".split("\n") if self._area.text.strip() else [""]
            if self._take_away() and not self.quiet and any(rows):
                more = [] if len(rows) <= _THOUGHT else ["…"]
                print("\n".join(coloured(row, "dim", sys.stdout) for row in [*rows[:_THOUGHT], *more]), flush=True)

    def keeps_draft(self) -> bool:
        """If the whole draft is on the screen, end its line and keep it; return whether that was so."""
        with self._lock:
            self._clear()
            whole = not self._erases or self._area.is_whole
            if whole:
                self._end_line()
            return whole

    def take_away(self) -> None:
        """Erase the draft if the terminal can; otherwise end its line."""
        with self._lock:
            self._clear()
            self._take_away()

    def end_draft(self) -> None:
        """End the line of the draft."""
        with self._lock:
            self._clear()
            self._end_line()

    def start_status(self, text: Callable[[float], str]) -> None:
        """Show ``text(seconds since the first call)`` until :meth:`stop_status`."""
        self._text = text
        if self.animated and self._thread is None:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._animate, args=(monotonic(),), daemon=True, name="status")
            self._thread.start()

    def stop_status(self) -> None:
        """Remove the status line."""
        if self._thread is None:
            return
        self._stopped.set()
        if self._thread.ident is not None:  # else a Ctrl-C came before it had begun
            self._thread.join(1)
        self._thread = None
        with self._lock:
            self._clear()

    def pause(self, paused: bool) -> None:
        """Release the terminal to another writer, or take it back."""
        with self._lock:
            if paused:
                self._clear()
                self._end_line()
            self._paused = paused

    def _animate(self, started: float) -> None:
        encoding = (getattr(sys.stderr, "encoding", "") or "").lower().replace("-", "")
        frames = cycle(_FRAMES if encoding == "utf8" else _PLAIN_FRAMES)
        while True:
            with self._lock:
                if self._stopped.is_set():
                    return
                if not self._mid_line and not self._paused:
                    line = fitted(f"{next(frames)} {printable(self._text(monotonic() - started))}", width() - 1 - _KEY)
                    sys.stderr.write(f"{_ERASE}{coloured(line, 'dim')}")
                    sys.stderr.flush()
                    self._drawn = True
            if self._stopped.wait(REFRESH):
                return

    def _clear(self) -> None:
        if self._drawn:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._drawn = False

    def _take_away(self) -> bool:
        if not self._erases:
            self._end_line()
        elif not self._area.is_empty:
            self._write(self._area.erase())
            self._mid_line = False
        return self._erases

    def _end_line(self) -> None:
        if self._mid_line:
            self._write(self._area.end())
            self._mid_line = False

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
