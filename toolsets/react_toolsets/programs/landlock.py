"""Landlock: the Linux kernel confines a process, and all it starts, to what it was told (Linux 5.13 and later).

Imported, it says what the kernel can do. Run as a program, ``landlock.py RULES COMMAND…`` confines itself by ``RULES``
(JSON: ``read`` and ``write`` are lists of paths, ``network`` says whether TCP is free) and becomes ``COMMAND``. When it
cannot confine itself it does not go on.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from functools import cache

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_BOUND, _DROP, _AMBIENT, _CLEAR_ALL = 23, 24, 47, 4
KEPT = (0, 1, 3, 4)
"""Capabilities that root keeps: about owners and modes of files. With others it could look into our own memory."""
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""Rights that a file, as opposed to a directory, can have."""
TCP, SCOPES = 0b11, 0b11
SINCE_REFER, SINCE_TRUNCATE, SINCE_TCP, SINCE_IOCTL, SINCE_SCOPES = 2, 3, 4, 5, 6
"""The versions that brought a right, or a kind of rules."""
REFUSED = 126
"""The exit status when nothing was started."""


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


@cache
def version() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return max(0, int(_libc().syscall(_CREATE, None, 0, 1)))
    except (OSError, AttributeError):
        return 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def rights(of: int) -> int:
    """All rights to files that version ``of`` controls."""
    made = (1 << 13) - 1
    added = ((SINCE_REFER, REFER), (SINCE_TRUNCATE, TRUNCATE), (SINCE_IOCTL, IOCTL_DEV))
    return made + sum(right for since, right in added if of >= since)


def confine(read: list[str], write: list[str], *, network: bool) -> None:
    """Confine this process, for good.

    Args:
        read: Files and directories that can be read and executed; those that do not exist are passed over.
        write: Those that can be changed as well.
        network: Whether TCP is free; otherwise there is none, where the kernel controls it.

    Raises:
        OSError: It is not confined.
    """
    found = version()
    if not found:
        raise OSError("this kernel has no Landlock")
    handled = rights(found)
    tcp, scopes = found >= SINCE_TCP and not network, found >= SINCE_SCOPES
    ruleset = _Ruleset(handled, TCP if tcp else 0, SCOPES if scopes else 0)
    size = 8 if found < SINCE_TCP else 16 if found < SINCE_SCOPES else 24
    libc = _libc()
    rules = _checked(libc.syscall(_CREATE, ctypes.byref(ruleset), size, 0))
    for path in read:
        _allow(libc, rules, path, EXECUTE | READ_FILE | READ_DIR)
    for path in write:
        _allow(libc, rules, path, handled & ~(MAKE_CHAR | MAKE_BLOCK))
    _drop_capabilities(libc)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Leave nothing to become when another program takes the place of this one."""
    libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    capability = 0
    while (bound := libc.prctl(_BOUND, capability, 0, 0, 0)) >= 0:  # beyond the last one it fails
        if bound and capability not in KEPT and libc.prctl(_DROP, capability, 0, 0, 0) < 0 and os.geteuid() == 0:
            raise OSError("root cannot drop its capabilities here")
        capability += 1


def _allow(libc: ctypes.CDLL, rules: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there, or not ours to look at, cannot be used anyway
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            allowed &= ON_FILES
        rule = _Beneath(allowed, parent)
        _checked(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(parent)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main() -> None:
    """Confine this process and become the command."""
    rules, command = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        confine(rules["read"], rules["write"], network=rules["network"])
    except OSError as error:
        sys.exit(_refused(f"it cannot be confined, so it was not started: {error}"))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(_refused(f"{command[0]}: {error.strerror}"))


def _refused(text: str) -> int:
    print(text, file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    main()
