"""The means that can confine programs on this system, found by trying them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from typing import Literal

from react_run.support import dataclass
from react_toolsets.programs.confined import landlock
from react_toolsets.programs.confined.kernel import MACHINE
from react_toolsets.programs.confined.start import Rules
from react_toolsets.programs.launcher import bubblewrap, launcher
from react_toolsets.programs.places import SYSTEM, interpreters

Room = Literal["own", "bubblewrap", ""]
_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Means:
    """What confines programs.

    ``landlock`` is its version, 0 for none; ``room`` says what makes namespaces: ``own`` (we do), ``bubblewrap``, or
    nothing; ``filtered`` says whether system calls are filtered, and ``counted`` whether the number of processes is
    limited.
    """

    landlock: int = 0
    room: Room = ""
    filtered: bool = False
    counted: bool = False

    def __bool__(self) -> bool:
        return bool(self.landlock or self.room)

    def __str__(self) -> str:
        named = {
            f"Landlock (version {self.landlock})": self.landlock,
            "namespaces": self.room == "own",
            "bubblewrap": self.room == "bubblewrap",
            "a system call filter": self.filtered,
        }
        *most, last = [name for name, there in named.items() if there] or ["nothing"]
        return f"{', '.join(most)} and {last}" if most else last


@cache
def best_means() -> Means:
    """The best means that work for this user; a container may forbid what the kernel supports."""
    version = landlock.version()
    rooms: tuple[Room, ...] = ("own", "bubblewrap") if sys.platform.startswith("linux") and MACHINE else ()
    for room in rooms:
        if found := _tried(room, version):
            return Means(landlock=version, room=room, filtered=True, counted=found == "counted" or os.geteuid() != 0)
    return Means(landlock=version, filtered=bool(version and MACHINE), counted=bool(version and os.geteuid()))


def _tried(room: Room, version: int) -> str:
    """The launcher's output when it confines itself in such a room; empty if it cannot."""
    if room == "bubblewrap" and not bubblewrap():
        return ""
    with tempfile.TemporaryDirectory(prefix="react-run-") as temporary:
        rules = Rules(
            room=room if room == "own" else "made",
            temporary=temporary,
            read=[*SYSTEM, *interpreters()],
            write=[],
            protected=[],
            devices=[],
            network=False,
            landlock=bool(version),
            filtered=True,
            processes=1024,
            memory=2**30,
            file_size=2**20,
            cpu_seconds=10,
        )
        try:
            found = subprocess.run(
                launcher(rules, bubblewrap=bubblewrap() if room == "bubblewrap" else ""),
                cwd="/",
                env={},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    return found.stdout.decode(errors="replace") if found.returncode == 0 else ""
