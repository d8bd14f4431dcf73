"""Serialises values into a request in the styles of the OpenAPI specification (3.1.1, "Style Values")."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

Pairs = list[tuple[str, str]]
_RESERVED = ":/?@!$'()*,;"
"""Reserved characters without a special meaning in a query."""
_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def in_path(name: str, value: object, style: str, *, explode: bool) -> str:
    """The text that replaces ``{name}`` in the path."""
    if style == "simple":
        return ",".join(_members(value, explode=explode, written=quoted))
    if style == "label":
        return "." + (("." if explode else ",").join(_members(value, explode=explode, written=quoted)))
    key = quoted(name)
    if explode and isinstance(value, Mapping):
        return "".join(f";{member}" for member in _members(value, explode=True, written=quoted))
    if explode and isinstance(value, list):
        return "".join(f";{key}={quoted(text_of(item))}" for item in value)
    written = ",".join(_members(value, explode=False, written=quoted))
    return f";{key}={written}" if written else f";{key}"


def in_query(name: str, value: object, style: str, *, explode: bool, reserved: bool = False) -> Iterator[str]:
    """The encoded query parts for the parameter ``name``."""

    def written(text: str) -> str:
        return quote(text, safe=_RESERVED if reserved else "", errors="replace")

    key = quoted(name)
    if style == "deepObject" and isinstance(value, (Mapping, list)):
        for inner, text in _deep(name, value):
            yield f"{quoted(inner)}={written(text)}"
    elif explode and isinstance(value, list):
        yield from (f"{key}={written(text_of(item))}" for item in value)
    elif explode and isinstance(value, Mapping):
        yield from (f"{quoted(member)}={written(text_of(item))}" for member, item in value.items())
    else:
        yield f"{key}={_DELIMITERS.get(style, ',').join(_members(value, explode=False, written=written))}"


def in_header(value: object, *, explode: bool) -> str:
    """The value of a header."""
    return ",".join(_members(value, explode=explode, written=lambda text: text))


def in_cookie(name: str, value: object, *, explode: bool) -> str:
    """The part of the cookie header for the parameter ``name``."""
    return "; ".join(in_query(name, value, "form", explode=explode))


def form_fields(values: Mapping[str, object], encoding: Mapping[str, object]) -> Pairs:
    """The fields of a form, serialised as ``encoding`` says; objects without an encoding as JSON."""
    fields: Pairs = []
    for name, value in values.items():
        how = encoding.get(name)
        style = how.get("style") if isinstance(how, Mapping) else None
        if style == "deepObject" and isinstance(value, (Mapping, list)):
            fields += _deep(name, value)
        elif isinstance(value, list) and not (isinstance(how, Mapping) and how.get("explode") is False):
            fields += [(name, text_of(item)) for item in value]
        elif isinstance(value, list):
            fields.append((name, ",".join(map(text_of, value))))
        else:
            fields.append((name, text_of(value)))
    return fields


def _deep(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Nested objects as most servers read them: ``a[b][c]=1``; the specification defines only one level."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _deep(f"{name}[{key}]", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _deep(f"{name}[{index}]", item)
    else:
        yield name, text_of(value)


def _members(value: object, *, explode: bool, written: Callable[[str], str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if explode:
                yield f"{written(str(key))}={written(text_of(item))}"
            else:
                yield written(str(key))
                yield written(text_of(item))
    elif isinstance(value, list):
        yield from (written(text_of(item)) for item in value)
    else:
        yield written(text_of(value))


def quoted(text: str) -> str:
    """``text`` percent-encoded, except for letters, digits and ``-._~``."""
    return quote(text, safe="", errors="replace")


def text_of(value: object) -> str:
    """``value`` as text: text unchanged, null as empty text, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
