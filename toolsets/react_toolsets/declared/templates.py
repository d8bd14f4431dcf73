"""Templates: ``{name}`` is a placeholder, ``{{`` and ``}}`` are literal braces, other braces are plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches

_PARTS = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}")
_BRACES = {"{{": "{", "}}": "}"}

Values = Mapping[str, object]


def places(text: str) -> Iterator[str]:
    """The names of the placeholders in ``text``."""
    for found in _PARTS.finditer(text):
        if found[1]:
            yield found[1]


def missing_place(text: str, parameters: Iterable[str]) -> str:
    """A message about the first placeholder without a parameter; empty if there is none."""
    known = list(parameters)
    for name in places(text):
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f" Did you mean {{{near[0]}}}?" if near else ""
            listed = ", ".join(known) or "none"
            return f"{{{name}}} has no parameter.{hint} Parameters: {listed}; write {{{{{name}}}}} for literal braces"
    return ""


def filled(text: str, values: Values, written: Callable[[object], str] | None = None) -> str | None:
    """``text`` with its placeholders filled in; ``None`` if a value is missing."""
    if any(name not in values for name in places(text)):
        return None
    write = written or as_text
    return _PARTS.sub(lambda found: write(values[found[1]]) if found[1] else _BRACES[found[0]], text)


def filled_data(data: object, values: Values) -> object:
    """JSON ``data`` with its placeholders filled in; a text that is only a placeholder becomes the value.

    Entries without a value are left out.
    """
    if isinstance(data, str):
        only = _PARTS.fullmatch(data)
        return values.get(only[1]) if only and only[1] else filled(data, values)
    if isinstance(data, Mapping):
        made = {key: filled_data(value, values) for key, value in data.items()}
        return {key: value for key, value in made.items() if value is not None or data[key] is None}
    if isinstance(data, list):
        return [value for value in (filled_data(item, values) for item in data) if value is not None]
    return data


def texts_in(data: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in JSON ``data``, with its location."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from texts_in(value, (*path, str(key)))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from texts_in(value, (*path, index))


def as_text(value: object) -> str:
    """``value`` as text for a template."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
