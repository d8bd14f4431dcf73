"""Applies resource limits to a command."""

from __future__ import annotations

import os
import sys

if sys.platform != "win32":  # imported on any system when a tool is built, but used only on Linux
    import resource


def apply(*, processes: int, memory: int, file_size: int, cpu_seconds: int) -> None:
    """Limit this process and its child processes, irrevocably.

    Args:
        processes: How many more processes there may be; 0 for no limit. The kernel does not count those of root.
        memory: Bytes of data per process.
        file_size: Bytes per file.
        cpu_seconds: CPU seconds per process.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_DATA, memory)
    _lower(resource.RLIMIT_FSIZE, file_size)
    _lower(resource.RLIMIT_CPU, cpu_seconds)
    if processes and os.geteuid():
        _lower(resource.RLIMIT_NPROC, _of_user() + processes)


def _lower(kind: int, to: int) -> None:
    most = resource.getrlimit(kind)[1]
    least = to if most == resource.RLIM_INFINITY else min(to, most)
    resource.setrlimit(kind, (least, least))


def _of_user() -> int:
    """The number of the user's threads, all of which the kernel counts."""
    threads = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == os.geteuid():
                threads += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended
    return threads
