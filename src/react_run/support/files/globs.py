"""Patterns for paths, as in ``src/**/*.py``: ``*`` and ``?`` stay within a name, ``**`` is any number of levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from react_run.support.files.names import PathRefused, shown_path


def fixed_part(parts: Sequence[str]) -> list[str]:
    """The names before the first one that has a wildcard."""
    return list(takewhile(lambda part: not _has_wildcard(part), parts))


def compiled(pattern: str, parts: Sequence[str]) -> re.Pattern[str]:
    """A regular expression for the whole paths that ``pattern`` matches; ``parts`` are its names.

    Raises:
        PathRefused: It has ``..`` after a wildcard, or an invalid set in brackets.
    """
    names = pattern.split("/")
    if ".." in names[len(fixed_part(names)) :]:
        raise PathRefused(f"{shown_path(pattern)} has .. after a wildcard", code="outside")
    try:
        return re.compile(_path(parts), re.DOTALL)
    except re.error as error:
        raise PathRefused(f"{shown_path(pattern)} is not a pattern: {error}") from None


def _path(parts: Sequence[str]) -> str:
    """The names between two ``**`` match at their first occurrence, without backtracking: otherwise some patterns would
    take forever on some paths, and could not be stopped."""
    first, *more = _between(parts, "**")
    if not more:
        return "/".join(map(_name, first))
    *middle, last = more
    text = "".join(f"{_name(name)}/" for name in first)
    for names in filter(None, middle):
        text += f"(?>(?:[^/]+/)*?{''.join(f'{_name(name)}/' for name in names)})"
    return f"{text}(?:[^/]+/)*{'/'.join(map(_name, last))}" if last else f"{text}.*"


def _between(parts: Sequence[str], separator: str) -> list[list[str]]:
    """The parts before, between and after the separators."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == separator:
            runs.append([])
        else:
            runs[-1].append(part)
    return runs


def _has_wildcard(name: str) -> bool:
    return any(character in name for character in "*?[")


def _name(pattern: str) -> str:
    """As above: the text between two ``*`` matches at its first occurrence."""
    first, *more = _between(_characters(pattern), "*")
    if not more:
        return "".join(first)
    *middle, last = more
    inner = "".join(f"(?>[^/]*?{''.join(characters)})" for characters in middle if characters)
    return f"{''.join(first)}{inner}[^/]*{''.join(last)}"


def _characters(pattern: str) -> list[str]:
    """Each character of a pattern as a regular expression; ``*`` stays unchanged."""
    found, at = [], 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            found.append("*")
        elif character == "?":
            found.append("[^/]")
        elif character == "[" and (end := pattern.find("]", at + 1)) > 0:
            inside = pattern[at:end].replace("\\", "\\\\").replace("[", "\\[")
            negated = inside.startswith(("!", "^"))
            found.append(f"(?!/)[{'^' if negated else ''}{inside[negated:]}]")
            at = end + 1
        else:
            found.append(re.escape(character))
    return found
