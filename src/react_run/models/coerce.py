"""Checked access to values from a provider: the right type, or its neutral element (behaviour H1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from react_run.messages import encodable

_LONGEST_ID = 128
_EMPTY: Mapping[str, object] = {}


def as_mapping(value: object) -> Mapping[str, object]:
    """``value`` when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def as_list(value: object) -> Sequence[object]:
    """``value`` when it is a JSON array, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def as_mappings(value: object) -> list[Mapping[str, object]]:
    """The objects of a JSON array; a single object counts as an array of one, anything else is left out."""
    return [item for item in (as_list(value) or (value,)) if isinstance(item, dict)]


def as_text(value: object) -> str:
    """``value`` when it is text, without lone surrogates, else ``""``."""
    return encodable(value) if isinstance(value, str) else ""


def as_number(value: object) -> float | None:
    """``value`` if it is a finite number (not a bool), else ``None``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def as_count(value: object) -> int | None:
    """``value`` as a whole number; ``None`` if it is not a number, or negative (H3)."""
    amount = as_number(value)
    return None if amount is None or amount < 0 else int(amount)


def as_index(value: object) -> int | None:
    """``value`` if it can be an array index, else ``None``."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def as_identifier(value: object) -> str:
    """``value`` as an id: printable text without white space, at most 128 characters; ``""`` if it is not valid."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if -(10**18) < value < 10**18 else ""
    if not isinstance(value, str) or len(value) > _LONGEST_ID or not value.isprintable() or " " in value:
        return ""
    return value


def first_text(values: Iterable[object]) -> str:
    """The first of ``values`` that is non-empty text."""
    return next((found for value in values if (found := as_text(value).strip())), "")
