"""Progress of tools: reported from any thread, delivered on the event-loop thread, and rate-limited."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from time import perf_counter

EVERY = 0.05
"""Minimum seconds between two delivered reports of one call; an earlier one is delivered only if it is the last."""

Report = tuple[float | None, float | None, str]


class Reports:
    """The latest report of one call that was not delivered yet.

    Args:
        send: Called with each report to deliver.
    """

    def __init__(self, send: Callable[[Report], None]) -> None:
        self._send = send
        self._heard_at = -EVERY
        self._latest: Report | None = None

    def add(self, report: Report) -> None:
        """Accept a report, and send it unless one was sent just before."""
        self._latest = report
        now = perf_counter()
        if now - self._heard_at >= EVERY:
            self._heard_at = now
            self.flush()

    def flush(self) -> None:
        """Send the latest report, if it has not been sent."""
        report, self._latest = self._latest, None
        if report is not None:
            self._send(report)


def checked(done: float | None, total: float | None, message: str) -> Report:
    """Validate a report.

    Raises:
        TypeError: ``done`` or ``total`` is not a number, or ``message`` is not text.
        ValueError: A number is not finite, or negative.
    """
    for name, value in (("done", done), ("total", total)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} must be a number, not {type(value).__name__}")
        if not isfinite(value) or value < 0:
            raise ValueError(f"{name} must be a finite number from 0 up, not {value!r}")
    if not isinstance(message, str):
        raise TypeError(f"message must be text, not {type(message).__name__}")
    return done, total, message
