"""Text for people: short, on one line, and safe for terminals."""

from __future__ import annotations

import json

from react_run import Run
from react_run.support import printable

_MARGIN = 16_384
"""How many more characters are masked than shown, so that no secret is cut before it is masked."""


def head(run: Run, text: str, limit: int) -> str:
    """The first ``limit`` characters of ``text`` with secrets masked, and the total number if there are more."""
    masked = run.agent.config.masker.mask(text[: limit + _MARGIN])
    if len(masked) <= limit and len(text) <= limit + _MARGIN:
        return masked
    return f"{masked[:limit]}… ({len(text)} characters)"


def one_line(run: Run, text: str, limit: int) -> str:
    """The first ``limit`` characters of ``text`` on one line, with secrets masked and control characters visible."""
    masked = run.agent.config.masker.mask(text[: limit + _MARGIN])
    line = printable(" ".join(masked.split()), keep="", strict=True)
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def value_as_json(value: object) -> str:
    """``value`` as JSON on one line; values without a JSON form become text."""
    return json.dumps(value, ensure_ascii=False, default=str)
