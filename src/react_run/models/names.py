"""Tool names as providers accept them: letters, digits, ``_`` and ``-``, at most 64 (behaviour H4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

_LONGEST = 64
_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_INVALID = re.compile(r"[^A-Za-z0-9_-]+")


@lru_cache(maxsize=4096)
def wire_name(name: str) -> str:
    """The name a provider is told for ``name``: itself when valid, else its valid characters and a digest of it.

    It depends on nothing else, so a name in the history stays what it was when the tool list grows.
    """
    if _VALID.match(name):
        return name
    digest = sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    stem = _INVALID.sub("_", name).strip("_")[: _LONGEST - len(digest) - 1]
    return f"{stem or 'tool'}_{digest}"


def own_names(names: Iterable[str]) -> dict[str, str]:
    """Our names by their wire names, for those that differ."""
    return {wire: name for name in names if (wire := wire_name(name)) != name}
