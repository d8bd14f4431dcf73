"""Whether an agent is built only to be looked at: by ``check``, ``explain`` and the like, which start nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_looking = ContextVar("react_run_looking", default=False)


def only_looking() -> bool:
    """Whether whatever is built now will only be looked at.

    A toolset that would have to start or ask something to know its tools leaves that alone then, and offers what it
    knows.
    """
    return _looking.get()


@contextmanager
def looking() -> Iterator[None]:
    """Build agents in here only to look at them."""
    token = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(token)
