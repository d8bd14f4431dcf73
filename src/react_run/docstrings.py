"""What a docstring says of a function and of each of its parameters."""

from __future__ import annotations

import re

_SECTION = re.compile(
    r"(?m)^[ \t]*(?:(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields?)[ \t]*:?[ \t]*$|[:@](?:param|returns?|raises)\b)"
)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description in a docstring, and what it says of each parameter (Google, NumPy and reST styles)."""
    if not _SECTION.search(text):
        return text.strip(), {}
    import docstring_parser

    try:
        parsed = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return text.strip(), {}
    examples = [example.description for example in parsed.examples if example.description]
    description = "\n\n".join([parsed.description or "", *examples]).strip()
    documented = {param.arg_name.lstrip("*"): " ".join((param.description or "").split()) for param in parsed.params}
    return description, {name: doc for name, doc in documented.items() if doc}
