"""Ends the servers of a process that could not do so itself, because it was killed or exited at once.

A separate program that uses only the standard library. It reads the marks of servers from its input, one per line. The
input ends when the process does; then it ends all processes that carry one of the marks (Linux).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection

MARK = "REACT_RUN_MCP_SERVER"
"""The variable that a server and its child processes inherit; its value differs for every start of a server."""
GRACE, STEP = 0.5, 0.02
"""Seconds between SIGTERM and SIGKILL, and between two checks."""


def carriers(marks: Collection[str]) -> list[int]:
    """The ids of other processes with one of ``marks``; empty without ``/proc``."""
    wanted = {f"{MARK}={mark}".encode() for mark in marks}
    found = []
    for pid in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read()
            except OSError:
                continue
            if not wanted.isdisjoint(environment.split(b"\0")):
                found.append(int(pid))
    return found


def send(pids: Collection[int], number: signal.Signals) -> None:
    """Send a signal to those of ``pids`` that still exist."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def main() -> None:
    """Wait for the end of the input, and end the processes that are left."""
    if os.fork():
        os._exit(0)  # detach, so that no process has to wait for this one
    marks = {line.strip() for line in sys.stdin}
    send(carriers(marks), signal.SIGTERM)
    until = time.monotonic() + GRACE
    while carriers(marks) and time.monotonic() < until:
        time.sleep(STEP)
    send(carriers(marks), signal.SIGKILL)


if __name__ == "__main__":
    main()
