"""Renders the return value of a tool as text for the model (behaviour T3)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from react_run.support.jsonable import bytes_as_text, is_bytes, to_jsonable, to_jsonable_shallow

NO_OUTPUT = "(no output)"
"""The placeholder for an empty result, because some providers refuse empty text."""

_JSON_TYPES = (dict, list, tuple, int, float)
_CONTROLS = [*range(9), *range(11, 32), *range(127, 160)]
_HALVES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_ESCAPES = {code: f"\\x{code:02x}" for code in _CONTROLS} | _HALVES
_JSON_ESCAPES = {code: f"\\u{code:04x}" for code in _CONTROLS} | _HALVES
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ASCII_MARKED = bytes(0x3F if code in _CONTROLS else code for code in range(256))

_PLAIN = 1 << 64


def render(result: object) -> str:
    """Return ``result`` as text; never raises an ``Exception``, whatever the value does.

    Text stays unchanged except for :func:`escape` and Windows line ends, which become ``\\n``. Values whose JSON form
    is text (dates, decimals, paths, enums, …) are shown as that text, all others as JSON; bytes as text if possible,
    else as a note of their kind and size.
    """
    try:
        return _rendered(result)
    except Exception as error:  # foreign code in a value may raise anything
        return f"(a {type(result).__name__} that cannot be shown: {type(error).__name__})"


def escape(text: str) -> str:
    """Escape control characters except newline and tab, and replace lone surrogates."""
    return _escaped(text, _ESCAPES)


def _rendered(result: object) -> str:
    if result is None:
        return NO_OUTPUT
    if type(result) is int and -_PLAIN < result < _PLAIN:  # an encoder would take several times as long
        return str(result)
    if is_bytes(result):
        result = bytes_as_text(result)
    elif not isinstance(result, (str, *_JSON_TYPES)):
        result = to_jsonable_shallow(result)
    if isinstance(result, str):
        return _text(str.__str__(result))
    return _escaped(_json(result), _JSON_ESCAPES)


def _text(text: str) -> str:
    if not text or text.isspace():
        return NO_OUTPUT
    return escape(text.replace("\r\n", "\n") if "\r" in text else text)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=to_jsonable_shallow)
    except Exception:  # cycles, depth, keys that are not text, NaN, or foreign code: convert it carefully
        return json.dumps(to_jsonable(value), ensure_ascii=False)


def _escaped(text: str, escapes: Mapping[int, str]) -> str:
    # For ASCII, translating bytes and text is several times faster than the pattern.
    if text.isascii():
        data = text.encode()
        return text if data.translate(_ASCII_MARKED) == data else text.translate(escapes)
    return _UNSAFE.sub(lambda found: escapes[ord(found[0])], text) if _UNSAFE.search(text) else text
