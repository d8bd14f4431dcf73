"""Opening files inside a directory, whatever the name says: by descriptors, so that nothing can lead out of it.

Links are not followed at all, and names are refused that mean something else on another system, so that an agent file
works the same everywhere.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from react_run import ToolError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_FAULTS = {
    errno.ELOOP: ("symbolic_link", "goes through a symbolic link, which is not followed"),
    errno.ENOENT: ("not_found", "does not exist"),
    errno.ENOTDIR: ("not_found", "does not exist, or goes through a symbolic link"),
    errno.ENAMETOOLONG: ("invalid_path", "is too long"),
    errno.EACCES: ("not_readable", "may not be read"),
    errno.EISDIR: ("not_a_file", "is a directory"),
}


def parts_of(path: str) -> list[str]:
    """The names in ``path``, relative to the directory, ``.`` and ``..`` resolved.

    Raises:
        ToolError: It is absolute, leads out, or has a name that is not the same everywhere.
    """
    if not path.strip() or _CONTROL.search(path):
        raise ToolError(f"{path!r} is no path: it is empty, or has control characters", code="invalid_path")
    if path.startswith(("/", "~/")) or path == "~":
        raise ToolError(f"{path!r} is absolute; give a path relative to the directory", code="outside")
    if "\\" in path or ":" in path:
        raise ToolError(rf"{path!r} has a \ or a colon; put / between names", code="invalid_path")
    parts: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not parts:
                raise ToolError(f"{path!r} leads out of the directory", code="outside")
            parts.pop()
        elif name not in ("", "."):
            _check(name, path)
            parts.append(name)
    return parts


def _check(name: str, path: str) -> None:
    if name.endswith((".", " ")) or _DEVICE.fullmatch(name):
        raise ToolError(f"{path!r}: the name {name!r} means something else on some systems", code="invalid_path")


def open_inside(root: Path, path: str) -> int:
    """A descriptor of the regular file ``path`` below ``root``, open for reading.

    Raises:
        ToolError: There is none, it is no regular file, or the path is refused.
    """
    parts = parts_of(path)
    if not parts:
        raise ToolError(f"{path!r} is a directory", code="not_a_file")
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in parts[:-1]:
            inner = _open(name, os.O_RDONLY | os.O_DIRECTORY, directory, path)
            os.close(directory)
            directory = inner
        file = _open(parts[-1], os.O_RDONLY | os.O_NONBLOCK, directory, path)
    finally:
        os.close(directory)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ToolError(f"{path!r} is not a regular file", code="not_a_file")
    return file


def _open(name: str, flags: int, directory: int, path: str) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        code, text = _FAULTS.get(error.errno or 0, ("not_readable", f"cannot be opened: {error.strerror}"))
        raise ToolError(f"{path!r} {text}", code=code) from None


def read_inside(root: Path, path: str, limit: int) -> bytes:
    """The content of the regular file ``path`` below ``root``.

    Args:
        root: The directory.
        path: Relative to it, names separated by ``/``.
        limit: Bytes that are read at most.

    Raises:
        ToolError: There is none, the path is refused, or the file is larger.
    """
    with os.fdopen(open_inside(root, path), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ToolError(f"{path!r} has more than {limit} bytes", code="too_large")
    return data
