"""Lists an open directory and everything below it; links are shown but never followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

from react_run.support.dataclasses import dataclass
from react_run.support.files.opening import DIRECTORY, NO_LINK, PART


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a directory; ``path`` is relative to the folder. A directory that cannot be read is ``closed``."""

    path: str
    kind: Literal["file", "directory", "link", "other", "closed"]
    size: int = 0


def entries(directory: int, above: str) -> list[Entry]:
    """The entries of ``directory``, by name; ``above`` is its path."""
    with os.scandir(directory) as listing:
        found = [
            _entry(item, f"{above}/{item.name}" if above else item.name)
            for item in listing
            if not item.name.endswith(PART)
        ]
    return sorted(found, key=lambda entry: entry.path)


def _entry(item: os.DirEntry[str], path: str) -> Entry:
    try:
        if item.is_symlink():
            return Entry(path, "link")
        if item.is_dir(follow_symlinks=False):
            return Entry(path, "directory")
        if item.is_file(follow_symlinks=False):
            return Entry(path, "file", item.stat(follow_symlinks=False).st_size)
    except OSError:  # removed since it was listed
        pass
    return Entry(path, "other")


def walk(directory: int, above: str, skipped: frozenset[str], depth: int) -> Iterator[Entry]:
    """Everything below ``directory``, except directories that could be entered; ``above`` is its path."""
    for entry in entries(directory, above):
        name = entry.path.rpartition("/")[2]
        if entry.kind != "directory":
            yield entry
        elif name not in skipped:
            try:
                inner = os.open(name, DIRECTORY | NO_LINK, dir_fd=directory) if depth > 1 else None
            except OSError:
                inner = None
            if inner is None:
                yield Entry(entry.path, "closed")
                continue
            try:
                yield from walk(inner, entry.path, skipped, depth - 1)
            finally:
                os.close(inner)
