"""The launcher: it confines itself by its rules, and then executes the command."""

from __future__ import annotations

import os

from react_toolsets.programs.confined import capabilities, filtering, landlock, limits, room
from react_toolsets.programs.confined.kernel import call, control

REFUSED = 126
"""The exit status if nothing was started."""
_PARENT_DEATH = 1
_KILL, _PIPE, _TERMINATE, _TOO_LARGE = 9, 13, 15, 25
_DEFAULT, _IGNORED = 0, 1


class Rules:
    """What a command may do.

    Args:
        room: ``own``: create a room. ``made``: it is already in a room. Empty: there is no room.
        temporary: A private directory for this command.
        read: Paths that it may read.
        write: Paths that it may change as well.
        protected: Paths below ``write`` that it may only read.
        devices: Devices and device directories that it may use.
        network: Whether it may use the network.
        landlock: Whether Landlock confines it.
        filtered: Whether its system calls are filtered.
        processes: How many processes it may start.
        memory: Bytes of data per process.
        file_size: Bytes per file.
        cpu_seconds: CPU seconds per process.
    """

    def __init__(
        self,
        *,
        room: str,
        temporary: str,
        read: list[str],
        write: list[str],
        protected: list[str],
        devices: list[str],
        network: bool,
        landlock: bool,
        filtered: bool,
        processes: int,
        memory: int,
        file_size: int,
        cpu_seconds: int,
    ) -> None:
        self.room, self.temporary = room, temporary
        self.read, self.write, self.protected, self.network = read, write, protected, network
        self.devices, self.landlock, self.filtered = devices, landlock, filtered
        self.processes, self.memory, self.file_size, self.cpu_seconds = processes, memory, file_size, cpu_seconds


def main(rules: Rules, command: list[str]) -> None:
    """Confine this process and execute ``command``; without one, print whether the number of processes is limited."""
    try:
        report = _enter(rules) if rules.room == "own" else -1
        counted = _confine(rules)
    except OSError as error:
        refuse(f"it cannot be confined, so it was not started: {error}")
    if not command:
        os.write(1, b"counted" if counted else b"not counted")
        os._exit(0)
    if rules.room == "own":
        _lead(report)
    for signal in (_PIPE, _TERMINATE, _TOO_LARGE):  # Python ignores two of them, and we ignore the third
        call("signal", signal, _DEFAULT)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        refuse(f"{command[0]}: {error.strerror}")


def refuse(text: str) -> None:
    """Print why nothing is started, and exit."""
    os.write(2, f"{text}\n".encode(errors="replace"))
    os._exit(REFUSED)


def _confine(rules: Rules) -> bool:
    """Confine this process, and return whether its room limits the number of processes."""
    if rules.room == "own":
        room.furnish(rules.temporary, rules.read, rules.write, rules.protected, rules.memory)
    counted = bool(rules.room) and room.limit_processes(rules.processes)
    limits.apply(
        processes=0 if counted else rules.processes,
        memory=rules.memory,
        file_size=rules.file_size,
        cpu_seconds=rules.cpu_seconds,
    )
    capabilities.drop()
    alone = bool(rules.room)
    if rules.landlock:
        landlock.confine(rules.read, [*rules.write, *rules.devices], tcp=rules.network or alone)
    if rules.filtered:
        filtering.confine(sockets=rules.network or alone, processes=alone)
    return counted


def _enter(rules: Rules) -> int:
    """Continue as the first process of a new room; the original process waits, and ends in the same way.

    Returns a descriptor with which the first process reports a signal, since a signal cannot end it.
    """
    room.separate(network=rules.network)
    reading, writing = os.pipe()
    call("signal", _TERMINATE, _IGNORED)  # SIGTERM is for the command, not for the processes that wait for it
    control(_PARENT_DEATH, _KILL)
    child = os.fork()
    if not child:
        control(_PARENT_DEATH, _KILL)
        os.close(reading)
        return writing
    os.close(writing)
    signal = os.read(reading, 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if signal:
        if signal[0] != _KILL:
            call("signal", signal[0], _DEFAULT)
        os.kill(os.getpid(), signal[0])
    os._exit(status if status >= 0 else 128 - status)


def _lead(report: int) -> None:
    """Continue as a child of the first process, which waits; when the child ends, every process in the room does."""
    child = os.fork()
    if not child:
        return
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                os.write(report, bytes((-code,)))
            os._exit(max(0, code))
