"""Makes text safe for terminals, and finds out what they can show."""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
import sys
import unicodedata
from typing import TextIO

from react_run.support.text import is_hidden, printable

_NOT_PLAIN = re.compile(r"[^\n -~]")
_COLOURS = {"dim": "2", "red": "31", "green": "32", "yellow": "33", "bold": "1"}


def terminal_text(text: str, stream: TextIO | None = None) -> str:
    """Return ``text`` for a stream (stdout by default): unchanged for files and pipes, :func:`printable` for a
    terminal.
    """
    return printable(text) if is_terminal(sys.stdout if stream is None else stream) else text


def json_text(value: object, indent: int | None = None) -> str:
    """Return ``value`` as JSON in which nothing can control a terminal or hide."""
    text = json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    return text if text.isascii() and "\x7f" not in text else _NOT_PLAIN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return json.dumps(character)[1:-1] if is_hidden(character) else character


_MARKS = {"✓": "ok", "✗": "FAILED", "→": "->", "·": "-", "…": "...", "▶": ">", "■": "#"}
_LINES = {"│": "|", "├": "|", "└": "`", "─": "-"}
_PLAIN = _MARKS | _LINES


def plain_letters() -> str:
    """The name of the error handler for letters that a stream cannot encode: the nearest plain letters, or a question
    mark.
    """

    def plain(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)  # nothing else is written
        return "".join(_PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end

    codecs.register_error("react_run.terminal", plain)
    return "react_run.terminal"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def is_dumb() -> bool:
    """Whether the terminal understands only plain text."""
    return os.environ.get("TERM", "") in ("dumb", "")


def width() -> int:
    """The width of the terminal in columns."""
    return shutil.get_terminal_size((80, 24)).columns


def cells(text: str) -> int:
    """The width of ``text`` in columns."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def fitted(text: str, columns: int) -> str:
    """The beginning of ``text`` that fits into ``columns``, with an ellipsis if it was cut."""
    if cells(text) <= columns:
        return text
    taken, used = [], 1
    for character in text:
        used += cells(character)
        if used > columns:
            break
        taken.append(character)
    return "".join(taken) + "…"


def coloured(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Return ``text`` in a colour, if one is given and the stream (stderr by default) shows colours."""
    stream = sys.stderr if stream is None else stream
    if not colour or os.environ.get("NO_COLOR") or is_dumb() or not is_terminal(stream):
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"
