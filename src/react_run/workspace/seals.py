"""Seals: files that a run may not change, because a check depends on them (behaviour G3)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from react_run.errors import ConfigError
from react_run.support.files import Entry, Folder, PathRefused

CACHES = frozenset(("__pycache__", ".git", ".react-run", ".pytest_cache", ".mypy_cache", ".ruff_cache"))
"""Directories that programs write to on their own: sealing them would break every seal."""


def digests(folder: Folder, patterns: Iterable[str]) -> dict[str, str]:
    """The digest of each file that matches ``patterns``, by path.

    Raises:
        ConfigError: A pattern matches no file (the seal would protect nothing), or is not allowed.
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        try:
            named = _digests(folder, pattern)
        except PathRefused as error:
            raise ConfigError(f"sealed: {error}") from error
        if not named:
            raise ConfigError(f"sealed: there is no file {pattern!r} in {folder.root}")
        found |= named
    return found


def broken(folder: Folder, patterns: Iterable[str], sealed: Mapping[str, str]) -> str:
    """The first file that differs from ``sealed``, and how; nothing if none does."""
    now: dict[str, str] = {}
    for pattern in patterns:
        with suppress(PathRefused):  # a directory in it is gone, and all files with it
            now |= _digests(folder, pattern)
    for path, digest in sorted(sealed.items()):
        if path not in now:
            return f"{path} was removed"
        if now[path] != digest:
            return f"{path} was changed"
    added = sorted(now.keys() - sealed.keys())
    return f"{added[0]} was added" if added else ""


def _digests(folder: Folder, pattern: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in folder.find(pattern, CACHES):
        below = folder.walk(entry.path, CACHES) if entry.kind == "directory" else (entry,)
        found |= {file.path: _digest(folder, file) for file in below}
    return found


def _digest(folder: Folder, entry: Entry) -> str:
    """A digest of the content; anything other than a readable file is identified by its type."""
    if entry.kind != "file":
        return entry.kind
    digest = hashlib.sha256()
    try:
        with os.fdopen(folder.open(entry.path), "rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except PathRefused as error:
        return error.code
    return digest.hexdigest()
