"""Marks agents that are built only for inspection, by ``check``, ``explain`` and the like, which start nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_looking = ContextVar("react_run_looking", default=False)


def only_looking() -> bool:
    """Whether objects built now are only for inspection.

    A toolset that would have to start or call something to list its tools then does not do so, and offers the tools
    it knows.
    """
    return _looking.get()


@contextmanager
def looking() -> Iterator[None]:
    """Build agents for inspection within this block."""
    token = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(token)
