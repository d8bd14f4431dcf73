"""Reads the descriptions of a function and its parameters from its docstring."""

from __future__ import annotations

import re

_SECTION = re.compile(
    r"^[ \t]*+(?:(?:Args|Arguments|Parameters|Params|Other Parameters|Returns?|Raises|Yields?)[ \t]*+:?[ \t]*+$"
    r"|[:@](?:param|returns?|raises|type|rtype)\b)",
    re.MULTILINE,
)
_FIELD = re.compile(r"^[ \t]*([:@])param\b", re.MULTILINE)
_NUMPY = re.compile(r"^[ \t]*\w[\w ]*\n[ \t]*-{3,}[ \t]*$", re.MULTILINE)


def description_in(text: str) -> str:
    """The text before the first section about parameters, results or errors (Google, NumPy and reST styles)."""
    section = _SECTION.search(text)
    return (text[: section.start()] if section else text).strip()


def parameters_in(text: str) -> dict[str, str]:
    """The description of each parameter, on one line; empty if there is no such section."""
    if not _SECTION.search(text):
        return {}
    from docstring_parser import DocstringStyle, ParseError, parse

    style = DocstringStyle.NUMPYDOC if _NUMPY.search(text) else DocstringStyle.GOOGLE
    if field := _FIELD.search(text):
        style = DocstringStyle.REST if field[1] == ":" else DocstringStyle.EPYDOC
    try:
        parsed = parse(text, style=style)
    except ParseError:
        return {}
    documented = {param.arg_name.lstrip("*"): " ".join((param.description or "").split()) for param in parsed.params}
    return {name: description for name, description in documented.items() if description}
