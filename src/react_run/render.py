"""What a tool returned, as the text a model reads (behaviour T3)."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def escape(text: str) -> str:
    """``text`` with control characters shown as ``\\x1b`` and halves of surrogate pairs replaced."""
    return _UNSAFE.sub(lambda found: "\ufffd" if found[0] >= "\ud800" else f"\\x{ord(found[0]):02x}", text)


def render(result: object) -> str:
    """``result`` as text."""
    if result is None:
        return "(no output)"
    if isinstance(result, str):
        return escape(result)
    import pydantic_core

    return escape(pydantic_core.to_json(result, fallback=str).decode())
