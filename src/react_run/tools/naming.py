"""Converts names of tools and parameters to names that every provider accepts (behaviour H4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from unicodedata import normalize

LONGEST = 64
"""Maximum length of a name."""

TOOL_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")
_PROPERTY = re.compile(rf"[A-Za-z0-9_.-]{{1,{LONGEST}}}")
_DIGEST = 8


def valid_tool_name(name: str) -> str:
    """``name`` if providers accept it, else a name derived from it; ``""`` if it has neither letter nor digit."""
    return name if TOOL_NAME.fullmatch(name) else _plain(name.replace(".", "_"))


def property_names(names: Iterable[str]) -> Mapping[str, str]:
    """The name to send for each property of an object; valid names stay."""
    sent = {name: name for name in names if _PROPERTY.fullmatch(name)}
    taken = set(sent)
    for name in names:
        if name not in sent:
            base = candidate = _plain(name) or "field"
            number = 1
            while candidate in taken:
                number += 1
                candidate = f"{base[: LONGEST - 4]}_{number}"
            taken.add(candidate)
            sent[name] = candidate
    return sent


def is_property_name(name: str) -> bool:
    """Whether every provider accepts ``name`` for a property."""
    return _PROPERTY.fullmatch(name) is not None


def _plain(name: str) -> str:
    """Letters without accents, digits and underscores; a long name ends in a digest of the whole."""
    folded = normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", folded).strip("_")
    if not plain and any(map(str.isalnum, name)):
        plain = sha256(name.encode("utf-8", "replace")).hexdigest()[:_DIGEST]  # another script
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - _DIGEST - 1]}_{sha256(name.encode('utf-8', 'replace')).hexdigest()[:_DIGEST]}"
