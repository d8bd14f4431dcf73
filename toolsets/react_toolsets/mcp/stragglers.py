"""Processes that a server has started and left behind: found by a variable that they all inherit (Linux)."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio

MARK = "REACT_RUN_MCP_SERVER"
"""The variable; its value is different for every start of a server."""
GRACE, STEP = 0.5, 0.02
"""Seconds between being asked to end and being made to, and between two looks."""


async def end_stragglers(value: str) -> None:
    """End everything that carries ``value``, whoever waits for this being cancelled or not."""
    with anyio.CancelScope(shield=True):
        _signal(_carriers(value), signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            while _carriers(value):  # noqa: ASYNC110  # nothing tells us when they end
                await anyio.sleep(STEP)
        _signal(_carriers(value), signal.SIGKILL)


def _carriers(value: str) -> list[int]:
    wanted = f"{MARK}={value}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):  # nothing where there is no /proc
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return [pid for pid in found if pid != os.getpid()]


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
