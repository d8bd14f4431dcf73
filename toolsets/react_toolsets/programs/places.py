"""Where things are: what programs need to read, and what nothing that an agent starts may change."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from react_run import own_code

SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix/store", "/opt", "/proc", "/sbin", "/sys", "/usr")
"""Directories that programs need, and that hold nobody's own files."""
DEVICES = ("/dev/full", "/dev/null", "/dev/ptmx", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero")
ROOM_DEVICES = ("/dev/pts", "/dev/shm")
"""Directories of devices that programs may use where these are their own: else they hold other people's terminals."""


def names() -> Iterator[str]:
    """Where names are looked up, when the network may be used."""
    yield "/run/systemd/resolve"
    if (real := os.path.realpath("/etc/resolv.conf")) != "/etc/resolv.conf":
        yield real


def interpreters() -> Iterator[str]:
    """Our own Python, and what is on the PATH: those who put a program there want it to run.

    An editable checkout of ours is read from where it is: a Python that has it installed imports it, as pytest does.
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
    """What of ``code`` lies in directories that may be written to."""
    return [path for path in code if any(path != root and path.is_relative_to(root) for root in write)]


def exposed(write: Iterable[Path]) -> list[Path]:
    """Those of ``write`` that lie in our code themselves, so that nothing can keep them apart."""
    base = Path(sys.base_prefix).resolve()
    library = Path(sysconfig.get_path("stdlib")).resolve()
    code = {library, *(path for path in own_code() if path != base)}
    return [root for root in write if any(root.is_relative_to(path) for path in code)]


def _needed_by(directory: Path) -> Iterator[Path]:
    """What programs in ``directory`` need besides: what is beside it, and the Python of a virtual environment."""
    above = directory.parent
    if directory.name == "shims" or os.path.isdir(above / "lib"):  # a Path would raise where others may not look
        yield above
    with suppress(OSError, UnicodeDecodeError):
        for line in (above / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":
                yield Path(value.strip()).parent


def _holds_nothing_else(directory: Path) -> bool:
    home = Path.home()
    return directory not in (home, home / ".local", Path(directory.anchor))
