"""Names matched by glob patterns, as in ``web_*``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TypeVar

T = TypeVar("T")


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of ``patterns`` matches ``name``; case-sensitive."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def first_match(name: str, table: Mapping[str, T]) -> T | None:
    """The value of the first pattern in ``table`` that matches ``name``."""
    return next((value for pattern, value in table.items() if fnmatchcase(name, pattern)), None)
