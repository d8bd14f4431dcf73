"""Looking after processes."""

from __future__ import annotations

import time

import psutil


def ends(pid: int) -> bool:
    """Whether the process is gone, or goes within some seconds; a zombie that its parent has yet to collect is gone."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
    return False


def command_ends(*command: str) -> bool:
    """Whether no process runs ``command``, or none does within some seconds: confined ones have their own numbers."""
    deadline = time.monotonic() + 30
    while any(process.info["cmdline"] == list(command) for process in psutil.process_iter(["cmdline"])):
        if time.monotonic() > deadline:
            return False
    return True
