"""Looking after processes."""

from __future__ import annotations

import time

import psutil


def ends(pid: int) -> bool:
    """Whether the process is gone, or goes within some seconds; a zombie that its parent has yet to collect is gone."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
    return False
