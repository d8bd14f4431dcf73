"""Keys for arguments: equal calls have equal keys."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping

from react_run.support.jsonable import to_jsonable

_AS_THEY_ARE = frozenset({str, int, float, type(None)})
"""Types whose values are equal when their JSON is; to Python, true and false equal 1 and 0."""
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False, default=repr).encode


def arguments_key(arguments: object) -> str:
    """Encode arguments as text that is equal for equal calls: key order does not matter, and 1 equals 1.0 (behaviour
    F4).
    """
    try:
        text = _encode(arguments)
    except Exception:  # mixed keys, cycles, foreign objects: only a plugin can have put them there
        return _encode(to_jsonable(arguments))
    if ".0" in text or "e" in text:
        return _encode(_whole(json.loads(text)))
    return text


def identity(arguments: Mapping[str, object]) -> Hashable:
    """A value that is equal for equal arguments, like :func:`arguments_key`, but seldom encoded."""
    for value in arguments.values():
        if type(value) not in _AS_THEY_ARE:
            return arguments_key(arguments)
    return frozenset(arguments.items())


def without_defaults(arguments: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    """``arguments`` without those that only repeat a default."""
    return {
        name: value for name, value in arguments.items() if name not in defaults or not _same(value, defaults[name])
    }


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)  # to Python, true is 1


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value
