"""Opens one name in an open directory, never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from react_run.support.files.names import PathRefused, refusal, shown_path

# Systems without these flags cannot open relative to a directory either, and are refused.
DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe must not wait for a writer."""

PART = ".react-run-part"
"""The suffix of files being written, which are not listed."""


@contextmanager
def opened(root: Path, parts: Sequence[str], path: str, *, make: int | None = None) -> Iterator[int]:
    """A descriptor of the directory at ``parts`` below ``root``, opened step by step.

    Args:
        root: The starting point; it may itself be a link, or be reached through one.
        parts: The names on the way.
        path: The path in messages.
        make: The mode for creating missing directories; ``None`` creates none.

    Raises:
        PathRefused: There is no such directory, it cannot be opened, or a link is on the way.
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
                with suppress(OSError):  # if it still does not exist, opening it will say why
                    os.mkdir(name, make, dir_fd=directory)
            inner = open_in(directory, name, DIRECTORY, path)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


def open_in(directory: int, name: str, flags: int, path: str) -> int:
    """A descriptor of ``name`` in ``directory``; messages call it ``path``.

    Raises:
        PathRefused: It is a link, does not exist, or cannot be opened.
    """
    try:
        return os.open(name, flags | NO_LINK, dir_fd=directory)
    except OSError as error:
        # When opening a link as a directory, most systems report that it is not one.
        raise (linked(name, path) if _is_link(directory, name) else refusal(error, path)) from None


def linked(name: str, path: str) -> PathRefused:
    """The error if ``name``, a part of ``path``, is a link."""
    text = f"{shown_path(path)}: {shown_path(name)} is a symbolic link, which is not followed"
    return PathRefused(text, code="symbolic_link")


def _is_link(directory: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False
