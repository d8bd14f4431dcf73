"""Decides which paths are allowed: those that lead nowhere else, and mean the same on every system."""

from __future__ import annotations

import errno
import re

from react_run.outcome import ToolError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
PROTECTED = frozenset((".git", ".react-run", ".venv"))
"""Directories, at any depth, that must not be written to: a hook in there would run at the next git command."""
_FAULTS = {
    errno.ELOOP: ("symbolic_link", "goes through a symbolic link, which is not followed"),
    errno.ENOENT: ("not_found", "does not exist"),
    errno.ENOTDIR: ("not_found", "is not a directory, or leads through something that is not one"),
    errno.ENAMETOOLONG: ("invalid_path", "is too long"),
    errno.EACCES: ("not_permitted", "cannot be accessed: permission denied"),
    errno.EPERM: ("not_permitted", "cannot be accessed: permission denied"),
    errno.EROFS: ("not_permitted", "cannot be written: the file system is read-only"),
    errno.EISDIR: ("not_a_file", "is a directory"),
}


class PathRefused(ToolError):
    """A path does not exist, leads out of the directory, or is not a file."""

    default_code = "invalid_path"
    opaque = True  # one wrong path says nothing about the next


def parts_of(path: str) -> list[str]:
    """The names in ``path``, relative to the directory, with ``.`` and ``..`` resolved.

    Raises:
        PathRefused: It is absolute, leads out, or has a name that is not portable.
    """
    if not path.strip() or _CONTROL.search(path):
        raise PathRefused(f"{shown_path(path)} is not a path: it is empty, or has control characters")
    if path.startswith(("/", "~/")) or path == "~":
        raise PathRefused(f"{shown_path(path)} is absolute; give a path relative to the directory", code="outside")
    if "\\" in path or ":" in path:
        raise PathRefused(rf"{shown_path(path)} has a \ or a colon; put / between names")
    parts: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not parts:
                raise PathRefused(f"{shown_path(path)} leads out of the directory", code="outside")
            parts.pop()
        elif name not in ("", "."):
            _check(name, path)
            parts.append(name)
    return parts


def written_parts_of(path: str) -> list[str]:
    """:func:`parts_of` for a file to write.

    Raises:
        PathRefused: As above, or it is in a protected directory.
    """
    parts = parts_of(path)
    if not parts:
        raise PathRefused(f"{shown_path(path)} is a directory", code="not_a_file")
    for name in parts:
        if name.lower() in PROTECTED:
            raise PathRefused(f"{shown_path(path)}: nothing is written to {name}", code="not_permitted")
    return parts


def _check(name: str, path: str) -> None:
    if name.endswith((".", " ")) or _DEVICE.fullmatch(name):
        raise PathRefused(f"{shown_path(path)}: the name {shown_path(name)} means something else on some systems")


def shown_path(path: str) -> str:
    """``path`` as messages show it: quoted and bounded."""
    return repr(path if len(path) <= 200 else f"{path[:200]}…")


def refusal(error: OSError, path: str) -> PathRefused:
    """Describe ``error`` at ``path`` for a model."""
    code, text = _FAULTS.get(error.errno or 0, ("unusable", f"cannot be used: {error.strerror}"))
    return PathRefused(f"{shown_path(path)} {text}", code=code)
