"""Has another thread do something in the middle of what a lock protects."""

from __future__ import annotations

import threading
from collections.abc import Callable

LONG_ENOUGH = 0.2
"""Seconds in which another thread gets done what no lock keeps it from; with the lock it never does."""


def meanwhile(work: Callable[[], object]) -> threading.Thread:
    """Start ``work`` in a thread, and go on once it is done or had its time: it may wait for a lock that we hold."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONG_ENOUGH)
    return thread
