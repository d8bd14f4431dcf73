"""Converts Python values to JSON values, and encodes them."""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set, ValuesView
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from typing import TypeGuard

from pydantic import BaseModel
from pydantic_core import to_json

MAX_DEPTH = 100
"""Maximum nesting depth."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_STRICT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def is_bytes(value: object) -> TypeGuard[bytes | bytearray | memoryview]:
    """Whether ``value`` is bytes-like."""
    return isinstance(value, bytes | bytearray | memoryview)


def bytes_as_text(value: bytes | bytearray | memoryview) -> str:
    """Convert bytes: text as text, others as a note with kind, size and digest."""
    data = bytes(value)
    kind = next((name for magic, name in _MAGIC if data.startswith(magic)), "")
    if not kind and not _BINARY.search(data):
        return data.decode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()[:16]
    return f"({len(data)} bytes, {kind or 'binary data'}, sha256 {digest}…)"


def to_jsonable_shallow(value: object) -> object:
    """Convert ``value`` to JSON; its parts may still have to be converted."""
    if isinstance(value, BaseModel):
        return _model(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date | time):
        return value.isoformat()
    if is_bytes(value):
        return bytes_as_text(value)
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return _ordered(value)
    if isinstance(value, Sequence | ValuesView | deque) and not isinstance(value, range):
        return list(value)
    if callable(to_list := getattr(value, "tolist", None)) and not isinstance(value, type):
        return to_list()
    return _ADDRESS.sub("", str(value))


def _model(model: BaseModel) -> object:
    try:
        return model.model_dump(mode="json", fallback=to_jsonable_shallow, warnings=False)
    except Exception:  # bytes that are not text, or a serialiser of the tool's author
        return model.model_dump(warnings=False)


def _ordered(values: Set[object]) -> list[object]:
    """The members of a set in a stable order."""
    try:
        return sorted(values)  # type: ignore[type-var]  # when they do not compare, the next line sorts
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(to_jsonable_shallow(value))))


def encode(value: object) -> bytes:
    """``value`` as compact UTF-8 JSON; values that JSON cannot represent become text, lone surrogates ``?``."""
    try:
        return to_json(value, inf_nan_mode="strings")
    except Exception:  # what is below is for the same as this, and more; it takes three times as long
        return _encode_carefully(value)


def _encode_carefully(value: object) -> bytes:
    try:
        text = _STRICT.encode(value)
    except Exception:  # foreign objects and keys, NaN: from a plugin or a custom model
        text = json.dumps(to_jsonable(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def to_jsonable(value: object) -> object:
    """Convert ``value`` to JSON completely: cycles and depth are cut, and errors become text."""
    return _plain(value, ())


def _plain(value: object, above: tuple[int, ...]) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if len(above) >= MAX_DEPTH:
        return "… (nested more deeply)"
    if id(value) in above:
        return "… (contains itself)"
    here = (*above, id(value))
    return _safely(value, lambda: _inside(value, here))


def _inside(value: object, here: tuple[int, ...]) -> object:
    if isinstance(value, int):
        return int(value) if abs(value) < 10**4000 else f"(an integer of {value.bit_length()} bits)"
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, dict):
        return {_key(key): _plain(item, here) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, here) for item in value]
    return _plain(to_jsonable_shallow(value), here)


def _key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    return str(_safely(key, lambda: str(key if isinstance(key, tuple | int | float) else to_jsonable_shallow(key))))


def _safely(value: object, look: Callable[[], object]) -> object:
    try:
        return look()
    except Exception as error:  # foreign code: __str__, __iter__, properties …
        return f"(a {type(value).__name__} that cannot be shown: {type(error).__name__})"
