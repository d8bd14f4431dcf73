"""Processes that a server has started and left behind, and servers that this process might leave behind (Linux)."""

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
"""The pipe to the watcher of each process: forked ones have one of their own."""


async def end_stragglers(value: str) -> None:
    """End everything that carries ``value``, whoever waits for this being cancelled or not."""
    if not os.path.exists("/proc/self/environ"):  # noqa: ASYNC240  # nobody tells who carries it
        return
    with anyio.CancelScope(shield=True):
        send(carriers([value]), signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            while carriers([value]):  # noqa: ASYNC110  # nothing tells us when they end
                await anyio.sleep(STEP)
        send(carriers([value]), signal.SIGKILL)


async def watch(value: str) -> None:
    """Have everything that carries ``value`` ended when this process ends, in whatever way."""
    if os.path.exists("/proc/self/environ"):  # noqa: ASYNC240  # a file of the kernel
        await anyio.to_thread.run_sync(_watch, value)


def _watch(value: str) -> None:
    with _starting, suppress(OSError):  # without a watcher servers end by themselves, as they ought to
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
