"""Parses ``Retry-After``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait before the next request; ``None`` if the server gives none, or an invalid value.

    Args:
        headers: The headers of a response, with names in lower case or a case-insensitive mapping. ``retry-after-ms``
            comes first; ``retry-after`` is a number of seconds or a date (RFC 9110).
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _seconds(value)
    return seconds if seconds is not None or not value else _until(value)


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(date)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # not a date, or out of range
        return None
