"""Whether a tool is read-only. A server's claim to that effect counts only if the agent file trusts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any


def read_only(
    name: str, hints: Mapping[str, Any], *, declared: Sequence[str], changing: Sequence[str], trusted: bool
) -> bool | None:
    """Whether a tool changes nothing; ``None`` if no trusted source says so.

    Args:
        name: The server's name for the tool.
        hints: The server's claims.
        declared: Globs of the file for tools that change nothing.
        changing: Globs of the file for tools that change something.
        trusted: Whether the file trusts the server's claims.
    """
    if matches(name, changing):
        return False
    if matches(name, declared):
        return True
    if hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True:
        return False
    return True if trusted and hints.get("readOnlyHint") is True else None


def matches(name: str, globs: Sequence[str]) -> bool:
    """Whether one of ``globs`` matches ``name``."""
    return any(fnmatchcase(name, glob) for glob in globs)
