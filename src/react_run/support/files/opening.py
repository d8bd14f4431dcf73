"""Opening one name in a directory that is open, never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from react_run.support.files.names import PathRefused, refusal, shown

# Systems without these flags cannot open relative to a directory either, and are refused.
DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe must not wait for somebody to write to it."""

PART = ".react-run-part"
"""How the names of files end that are being written; they are not shown."""


@contextmanager
def opened(root: Path, parts: Sequence[str], path: str, *, make: int | None = None) -> Iterator[int]:
    """A descriptor of the directory that ``parts`` lead to from ``root``, each step relative to the one before it.

    Args:
        root: Where to start; it may itself be a link, or lie behind one.
        parts: The names on the way.
        path: What messages call the whole.
        make: The mode of directories that are made where there are none; ``None`` makes none.

    Raises:
        PathRefused: There is no such directory, it may not be opened, or a link is on the way.
    """
    if os.open not in os.supports_dir_fd:
        raise PathRefused("this system cannot open files relative to a directory, so no path is safe here")
    try:
        directory = os.open(root, DIRECTORY)
    except OSError as error:
        raise PathRefused(f"the directory {root} cannot be opened: {error.strerror}", code="unusable") from None
    try:
        for name in parts:
            if make is not None:
                with suppress(OSError):  # if it is not there after this, opening it says why
                    os.mkdir(name, make, dir_fd=directory)
            inner = open_in(directory, name, DIRECTORY, path)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


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
