"""What a tool returned, as the text a model reads (behaviour T3)."""

from __future__ import annotations

import json
import re

from react_run.plain import bytes_as_text, converted, is_bytes, plain

NO_OUTPUT = "(no output)"
"""What a result without any text is shown as: some providers refuse an empty one."""

_JSON_TYPES = (dict, list, tuple, int, float)
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ASCII_MARKED = bytes(0x3F if _UNSAFE.match(chr(code)) else code for code in range(256))


def render(result: object) -> str:
    """``result`` as text; never raises an ``Exception``, whatever the value does when it is looked at.

    Text stays as it is but for what :func:`escape` does and Windows line ends, which become ``\\n``. Values whose JSON
    is a text (dates, decimals, paths, enums, …) are shown as that text, all others as JSON; bytes as the text they
    are, else as a note of their kind and size.
    """
    try:
        return _rendered(result)
    except Exception as error:  # whatever foreign code in a value raises
        return f"(a {type(result).__name__} that cannot be shown: {type(error).__name__})"


def escape(text: str) -> str:
    """``text`` with control characters but newline and tab escaped, and halves of surrogate pairs replaced."""
    return text if _is_safe(text) else _UNSAFE.sub(_as_escape, text)


def _rendered(result: object) -> str:
    if result is None:
        return NO_OUTPUT
    if is_bytes(result):
        result = bytes_as_text(result)
    elif not isinstance(result, (str, *_JSON_TYPES)):
        result = converted(result)
    if isinstance(result, str):
        return _text(str.__str__(result))
    text = _json(result)
    return text if _is_safe(text) else _UNSAFE.sub(_as_json_escape, text)


def _text(text: str) -> str:
    if not text or text.isspace():
        return NO_OUTPUT
    return escape(text.replace("\r\n", "\n") if "\r" in text else text)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=converted)
    except Exception:  # cycles, depth, keys that are no text, NaN, or foreign code: go through it carefully
        return json.dumps(plain(value), ensure_ascii=False)


def _is_safe(text: str) -> bool:
    if text.isascii():
        data = text.encode()
        return data.translate(_ASCII_MARKED) == data  # several times faster than the pattern
    return _UNSAFE.search(text) is None


def _as_escape(found: re.Match[str]) -> str:
    return "\ufffd" if found[0] >= "\ud800" else f"\\x{ord(found[0]):02x}"


def _as_json_escape(found: re.Match[str]) -> str:
    return "\ufffd" if found[0] >= "\ud800" else f"\\u{ord(found[0]):04x}"
