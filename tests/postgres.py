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

    Args:
        password: What it asks for; without one it trusts everybody on this machine.
        options: More settings of the server, such as ``fsync=off``.

    Raises:
        NoServer: It cannot be had on this machine.
    """

    def __init__(self, *options: str, password: str | None = None) -> None:
        found = shutil.which("initdb")
        programs = PROGRAMS[-1] if PROGRAMS else Path(found).parent if found else None
        if programs is None or not (programs / "initdb").exists():
            raise NoServer("PostgreSQL is not installed")
        self.programs, self.password, self.options = programs, password, options
        self.user = self._unprivileged()
        self.folder = Path(tempfile.mkdtemp(prefix="react-run-pg-"))
        self._own(self.folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        try:
            self._do("initdb", "-D", str(self.folder / "data"), "-U", "postgres", *self._trust())
            self.start()
        except subprocess.CalledProcessError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
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

    def _own(self, path: Path) -> None:
        if self.user is not None:
            os.chown(path, pwd.getpwnam(self.user).pw_uid, -1)

    def _trust(self) -> list[str]:
        if self.password is None:
            return ["-A", "trust"]
        path = self.folder / "password"
        path.write_text(self.password, encoding="utf-8")
        self._own(path)
        return ["-A", "scram-sha-256", "--pwfile", str(path)]

    def _do(self, program: str, *arguments: str, given: str | None = None) -> None:
        subprocess.run(
            [str(self.programs / program), *arguments],
            user=self.user,
            cwd="/",
            env={**os.environ, "PGPASSWORD": self.password or ""},
            check=True,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if program == "pg_ctl" else subprocess.PIPE,  # what it starts would keep a pipe
            timeout=60,
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = ("listen_addresses=127.0.0.1", "max_connections=200", *self.options)
        options = f"-p {self.port} -k {self.folder} {' '.join(f'-c {setting}' for setting in settings)}"
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-w", "start")

    def stop(self) -> None:
        """Stop it at once."""
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def restart_at_once(self) -> None:
        """As after a crash of the server."""
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "restart")

    def psql(self, sql: str) -> None:
        """Have statements carried out."""
        there = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres")
        self._do("psql", *there, "-v", "ON_ERROR_STOP=1", given=sql)

    def end(self) -> None:
        """Stop it, and remove what it kept."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
