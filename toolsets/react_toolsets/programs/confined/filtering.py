"""A system call filter (seccomp): it refuses by number what Landlock and namespaces leave open.

The filter is a short program for the kernel's virtual machine, assembled here. libseccomp would save twenty lines, but
be one more library to find on each system.
"""

from __future__ import annotations

import sys

from react_toolsets.programs.confined.kernel import MACHINE, Machine, control, gain_nothing, pointer

_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NOT_PERMITTED, _NO_ACCESS, _UNKNOWN = 1, 13, 38
_OTHER_TABLE = 0x40000000
"""Numbers from here on are in the table for 32-bit pointers on x86-64."""
_UNIX, _INET, _INET6, _NETLINK, _ROUTE = 1, 2, 10, 16, 0

Step = tuple[int, int, int, int]
"""An operation, how many steps to skip if it is true and if it is false, and a value."""


def confine(*, sockets: bool, processes: bool) -> None:
    """Filter the system calls of this process, irrevocably.

    Always refused are other system call tables than the processor's own, io_uring (it creates sockets by itself),
    keyrings, BPF, performance events, modules, and files by handle.

    Args:
        sockets: Whether to allow Unix, IPv4, IPv6 and routing sockets; otherwise only socket pairs.
        processes: Whether to allow calls that act on other processes or share objects by name; harmless if the
            process sees only its own.

    Raises:
        OSError: The processor is unknown, or the kernel refuses.
    """
    if MACHINE is None:
        raise OSError("system calls cannot be filtered on this processor")
    steps = assembled(MACHINE, sockets=sockets, processes=processes)
    code = b"".join(
        operation.to_bytes(2, sys.byteorder) + bytes((yes, no)) + value.to_bytes(4, sys.byteorder)
        for operation, yes, no, value in steps
    )
    gain_nothing()
    control(_SET_SECCOMP, _FILTER, len(steps).to_bytes(2, sys.byteorder) + bytes(6) + pointer(code))


def assembled(machine: Machine, *, sockets: bool, processes: bool) -> list[Step]:
    """The filter for ``machine``; see :func:`confine`."""
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.architecture),
        _error(_UNKNOWN),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _OTHER_TABLE),
        _error(_UNKNOWN),
    ]
    for number in machine.refused:
        steps += _when(number, [_error(_UNKNOWN)])
    if not processes:
        for number in machine.shared:
            steps += _when(number, [_error(_UNKNOWN)])
        for number in machine.of_processes:
            steps += _when(number, _only(0, 0))
        for number, itself in machine.of_groups:
            it_is_one = [_argument(0), (_EQUAL, 1, 0, itself), _error(_NOT_PERMITTED)]
            steps += _when(number, [*it_is_one, *_only(1, 0)])
    steps += _when(machine.socket, _families() if sockets else [_error(_NO_ACCESS)])
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _when(number: int, then: list[Step]) -> list[Step]:
    """Run ``then``, which ends with a return, if the system call is ``number``."""
    return [(_EQUAL, 0, len(then), number), *then]


def _only(argument: int, value: int) -> list[Step]:
    """Allow the call only if ``argument`` is ``value``."""
    return [_argument(argument), (_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW), _error(_NOT_PERMITTED)]


def _families() -> list[Step]:
    return [
        _argument(0),
        (_EQUAL, 5, 0, _UNIX),
        (_EQUAL, 4, 0, _INET),
        (_EQUAL, 3, 0, _INET6),
        (_EQUAL, 0, 3, _NETLINK),
        _argument(2),
        (_EQUAL, 0, 1, _ROUTE),
        (_RETURN, 0, 0, _ALLOW),
        _error(_NO_ACCESS),
    ]


def _argument(at: int) -> Step:
    """Load the lower half of an argument; the kernel ignores the upper half of those used here."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * at + (0 if sys.byteorder == "little" else 4))


def _error(number: int) -> Step:
    return (_RETURN, 0, 0, _ERROR | number)
