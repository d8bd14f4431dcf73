"""Drops Linux capabilities, the parts of root's rights."""

from __future__ import annotations

import os
import sys

from react_toolsets.programs.confined.kernel import call, control

_DROP, _AMBIENT, _CLEAR_ALL = 24, 47, 4
_LAST = 40
_VERSION_3 = 0x20080522
KEPT = (0, 1, 3, 4)
"""Capabilities that root keeps, for owners and modes of files. With others it could read our own memory."""


def drop() -> None:
    """Drop all capabilities, for this process and programs it executes; root keeps :data:`KEPT`.

    Raises:
        OSError: Root cannot drop them here.
    """
    root = os.geteuid() == 0
    for capability in range(_last() + 1):
        if capability in KEPT:
            continue
        try:
            control(_DROP, capability)
        except OSError:
            if root:
                raise
            break  # other users have none
    control(_AMBIENT, _CLEAR_ALL)
    try:
        _set(sum(1 << capability for capability in KEPT) if root else 0)
    except OSError:
        _set(0)


def _last() -> int:
    """The last capability that this kernel knows."""
    try:
        file = os.open("/proc/sys/kernel/cap_last_cap", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _LAST
    try:
        return int(os.read(file, 16))
    finally:
        os.close(file)


def _set(capabilities: int) -> None:
    lower = capabilities.to_bytes(4, sys.byteorder)
    header = _VERSION_3.to_bytes(4, sys.byteorder) + bytes(4)
    call("capset", header, lower + lower + bytes(16))
