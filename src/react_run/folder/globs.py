"""Patterns for paths, as in ``src/**/*.py``: ``*`` and ``?`` stay within a name, ``**`` is any number of levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from react_run.folder.names import PathRefused, shown


def fixed_part(parts: Sequence[str]) -> list[str]:
    """The names before the first one that has a wildcard."""
    return list(takewhile(lambda part: not _has_wildcard(part), parts))


def compiled(pattern: str, parts: Sequence[str]) -> re.Pattern[str]:
    """A regular expression for the whole paths that ``pattern`` matches; ``parts`` are its names.

    Raises:
        PathRefused: It has ``..`` behind a wildcard, or a set in brackets that is none.
    """
    names = pattern.split("/")
    if ".." in names[len(fixed_part(names)) :]:
        raise PathRefused(f"{shown(pattern)} has .. behind a wildcard", code="outside")
    text = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            text += ".*" if last else "(?:[^/]+/)*"
        else:
            text += _name(part) + ("" if last else "/")
    try:
        return re.compile(text, re.DOTALL)
    except re.error as error:
        raise PathRefused(f"{shown(pattern)} is no pattern: {error}") from None


def _has_wildcard(name: str) -> bool:
    return any(character in name for character in "*?[")


def _name(pattern: str) -> str:
    text, at = "", 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            text += "[^/]*"
        elif character == "?":
            text += "[^/]"
        elif character == "[" and (end := pattern.find("]", at + 1)) > 0:
            inside = pattern[at:end].replace("\\", "\\\\").replace("[", "\\[")
            negated = inside.startswith(("!", "^"))
            text += f"(?!/)[{'^' if negated else ''}{inside[negated:]}]"
            at = end + 1
        else:
            text += re.escape(character)
    return text
