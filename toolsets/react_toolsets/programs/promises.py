"""The promises about confined programs, and what keeps each. The table in SECURITY.md has the same promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from react_run.support import dataclass
from react_toolsets.programs.confined import landlock
from react_toolsets.programs.means import Means


class Confined(Protocol):
    """What promises depend on: see :class:`react_toolsets.programs.confinement.Confinement`."""

    @property
    def means(self) -> Means:
        """What enforces the confinement."""

    @property
    def network(self) -> bool:
        """Whether the network may be used."""

    @property
    def protected(self) -> list[Path]:
        """Our own code in directories that programs may change."""

    @property
    def exposed(self) -> list[Path]:
        """Paths inside our own code that programs may change all the same."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """Something that confined programs cannot do.

    ``name`` is its name in the documentation, ``gap`` what programs can do if it is not kept, and ``kept`` says
    whether it is kept.
    """

    name: str
    gap: str
    kept: Callable[[Confined], bool]


PROMISES = (
    Promise(name="files", gap="read and change files elsewhere", kept=lambda it: bool(it.means)),
    Promise(
        name="truncation",
        gap="truncate files elsewhere (Linux before 6.2)",
        kept=lambda it: bool(it.means.room) or it.means.landlock >= landlock.SINCE_TRUNCATE,
    ),
    Promise(
        name="attributes",
        gap="change modes, owners, times and extended attributes of files elsewhere",
        kept=lambda it: bool(it.means.room),
    ),
    Promise(
        name="TCP",
        gap="use the network (Linux before 6.7)",
        kept=lambda it: (
            it.network or it.means.filtered or bool(it.means.room) or it.means.landlock >= landlock.SINCE_TCP
        ),
    ),
    Promise(
        name="other sockets",
        gap="use sockets other than ordinary TCP (UDP, MPTCP, vsock)",
        kept=lambda it: it.means.filtered,
    ),
    Promise(
        name="Unix sockets",
        gap="connect to Unix sockets that the user may use",
        kept=lambda it: bool(it.means.room) or (it.means.filtered and not it.network),
    ),
    Promise(name="memory", gap="read the memory and environment of other processes", kept=lambda it: bool(it.means)),
    Promise(
        name="signals",
        gap="send signals to other processes of the same user (Linux before 6.12)",
        kept=lambda it: bool(it.means.room) or it.means.landlock >= landlock.SINCE_SCOPES,
    ),
    Promise(
        name="limits of others",
        gap="change limits and priorities of other processes of the same user",
        kept=lambda it: bool(it.means.room) or it.means.filtered,
    ),
    Promise(name="terminals", gap="write to terminals", kept=lambda it: bool(it.means)),
    Promise(name="keyrings", gap="use the keyrings of the kernel", kept=lambda it: it.means.filtered),
    Promise(
        name="shared objects",
        gap="use shared memory, semaphores and message queues of others",
        kept=lambda it: bool(it.means.room) or it.means.filtered,
    ),
    Promise(
        name="number of processes",
        gap="start any number of processes (root is limited only in its own room, from Linux 6.14)",
        kept=lambda it: it.means.counted,
    ),
    Promise(
        name="left behind",
        gap="keep running after the command has ended, in their own session",
        kept=lambda it: bool(it.means.room),
    ),
    Promise(
        name="own code",
        gap="change the code of react-run, which lies in their directory",
        kept=lambda it: not it.exposed and (bool(it.means.room) or not it.protected),
    ),
)
"""All promises; ``sandbox: required`` runs nothing if one of them is not kept."""
