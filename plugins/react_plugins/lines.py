"""Appends complete lines to files."""

from __future__ import annotations

import os
from pathlib import Path


def append_line(path: Path, line: str) -> None:
    """Append ``line`` to the file at ``path``; creates the file and its directory if necessary.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8", errors="backslashreplace", opener=_open) as file:
        file.write(f"{line}\n")


def _open(path: str, flags: int) -> int:
    """Open without waiting for a reader, since a pipe may never have one."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
