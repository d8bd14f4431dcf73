"""Calls of the C library and the Linux kernel for which Python has no functions.

This uses ``_ctypes`` rather than ``ctypes``, whose import takes a third of the time that a launcher may take.
"""

from __future__ import annotations

import _ctypes
import os

_PRCTL_NO_NEW_PRIVILEGES = 38


_LIBRARY = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None means this program itself


class _Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # not generic at run time
    _type_ = "l"


class _Text(_ctypes._SimpleCData):  # type: ignore[type-arg]  # as above
    _type_ = "z"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Long


class Machine:
    """The differences between processors: the architecture for filters, and the numbers of some system calls.

    Args:
        architecture: The kernel's number for it.
        pivot_root: The number of ``pivot_root``.
        socket: The number of ``socket``.
        refused: io_uring (3), keyrings (3), bpf, perf_event_open, userfaultfd, kexec (2), modules (3), files by handle.
        of_processes: Calls that act on the process in their first argument; 0 is the caller.
        of_groups: Calls that act on what their first two arguments name, with the first argument for "a process".
        shared: Calls that open System V and POSIX objects, which processes share by name.
    """

    def __init__(
        self,
        *,
        architecture: int,
        pivot_root: int,
        socket: int,
        refused: tuple[int, ...],
        of_processes: tuple[int, ...],
        of_groups: tuple[tuple[int, int], ...],
        shared: tuple[int, ...],
    ) -> None:
        self.architecture, self.pivot_root, self.socket = architecture, pivot_root, socket
        self.refused, self.shared = refused, shared
        self.of_processes, self.of_groups = of_processes, of_groups


MACHINES = {
    "x86_64": Machine(
        architecture=0xC000003E,
        pivot_root=155,
        refused=(425, 426, 427, 248, 249, 250, 321, 298, 323, 246, 320, 313, 175, 176, 304),
        of_processes=(302, 203, 144, 142, 314, 256, 279),
        of_groups=((141, 0), (251, 1)),
        shared=(29, 64, 68, 240),
        socket=41,
    ),
    "aarch64": Machine(
        architecture=0xC00000B7,
        pivot_root=41,
        refused=(425, 426, 427, 219, 217, 218, 280, 241, 282, 104, 294, 273, 105, 106, 265),
        of_processes=(261, 122, 119, 118, 274, 238, 239),
        of_groups=((140, 0), (30, 1)),
        shared=(194, 190, 186, 180),
        socket=198,
    ),
}
MACHINE = MACHINES.get(os.uname().machine) if hasattr(os, "uname") else None
"""This processor; ``None`` if it is unknown."""


def call(name: str, *arguments: int | bytes | None) -> int:
    """Call the function ``name`` of the C library; ``bytes`` are passed as a pointer.

    Raises:
        OSError: It returned a negative number.
    """
    function = _Function(_ctypes.dlsym(_LIBRARY, name))
    result = function(*(_Long(it) if isinstance(it, int) else _Text(it) for it in arguments))
    assert isinstance(result, int)  # _restype_ says so
    if result < 0:
        number = _ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def pointer(data: bytes) -> bytes:
    """The address of ``data`` as bytes for a structure; the caller has to keep ``data`` alive."""
    return bytes(memoryview(_Text(data)))


def control(option: int, first: int | bytes = 0, second: int | bytes = 0) -> int:
    """Call ``prctl(2)``."""
    return call("prctl", option, first, second, 0, 0)


def gain_nothing() -> None:
    """Set ``no_new_privs``: a program that replaces this one cannot gain rights."""
    control(_PRCTL_NO_NEW_PRIVILEGES, 1)
