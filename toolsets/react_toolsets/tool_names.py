"""Names of tools: servers may use any text, providers accept letters, digits, ``_`` and ``-``, at most 64."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

LONGEST = 64
_DIGITS = 8
RESERVED = ("activate_tool_skill",)
"""Names that the runtime keeps for itself."""


def tool_names(theirs: Iterable[str], prefix: str) -> dict[str, str]:
    """Our name for each of their names: stable, distinct, and as close as can be."""
    plain = {name: re.sub(r"[^A-Za-z0-9_-]", "_", f"{prefix}{name}") for name in theirs}
    taken = [*plain.values(), *RESERVED]
    return {
        name: ours if len(ours) <= LONGEST and taken.count(ours) == 1 else _hashed(ours, name)
        for name, ours in plain.items()
    }


def _hashed(ours: str, name: str) -> str:
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{ours[: LONGEST - _DIGITS - 1]}_{digest}"
