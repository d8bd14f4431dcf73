"""Encodes a record as one line of UTF-8 JSON, without secrets (behaviour J2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json as fast_parse
from pydantic_core import to_json as fast_json

from react_run.journal.values import Record
from react_run.support.jsonable import to_jsonable

if TYPE_CHECKING:
    from react_run.secrets import Masker

_OURS = frozenset(
    (
        *("type", "version", "run", "parent", "time", "iteration", "call", "position", "attempt", "keep", "seconds"),
        *(
            "usage",
            "spent",
            "digest",
            "role",
            "disposition",
            "status",
            "executed",
            "opaque",
            "denied",
            "unknown",
            "of_call",
            "structured",
            "success",
        ),
        *("stop_reason", "response", "result_of"),
    )
)
"""Fields whose values never come from outside: masking could only damage the record."""
_FREE = frozenset(
    (
        *("arguments", "content", "extra", "settings", "tool_choice", "values", "options", "parameters", "value"),
        *("disclosure", "metadata"),
    )
)
"""Fields in which keys may be secret, too."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_encode_ascii = json.JSONEncoder(separators=(",", ":")).encode


def encoded(record: Record, masker: Masker) -> tuple[Record, str]:
    """The record with secrets masked, and its JSON text."""
    try:  # inlined from to_json(): this runs for every record and every message
        text = fast_json(record, inf_nan_mode="strings").decode()
    except ValueError:
        text = _carefully(record)
    if masker.is_clean(text):
        return record, text
    record = {key: _masked(key, to_jsonable(value), masker) for key, value in record.items()}
    return record, to_json(record)


def to_json(value: object) -> str:
    """``value`` as compact JSON; values without a JSON form become text."""
    try:
        return fast_json(value, inf_nan_mode="strings").decode()
    except ValueError:  # lone surrogates, deep nesting, cycles, values set by plugins
        return _carefully(value)


def _carefully(value: object) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        return _encode(to_jsonable(value))


def from_json(text: str | bytes) -> Any:
    """Parse a JSON text like ``json.loads()``, but twice as fast.

    Raises:
        ValueError: The text is not valid JSON.
        RecursionError: The text is nested too deeply.
    """
    try:
        return fast_parse(text)
    except (TypeError, ValueError):  # may be a lone surrogate or deep nesting, which json.loads() accepts
        return json.loads(text)


def as_bytes(text: str) -> bytes:
    """Encode a JSON text as UTF-8, with lone surrogates as JSON escapes, so that they survive."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _encode_ascii(json.loads(text)).encode()


def _masked(key: str, value: object, masker: Masker) -> object:
    if key in _OURS:
        return value
    if key in _FREE:
        return masker.mask_data(value)
    if isinstance(value, dict):
        return {name: _masked(name, item, masker) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(key, item, masker) for item in value]
    return masker.mask_data(value)
