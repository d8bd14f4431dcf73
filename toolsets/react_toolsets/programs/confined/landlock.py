"""Landlock: the kernel confines a process and its child processes to the given paths (Linux 5.13 and later)."""

from __future__ import annotations

import os
import sys
from stat import S_ISDIR

from react_toolsets.programs.confined.kernel import call, gain_nothing

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""Rights that apply to files, not only to directories."""
TCP, SCOPES = 0b11, 0b11
SINCE_REFER, SINCE_TRUNCATE, SINCE_TCP, SINCE_IOCTL, SINCE_SCOPES = 2, 3, 4, 5, 6
"""The versions that introduced a right or a kind of rules."""


def version() -> int:
    """The Landlock version of this kernel; 0 for none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return call("syscall", _CREATE, None, 0, 1)
    except (OSError, AttributeError):
        return 0


def rights(of: int) -> int:
    """All file rights that version ``of`` controls."""
    made = (1 << 13) - 1
    added = ((SINCE_REFER, REFER), (SINCE_TRUNCATE, TRUNCATE), (SINCE_IOCTL, IOCTL_DEV))
    return made + sum(right for since, right in added if of >= since)


def confine(read: list[str], write: list[str], *, tcp: bool) -> None:
    """Confine this process, irrevocably.

    Args:
        read: Files and directories that can be read and executed; missing ones are ignored.
        write: Files and directories that can be changed as well.
        tcp: Whether to allow TCP; otherwise it is refused if the kernel supports that.

    Raises:
        OSError: The process could not be confined.
    """
    found = version()
    if not found:
        raise OSError("this kernel has no Landlock")
    handled = rights(found)
    refused_tcp = TCP if found >= SINCE_TCP and not tcp else 0
    ruleset = b"".join(it.to_bytes(8, sys.byteorder) for it in (handled, refused_tcp, SCOPES))
    size = 8 if found < SINCE_TCP else 16 if found < SINCE_SCOPES else 24
    rules = call("syscall", _CREATE, ruleset, size, 0)
    for path in read:
        _allow(rules, path, EXECUTE | READ_FILE | READ_DIR)
    for path in write:
        _allow(rules, path, handled & ~(MAKE_CHAR | MAKE_BLOCK))
    gain_nothing()
    call("syscall", _RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that is missing or not accessible cannot be used anyway
    try:
        if not S_ISDIR(os.fstat(parent).st_mode):
            allowed &= ON_FILES
        rule = allowed.to_bytes(8, sys.byteorder) + parent.to_bytes(4, sys.byteorder)
        call("syscall", _ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(parent)
