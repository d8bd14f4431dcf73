"""A record as one line of UTF-8 JSON, without secrets (behaviour J2)."""

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
"""Fields whose values are never text from outside: masking them could only destroy the record."""
_FREE = frozenset(
    (
        *("arguments", "content", "extra", "settings", "tool_choice", "values", "options", "parameters", "value"),
        *("disclosure", "metadata"),
    )
)
"""Fields below which keys may be secret, too."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_encode_ascii = json.JSONEncoder(separators=(",", ":")).encode


def encoded(record: Record, masker: Masker) -> tuple[Record, str]:
    """The record as it may be kept, and its JSON text."""
    try:  # as in to_json(): this is done for every record, and for every message
        text = fast_json(record, inf_nan_mode="strings").decode()
    except ValueError:
        text = _carefully(record)
    if masker.is_clean(text):
        return record, text
    record = {key: _masked(key, to_jsonable(value), masker) for key, value in record.items()}
    return record, to_json(record)


def to_json(value: object) -> str:
    """``value`` as compact JSON; what has no JSON form is shown as text."""
    try:
        return fast_json(value, inf_nan_mode="strings").decode()
    except ValueError:  # halves of surrogate pairs, depth, cycles, values that plugins put there
        return _carefully(value)


def _carefully(value: object) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        return _encode(to_jsonable(value))


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text, as ``json.loads()`` reads it, in half its time.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deeply.
    """
    try:
        return fast_parse(text)
    except (TypeError, ValueError):  # also halves of surrogate pairs, and what is nested deeply
        return json.loads(text)


def as_bytes(text: str) -> bytes:
    """A JSON text in UTF-8; halves of surrogate pairs as JSON escapes, so that they survive."""
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
