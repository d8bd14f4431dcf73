"""Decodes the arguments of a tool request, without guessing (behaviour A5)."""

from __future__ import annotations

import json
import math

from react_run.support.display import shown_value


def decode_arguments(raw: object) -> dict[str, object] | str:
    """The arguments in ``raw``, or a sentence that says why there are none (A5).

    ``None``, empty or blank text and ``null`` mean no arguments; one extra layer of JSON encoding is removed; raw
    control characters in strings are accepted. Duplicate keys, NaN, Infinity, numbers that are too large and text that
    is not Unicode are refused, and broken JSON is never repaired.
    """
    if isinstance(raw, bytes | bytearray):
        raw = bytes(raw).decode("utf-8", "replace")
    try:
        if isinstance(raw, str):
            raw = decode_json(raw)
            if isinstance(raw, str):
                raw = _inner(raw)
        if raw is None:
            return {}
        if isinstance(raw, dict):
            return raw
    except NotJson as error:
        return f"the arguments are not valid JSON: {error}"
    except RecursionError:
        return "the arguments are JSON nested too deeply"
    return f"the arguments must be a JSON object, not {shown_value(raw)}"


class NotJson(ValueError):
    """A text is not JSON, or would change its meaning in Python; says why."""


def _inner(text: str) -> object:
    try:
        return decode_json(text)
    except NotJson:
        return text


def decode_json(text: str) -> object:
    """The JSON value in ``text``; ``None`` for blank text.

    Raises:
        NotJson: The text is not JSON, or cannot be represented exactly.
        RecursionError: It is nested too deeply.
    """
    if not text or text.isspace():
        return None
    try:
        value: object = _DECODER.decode(text)
        if not text.isascii() or "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except UnicodeEncodeError:
        raise NotJson("it contains half of a surrogate pair, which is not a character") from None
    except ValueError as error:
        raise error if isinstance(error, NotJson) else NotJson("a number has too many digits") from None
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise NotJson(f"the key {shown_value(twice)} appears twice")
    return mapping


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotJson(f"the number {text[:40]} is too large")
    return number


def _constant(name: str) -> object:
    raise NotJson(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant)
