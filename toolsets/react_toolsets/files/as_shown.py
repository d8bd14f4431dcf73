"""Converts text to the form that a model is shown, and back, so that the model can quote a passage as shown."""

from __future__ import annotations

import re
from bisect import bisect_right

_CHANGED = re.compile("\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What results show in another form: Windows line endings as plain ones, control characters as ``\\x1b``."""
_ESCAPED = re.compile(r"\\x([01][0-9a-f]|7f|[89][0-9a-f])")
_LINE_ENDS = re.compile("\r?\n")


class AsShown:
    """The shown form of ``source`` in ``text``, with a mapping of positions back to ``source``."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._starts: list[int] = []
        """The start of each changed part in ``text``."""
        self._parts: list[tuple[int, int, int]] = []
        """The end of each changed part in ``text``, and its start and end in ``source``."""
        pieces, at, length = [], 0, 0
        for found in _CHANGED.finditer(source):
            plain, shown = source[at : found.start()], shown_as(found[0])
            length += len(plain)
            self._starts.append(length)
            length, at = length + len(shown), found.end()
            self._parts.append((length, found.start(), at))
            pieces += [plain, shown]
        self.text = "".join([*pieces, source[at:]])

    def passages(self, wanted: str) -> list[tuple[int, int]]:
        """The start and end of each passage of ``source`` that is shown as ``wanted``."""
        found, at = [], self.text.find(wanted)
        while at >= 0:
            begin, end = self._place(at), self._place(at + len(wanted))
            whole = begin is not None and end is not None
            if begin is not None and end is not None:
                found.append((begin, end))
            at = self.text.find(wanted, at + (len(wanted) if whole else 1))
        return found

    def _place(self, at: int) -> int | None:
        """The position in ``source`` for a position in ``text``; ``None`` inside the shown form of one character."""
        number = bisect_right(self._starts, at) - 1
        if number < 0:
            return at
        shown_until, begin, end = self._parts[number]
        if at < shown_until:
            return begin if at == self._starts[number] else None
        return end + at - shown_until


def shown_as(text: str) -> str:
    """``text`` as results show it."""
    return _CHANGED.sub(lambda found: "\n" if found[0] == "\r\n" else f"\\x{ord(found[0]):02x}", text)


def as_stored(new: str, passage: str) -> str | None:
    """``new`` with shown forms converted back to the control characters of ``passage``, which it replaces.

    ``None`` if ``passage`` contains both a control character and the four characters of its shown form, so that it is
    unclear which is meant.
    """
    for escape in set(_ESCAPED.findall(new)):
        character = chr(int(escape, 16))
        if character in passage:
            if f"\\x{escape}" in passage:
                return None
            new = new.replace(f"\\x{escape}", character)
    return new


def usual_end(source: str) -> str:
    """The line ending of most lines of ``source``; empty if it has no Windows line endings."""
    return max(("\n", "\r\n"), key=_LINE_ENDS.findall(source).count) if "\r\n" in source else ""


def with_line_ends(new: str, passage: str, usual: str) -> str:
    """``new`` with the line endings of ``passage`` on unchanged lines, and its most frequent one on others.

    If ``passage`` is within a line, new lines end with ``usual``.
    """
    if "\r\n" in new or "\n" not in new:
        return new
    before, ends = _LINE_ENDS.split(passage), _LINE_ENDS.findall(passage)
    after = new.split("\n")
    usual = max(("\n", "\r\n"), key=ends.count) if ends else usual
    head, tail = _alike(before, after), _alike(before[::-1], after[::-1])
    added = len(after) - len(before)
    pieces = []
    for number, line in enumerate(after[:-1]):
        stays = number < head or not added
        end = ends[number] if stays and number < len(ends) else usual
        if not stays and number >= len(after) - tail:
            end = ends[number - added]
        pieces += [line, end]
    return "".join([*pieces, after[-1]])


def _alike(one: list[str], other: list[str]) -> int:
    """The number of equal items at the start."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
