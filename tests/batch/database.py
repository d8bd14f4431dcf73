"""A PostgreSQL server of one's own, on loopback, run by a user that is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class NoServer(Exception):
    """Why there is no server."""


class Server:
    """A server in a temporary directory; ``url`` is a database of it.

    Raises:
        NoServer: It cannot be had on this machine.
    """

    def __init__(self) -> None:
        found = shutil.which("initdb")
        self.programs = PROGRAMS[-1] if PROGRAMS else Path(found).parent if found else None
        if self.programs is None or not (self.programs / "initdb").exists():
            raise NoServer("PostgreSQL is not installed")
        self.user = self._unprivileged()
        self.folder = Path(tempfile.mkdtemp(prefix="react-run-pg-"))
        if self.user is not None:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        try:
            self._do("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "postgres")
            self.start()
        except subprocess.CalledProcessError as error:
            raise NoServer(f"PostgreSQL does not start: {error.stderr or error.stdout}") from error

    def _unprivileged(self) -> str | None:
        if os.getuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            try:
                pwd.getpwnam(name)
            except KeyError:
                continue
            return name
        raise NoServer("there is no user but root to run PostgreSQL")

    def _do(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.programs / program), *arguments],  # type: ignore[operator]  # found when it was made
            user=self.user,
            cwd="/",
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=200"
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-w", "start")

    def restart_at_once(self) -> None:
        """As after a crash of the server."""
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "restart")

    def end(self) -> None:
        """Stop it, and remove what it kept."""
        try:
            self._do("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
