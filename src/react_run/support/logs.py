"""Logs failures with secrets masked (behaviour J2)."""

from __future__ import annotations

from collections.abc import Callable
from logging import Logger
from traceback import format_exception


def log_failure(logger: Logger, level: int, what: str, error: BaseException, mask: Callable[[str], str]) -> None:
    """Log ``what`` failed and the traceback of ``error``, masked by ``mask``; formatted only if a handler needs it."""
    if logger.isEnabledFor(level):
        logger.log(level, "%s", mask(f"{what}\n{''.join(format_exception(error)).rstrip()}"), stacklevel=2)
