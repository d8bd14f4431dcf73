"""Files found by patterns as in ``src/**/*.py``: ``*`` and ``?`` stay within a name, ``**`` is any number of levels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from react_run.folder.entries import Entry
from react_run.folder.folder import Folder
from react_run.folder.names import PathRefused, parts_of, shown


def find(folder: Folder, pattern: str, skipped: frozenset[str] = frozenset()) -> Iterator[Entry]:
    """What ``pattern`` names: without wildcards what is there, else everything that matches and is no directory.

    Args:
        folder: Where to look.
        pattern: Relative to the folder.
        skipped: Names of directories that wildcards do not lead into. One that cannot be read comes as ``closed``.

    Raises:
        PathRefused: The pattern is absolute, leads out, is none, or leads through something that is no directory.
    """
    parts = parts_of(pattern)
    fixed = list(takewhile(lambda part: not _has_magic(part), parts))
    if _climbs(pattern):
        raise PathRefused(f"{shown(pattern)} has .. behind a wildcard", code="outside")
    if len(fixed) == len(parts):
        yield from _named(folder, parts)
        return
    matches = _compiled(parts)
    for entry in folder.walk("/".join(fixed) or ".", skipped):
        if entry.kind == "closed" or matches.fullmatch(entry.path):
            yield entry


def _named(folder: Folder, parts: Sequence[str]) -> Iterator[Entry]:
    path = "/".join(parts)
    if not parts:
        yield Entry(".", "directory")
    elif folder.exists(path):
        yield from (entry for entry in folder.entries("/".join(parts[:-1]) or ".") if entry.path == path)


def _has_magic(name: str) -> bool:
    return any(character in name for character in "*?[")


def _climbs(pattern: str) -> bool:
    names = pattern.split("/")
    first = next((at for at, name in enumerate(names) if _has_magic(name)), len(names))
    return ".." in names[first:]


def _compiled(parts: Sequence[str]) -> re.Pattern[str]:
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
        raise PathRefused(f"{shown('/'.join(parts))} is no pattern: {error}") from None


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
