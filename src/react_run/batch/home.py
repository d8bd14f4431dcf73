"""The directory of a batch on this machine, with its queue, journals and lock."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from react_run.errors import ConfigError
from react_run.journal.locate import batches_directory
from react_run.journal.locks import try_lock

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NETWORK = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre"),
        *("ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "smb3", "smbfs", "virtiofs"),
    )
)
"""File systems that other machines may write to: a lock there proves nothing."""


def name_for(output: Path) -> str:
    """The name of the batch that writes a file."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", output.stem).strip("-.")[:60] or "batch"
    return f"{stem}-{sha256(str(output.absolute()).encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Home:
    """The directory of one batch."""

    directory: Path

    @classmethod
    def named(cls, name: str) -> Home:
        """The directory of a batch of this user.

        Raises:
            ConfigError: No directory can have this name.
        """
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} cannot name a batch: use letters, digits, '.', '_' and '-'")
        return cls(batches_directory() / name)

    @property
    def name(self) -> str:
        """The name of the batch."""
        return self.directory.name

    @property
    def database(self) -> Path:
        """The queue."""
        return self.directory / "queue.db"

    @property
    def runs(self) -> Path:
        """The journals, a file for each run."""
        return self.directory / "runs"

    @property
    def exists(self) -> bool:
        """Whether the batch was begun."""
        return self.database.exists()

    def make(self) -> None:
        """Make the directory.

        Raises:
            ConfigError: It cannot be made, or lies on a network file system.
        """
        self._make(self.runs)
        if (kind := network_file_system(self.directory)) is not None:
            raise ConfigError(
                f"{self.directory} lies on a network file system ({kind}), where neither SQLite nor locks can be "
                "trusted: set REACT_RUN_HOME to a local disk, or use --engine postgres://…"
            )

    def _make(self, directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(
                f"the batch cannot be saved in {self.directory}: {error.strerror or error}; REACT_RUN_HOME sets "
                "another directory"
            ) from error

    def remove(self) -> None:
        """Remove the batch with all its journals."""
        shutil.rmtree(self.directory, ignore_errors=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the one who writes the output of this batch.

        Raises:
            ConfigError: Another process does, and the text says which; or the directory cannot be made.
        """
        self._make(self.directory)
        descriptor = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if not try_lock(descriptor):
                raise ConfigError(f"batch {self.name} is running: {self._holder()} has it")
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, this_process().encode())
            yield
        finally:
            os.close(descriptor)

    def holder(self) -> str | None:
        """Who writes the output now; ``None`` when nobody does."""
        try:
            descriptor = os.open(self.directory / "lock", os.O_RDWR)
        except OSError:
            return None
        try:
            return None if try_lock(descriptor) else self._holder()
        finally:
            os.close(descriptor)

    def _holder(self) -> str:
        try:
            return (self.directory / "lock").read_text(encoding="utf-8") or "another process"
        except (OSError, ValueError):
            return "another process"


def this_process() -> str:
    """This process, for people who wonder which one has a batch."""
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    return f"process {os.getpid()} on {socket.gethostname()}, since {since},"


def homes() -> list[Home]:
    """The batches of this machine, the latest first."""
    found = [Home(path.parent) for path in batches_directory().glob("*/queue.db")]
    return sorted(found, key=lambda home: home.database.stat().st_mtime, reverse=True)


def find_home(name: str) -> Home:
    """The batch that a person means: by its name, the beginning of it, or the file it writes.

    Raises:
        ConfigError: There is no such batch, or there are several.
    """
    known = homes()
    exact = [home for home in known if home.name in (name, name_for(Path(name)))]
    found = exact or [home for home in known if home.name.startswith(name)]
    if not found:
        listed = ", ".join(home.name for home in known[:5]) or "none so far"
        raise ConfigError(f"there is no batch {name!r}; saved in {batches_directory()}: {listed}")
    if len(found) > 1:
        raise ConfigError(f"{name!r} begins the names of {len(found)} batches: {', '.join(h.name for h in found[:5])}")
    return found[0]


def network_file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The type of the file system that holds ``path``, when it is one that other machines may write to."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return None
    found, longest = "", -1
    for line in lines:
        before, _, after = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), before.split()[4])
        if path.resolve().is_relative_to(point) and len(point) >= longest:
            found, longest = after.split()[0], len(point)
    return found if found in _NETWORK else None
