"""Ends processes that a server left behind, and servers that this process would leave behind (Linux)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import anyio
import anyio.to_thread

from react_toolsets.mcp import watcher
from react_toolsets.mcp.watcher import GRACE, MARK, STEP, carriers, send

__all__ = ["MARK", "end_stragglers", "watch"]
_starting = threading.Lock()
_watchers: dict[int, int] = {}
"""The pipe to the watcher, by process id: a forked process has its own watcher."""


async def end_stragglers(value: str) -> None:
    """End every process that carries ``value``, even if the caller is cancelled."""
    if not os.path.exists("/proc/self/environ"):  # noqa: ASYNC240  # without /proc, the carriers are unknown
        return
    with anyio.CancelScope(shield=True):
        send(carriers([value]), signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            while carriers([value]):  # noqa: ASYNC110  # there is no event for their end
                await anyio.sleep(STEP)
        send(carriers([value]), signal.SIGKILL)


async def watch(value: str) -> None:
    """Make the watcher end every process that carries ``value`` when this process ends for any reason."""
    if os.path.exists("/proc/self/environ"):  # noqa: ASYNC240  # does not block
        await anyio.to_thread.run_sync(_watch, value)


def _watch(value: str) -> None:
    with _starting, suppress(OSError):  # without a watcher, servers should still end by themselves
        pid = os.getpid()
        if pid not in _watchers:
            _watchers[pid] = _started()
        os.write(_watchers[pid], f"{value}\n".encode())


def _started() -> int:
    reading, writing = os.pipe()
    try:
        subprocess.run(
            [sys.executable, "-I", "-S", watcher.__file__],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
            check=False,
        )
    finally:
        os.close(reading)
    return writing
