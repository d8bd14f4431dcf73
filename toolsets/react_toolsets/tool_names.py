"""Converts names of tools: servers use any text, providers accept at most 64 letters, digits, ``_`` and ``-``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

LONGEST = 64
_DIGITS = 8
RESERVED = ("activate_tool_skill",)
"""Names that the runtime reserves."""


def tool_names(theirs: Iterable[str], prefix: str) -> dict[str, str]:
    """Our name for each of ``theirs``: stable, unique, and as similar as possible."""
    plain = {name: re.sub(r"[^A-Za-z0-9_-]", "_", f"{prefix}{name}") for name in theirs}
    taken = [*plain.values(), *RESERVED]
    return {
        name: ours if len(ours) <= LONGEST and taken.count(ours) == 1 else _hashed(ours, name)
        for name, ours in plain.items()
    }


def _hashed(ours: str, name: str) -> str:
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{ours[: LONGEST - _DIGITS - 1]}_{digest}"
