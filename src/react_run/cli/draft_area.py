"""The draft of an answer on a terminal: rows that can be taken away again."""

from __future__ import annotations

import shutil

from react_run.cli.terminal import cells, width

_BELOW = "\x1b[J"


class DraftArea:
    """Rows of text at the end of the screen. Its methods return what to write.

    A draft that is longer than the screen shows its end: what has left the screen could not be taken away any more.
    """

    def __init__(self) -> None:
        self._rows: list[str] = [""]
        self._drawn: list[str] = [""]
        self.text = ""
        """All of the draft."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands there."""
        return not self.text

    @property
    def is_whole(self) -> bool:
        """Whether all of it is on the screen."""
        return self._drawn == self._rows

    def add(self, text: str) -> str:
        """More of the draft."""
        self.text += text
        *whole, last = (self._rows.pop() + text.expandtabs(4)).split("\n")
        for line in whole:
            self._rows += _wrapped(line, width() - 1)
        self._rows += _wrapped(last, width() - 1)
        return self._draw()

    def erase(self) -> str:
        """Take everything away."""
        up = len(self._drawn) - 1
        self._rows, self._drawn, self.text = [""], [""], ""
        return f"\r{_up(up)}{_BELOW}"

    def end(self) -> str:
        """Leave it there, and go on below it."""
        self._rows, self._drawn, self.text = [""], [""], ""
        return "\n"

    def _draw(self) -> str:
        most = max(3, shutil.get_terminal_size((80, 24)).lines - 2)
        before, after = self._drawn, self._rows[-most:]
        self._drawn = list(after)
        last = len(before) - 1
        same = 0
        while same < last and same < len(after) and before[same] == after[same]:
            same += 1
        if same == last and len(after) > last and after[last].startswith(before[last]):
            return "\n".join([after[last][len(before[last]) :], *after[last + 1 :]])
        return f"\r{_up(last - same)}{_BELOW}" + "\n".join(after[same:])


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows > 0 else ""


def _wrapped(line: str, columns: int) -> list[str]:
    """``line`` in rows of at most ``columns``, broken between words where there is a place."""
    rows: list[str] = []
    while cells(line) > columns:
        end, used = 0, 0
        while end < len(line) and used + cells(line[end]) <= columns:
            used += cells(line[end])
            end += 1
        end = max(1, end)
        blank = line.rfind(" ", 0, end + 1)
        cut = blank if blank > 0 else end
        rows.append(line[:cut])
        line = line[cut:].removeprefix(" ") if cut == blank else line[cut:]
    return [*rows, line]
