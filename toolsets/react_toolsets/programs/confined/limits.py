"""What a command may use of the machine."""

from __future__ import annotations

import os
import sys

if sys.platform != "win32":  # looked at when a tool is built, on any system; applied on Linux alone
    import resource


def apply(*, processes: int, memory: int, file_size: int, cpu_seconds: int) -> None:
    """Limit this process and those that it starts, for good.

    Args:
        processes: How many more there may be than there are; 0 leaves that as it is. Nobody counts those of root.
        memory: Bytes for the data of one process.
        file_size: Bytes of one file.
        cpu_seconds: Seconds that one process may compute.
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
    """How many threads the user has: the kernel counts these, whoever started them."""
    threads = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == os.geteuid():
                threads += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended meanwhile
    return threads
