"""What programs may touch, and what of that is enforced here: by Landlock, else by bubblewrap, else by nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from react_toolsets.programs import landlock

SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix/store", "/opt", "/proc", "/sbin", "/sys", "/usr")
"""Directories that programs need, and that hold nobody's own files."""
DEVICES = ("/dev/full", "/dev/null", "/dev/ptmx", "/dev/pts", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero")
NAMES = ("/run/systemd/resolve",)
"""Where names are looked up, when the network may be used."""


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What a program may touch.

    ``write`` lists what it may change, ``read`` what it may read and execute besides the system's own directories;
    ``network`` says whether it may use the network. ``means`` enforces it: ``landlock``, ``bubblewrap``, or nothing.
    """

    write: Sequence[Path]
    read: Sequence[Path] = ()
    network: bool = False
    means: str = field(default_factory=lambda: best_means())

    @property
    def gaps(self) -> list[str]:
        """What is asked for and not enforced here."""
        if not self.means:
            return ["nothing is enforced, for this system has neither Landlock nor bubblewrap"]
        return landlock_gaps(landlock.version(), network=self.network) if self.means == "landlock" else []

    @property
    def enforced(self) -> bool:
        """Whether files are confined, and TCP when it is not free."""
        return self.means == "bubblewrap" or (
            self.means == "landlock" and landlock.version() >= (1 if self.network else landlock.SINCE_TCP)
        )

    def report(self) -> str:
        """What is enforced and what is not, for people."""
        if not self.means:
            return f"Not confined: {self.gaps[0]}."
        by = f"Landlock (version {landlock.version()})" if self.means == "landlock" else "bubblewrap"
        text = (
            f"Confined by {by}: programs can write in {', '.join(map(str, self.write))} and a temporary directory of "
            "their own, and read there and in the system's own directories"
        )
        if not self.network and self.enforced:
            text += "; they have no network" if self.means == "bubblewrap" else "; they have no TCP"
        return f"{text}. Not confined: {'; '.join(self.gaps)}." if self.gaps else f"{text}."

    def launcher(self, temporary: Path) -> list[str]:
        """The command that confines what is appended to it; ``temporary`` is a directory for it alone."""
        write = [*map(str, self.write), str(temporary)]
        read = [*SYSTEM, *(NAMES if self.network else ()), *_interpreters(), *map(str, self.read)]
        if self.means == "bubblewrap":
            return _bubblewrapped(read, write, network=self.network)
        if not self.means:
            return []
        rules = {"read": read, "write": [*write, *DEVICES], "network": self.network}
        return [sys.executable, "-I", "-S", landlock.__file__, json.dumps(rules)]


def best_means() -> str:
    """What can confine programs on this system."""
    if landlock.version():
        return "landlock"
    return "bubblewrap" if _bubblewrap() else ""


def landlock_gaps(version: int, *, network: bool) -> list[str]:
    """What ``version`` of Landlock leaves open of what is asked for."""
    gaps = ["modes, owners and times of files elsewhere"]
    if version < landlock.SINCE_TRUNCATE:
        gaps.append("files elsewhere can be cut short (Linux before 6.2)")
    if not network:
        gaps.append("UDP and Unix sockets" if version >= landlock.SINCE_TCP else "the network (Linux before 6.7)")
    if version < landlock.SINCE_SCOPES:
        gaps.append("signals to other processes of the same user (Linux before 6.12)")
    return gaps


def _interpreters() -> Iterator[str]:
    """Our own Python, and what is on the PATH: those who put a program there want it to run."""
    yield from {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    for name in os.environ.get("PATH", "").split(os.pathsep):
        directory = Path(name)
        if directory.is_absolute() and not any(directory.is_relative_to(system) for system in SYSTEM):
            yield name
            yield from map(str, filter(_holds_nothing_else, _needed_by(directory)))


def _needed_by(directory: Path) -> Iterator[Path]:
    """What programs in ``directory`` need besides: what is beside it, and the Python of a virtual environment."""
    above = directory.parent
    if directory.name == "shims" or (above / "lib").is_dir():
        yield above
    with suppress(OSError, UnicodeDecodeError):
        for line in (above / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":
                yield Path(value.strip()).parent


def _holds_nothing_else(directory: Path) -> bool:
    home = Path.home()
    return directory not in (home, home / ".local", Path(directory.anchor))


@cache
def _bubblewrap() -> str:
    """The path of bubblewrap, when it is there."""
    return (shutil.which("bwrap") or "") if sys.platform.startswith("linux") else ""


def _bubblewrapped(read: Sequence[str], write: Sequence[str], *, network: bool) -> list[str]:
    command = [_bubblewrap(), "--die-with-parent", "--unshare-all", *(["--share-net"] if network else [])]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for path in read:
        if path not in ("/proc", "/sys"):
            command += ["--ro-bind-try", path, path]
    for path in write:
        command += ["--bind", path, path]
    return [*command, "--"]
