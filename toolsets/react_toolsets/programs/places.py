"""Paths that programs need to read, and paths that programs of an agent must not change."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from react_run import own_code

SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix/store", "/opt", "/proc", "/sbin", "/sys", "/usr")
"""System directories that programs need, and that do not contain users' files."""
DEVICES = ("/dev/full", "/dev/null", "/dev/ptmx", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero")
ROOM_DEVICES = ("/dev/pts", "/dev/shm")
"""Device directories that programs may use if they have their own; otherwise these contain other users' terminals."""


def names() -> Iterator[str]:
    """Paths needed for name resolution."""
    yield "/run/systemd/resolve"
    if (real := os.path.realpath("/etc/resolv.conf")) != "/etc/resolv.conf":
        yield real


def interpreters() -> Iterator[str]:
    """Paths of our own Python, and of the programs on the PATH.

    An editable checkout of react-run is included: a Python in which it is installed imports it, as pytest does.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    yield from prefixes
    packages = (path for path in own_code() if path not in {Path(prefix).resolve() for prefix in prefixes})
    yield from map(str, filter(_holds_nothing_else, {path.parent for path in packages}))
    for name in os.environ.get("PATH", "").split(os.pathsep):
        directory = Path(name)
        if directory.is_absolute() and not any(directory.is_relative_to(system) for system in SYSTEM):
            yield name
            yield from map(str, filter(_holds_nothing_else, _needed_by(directory)))


def below(code: Iterable[Path], write: Iterable[Path]) -> list[Path]:
    """The paths of ``code`` below writable directories."""
    return [path for path in code if any(path != root and path.is_relative_to(root) for root in write)]


def exposed(write: Iterable[Path]) -> list[Path]:
    """The paths of ``write`` that are inside our own code, so that it cannot be protected."""
    base = Path(sys.base_prefix).resolve()
    library = Path(sysconfig.get_path("stdlib")).resolve()
    code = {library, *(path for path in own_code() if path != base)}
    return [root for root in write if any(root.is_relative_to(path) for path in code)]


def _needed_by(directory: Path) -> Iterator[Path]:
    """Other paths that programs in ``directory`` need: its parent, and the Python of a virtual environment."""
    above = directory.parent
    if directory.name == "shims" or os.path.isdir(above / "lib"):  # a Path would raise without permission
        yield above
    with suppress(OSError, UnicodeDecodeError):
        for line in (above / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":
                yield Path(value.strip()).parent


def _holds_nothing_else(directory: Path) -> bool:
    home = Path.home()
    return directory not in (home, home / ".local", Path(directory.anchor))
