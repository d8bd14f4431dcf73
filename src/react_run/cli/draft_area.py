"""The draft of an answer on a terminal: rows that can be erased again."""

from __future__ import annotations

import shutil

from react_run.cli.terminal import cells, width

_BELOW = "\x1b[J"


class DraftArea:
    """Rows of text at the bottom of the screen. The methods return the text to write.

    Of a draft longer than the screen only the end is shown: text that has scrolled off could not be erased.
    """

    def __init__(self) -> None:
        self._rows: list[str] = [""]
        self._drawn: list[str] = [""]
        self.text = ""
        """The whole draft."""

    @property
    def is_empty(self) -> bool:
        """Whether the area is empty."""
        return not self.text

    @property
    def is_whole(self) -> bool:
        """Whether the whole draft is on the screen."""
        return self._drawn == self._rows

    def add(self, text: str) -> str:
        """Append to the draft."""
        self.text += text
        *whole, last = (self._rows.pop() + text.expandtabs(4)).split("\n")
        for line in whole:
            self._rows += _wrapped(line, width() - 1)
        self._rows += _wrapped(last, width() - 1)
        return self._draw()

    def erase(self) -> str:
        """Erase the draft."""
        up = len(self._drawn) - 1
        self._rows, self._drawn, self.text = [""], [""], ""
        return f"\r{_up(up)}{_BELOW}"

    def end(self) -> str:
        """Keep the draft on the screen, and continue below it."""
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
    """Split ``line`` into rows of at most ``columns``, between words if possible."""
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
