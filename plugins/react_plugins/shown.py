"""Text for people: short, on one line, and with nothing in it that steers a terminal."""

from __future__ import annotations

import json

from react_run import Run
from react_run.support import printable

_MARGIN = 16_384
"""Characters beyond those shown that are looked at, so that no secret is cut before it is masked."""


def head(run: Run, text: str, limit: int) -> str:
    """The first ``limit`` characters of ``text``, secrets masked, and how many there are in all when that is more."""
    masked = run.agent.config.masker.mask(text[: limit + _MARGIN])
    if len(masked) <= limit and len(text) <= limit + _MARGIN:
        return masked
    return f"{masked[:limit]}… ({len(text)} characters)"


def one_line(run: Run, text: str, limit: int) -> str:
    """The first ``limit`` characters of ``text`` on one line, secrets masked and control characters made visible."""
    masked = run.agent.config.masker.mask(text[: limit + _MARGIN])
    line = printable(" ".join(masked.split()), keep="", strict=True)
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def value_as_json(value: object) -> str:
    """``value`` as JSON in one line; what has no JSON form is shown as its text."""
    return json.dumps(value, ensure_ascii=False, default=str)
