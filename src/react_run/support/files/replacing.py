"""Replaces the content of a file in an open directory: atomically, and only if it has not changed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Self
from uuid import uuid4

from react_run.support.dataclasses import dataclass
from react_run.support.files.names import PathRefused, shown_path
from react_run.support.files.opening import NO_LINK, PART, linked


@dataclass(frozen=True, slots=True)
class Version:
    """Identifies the content of a file when it was read; it changes with every write to the file."""

    device: int
    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The version for a file status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def replace(directory: int, name: str, data: bytes, version: Version | None, path: str) -> None:
    """Replace the content of ``name`` in ``directory`` with ``data``; messages call it ``path``.

    Raises:
        PathRefused: It is not a file, may not be written, or has another version.
        OSError: It cannot be written; nothing is left behind.
    """
    try:
        before: os.stat_result | None = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        before = None
    if before is not None:
        _check_replaceable(before, name, path)
    if version is not None and (before is None or Version.of(before) != version):
        raise PathRefused(f"{shown_path(path)} has been changed in the meantime; read it again", code="changed")
    part = f".{uuid4().hex}{PART}"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o666, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode) & 0o777)
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(part, dir_fd=directory)
        raise


def _check_replaceable(status: os.stat_result, name: str, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise linked(name, path)
    if not stat.S_ISREG(status.st_mode):
        raise PathRefused(f"{shown_path(path)} is not a regular file", code="not_a_file")
    if not status.st_mode & 0o222:
        raise PathRefused(f"{shown_path(path)} is write-protected", code="not_permitted")
