"""Makes options strict about numbers and flags: ``true`` is not a number, and quoted text is neither."""

from __future__ import annotations

from typing import cast

from pydantic_core import CoreSchema

_STRICT = ("int", "float", "bool")
_NOT_SCHEMAS = ("default", "metadata", "serialization", "expected")


def strict_scalars(schema: CoreSchema) -> CoreSchema:
    """Make every int, float and bool in ``schema`` strict, unless it specifies otherwise itself."""
    return cast("CoreSchema", _strict(schema))


def _strict(part: object) -> object:
    if isinstance(part, list):
        return [_strict(item) for item in part]
    if isinstance(part, tuple):
        return tuple(_strict(item) for item in part)
    if not isinstance(part, dict):
        return part
    made = {key: value if key in _NOT_SCHEMAS else _strict(value) for key, value in part.items()}
    if made.get("type") in _STRICT:
        made.setdefault("strict", True)
    return made
