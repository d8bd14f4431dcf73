"""Values as short, safe, one-line text."""

from __future__ import annotations

import json

from react_run.support.render import escape

Path = tuple[str | int, ...]
"""The path of something inside a JSON value: keys and indices."""


def shown_value(value: object, limit: int = 60) -> str:
    """``value`` as JSON on one line, at most about ``limit`` characters of it, safe to print and to send."""
    if isinstance(value, str) and len(value) > limit:
        return f"{_json(value[:limit])}… ({len(value)} characters)"
    text = _json(value)
    return text if isinstance(value, str) or len(text) <= limit else f"{text[:limit]}…"


def _json(value: object) -> str:
    try:
        return escape(json.dumps(value, ensure_ascii=False))
    except Exception:  # not JSON: the value came from code, and a foreign __repr__ may raise anything
        return f"a {type(value).__name__}"


def error_text(error: BaseException) -> str:
    """The text of an exception; foreign exceptions may fail even at that."""
    try:
        return str(error)
    except Exception:
        return "(no message)"


def dotted(path: Path) -> str:
    """``("a", 0, "b")`` as ``a[0].b``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def usd(cost: float) -> str:
    """Format US dollars; an amount too small to show is not shown as zero."""
    return "<$0.0001" if 0 < cost < 0.0001 else f"${cost:.4f}"
