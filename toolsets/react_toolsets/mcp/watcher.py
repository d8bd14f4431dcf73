"""Ends the servers of a process that has ended without doing so: it was killed, or left without waiting.

A program of its own with the standard library only, because nothing of a killed process can do this. It reads the marks
of servers from its input, one per line; the input ends with the process, and then it ends all that carries one (Linux).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection

MARK = "REACT_RUN_MCP_SERVER"
"""The variable that a server and all its children inherit; its value is different for every start of a server."""
GRACE, STEP = 0.5, 0.02
"""Seconds between being asked to end and being made to, and between two looks."""


def carriers(marks: Collection[str]) -> list[int]:
    """The processes with one of ``marks``, without this one; none where there is no ``/proc``."""
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
    """Send a signal to all of them that are still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def main() -> None:
    """Wait for the end of the input, and end what is left."""
    if os.fork():
        os._exit(0)  # so that this is nobody's child, and nobody has to wait for it
    marks = {line.strip() for line in sys.stdin}
    send(carriers(marks), signal.SIGTERM)
    until = time.monotonic() + GRACE
    while carriers(marks) and time.monotonic() < until:
        time.sleep(STEP)
    send(carriers(marks), signal.SIGKILL)


if __name__ == "__main__":
    main()
