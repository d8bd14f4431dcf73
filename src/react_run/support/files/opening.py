"""Opening one name in a directory that is open, never through a link."""

from __future__ import annotations

import os
import stat

from react_run.support.files.names import PathRefused, refusal, shown

# Systems without these flags cannot open relative to a directory either, and are refused.
DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe must not wait for somebody to write to it."""

PART = ".react-run-part"
"""How the names of files end that are being written; they are not shown."""


def open_in(directory: int, name: str, flags: int, path: str) -> int:
    """A descriptor of ``name`` in ``directory``; ``path`` is what messages call it.

    Raises:
        PathRefused: It is a link, is not there, or may not be opened.
    """
    try:
        return os.open(name, flags | NO_LINK, dir_fd=directory)
    except OSError as error:
        # Asked to open a link as a directory, most systems say that it is none.
        raise (linked(name, path) if _is_link(directory, name) else refusal(error, path)) from None


def linked(name: str, path: str) -> PathRefused:
    """The error for ``name``, on the way of ``path``, being a link."""
    text = f"{shown(path)}: {shown(name)} is a symbolic link, which is not followed"
    return PathRefused(text, code="symbolic_link")


def _is_link(directory: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False
