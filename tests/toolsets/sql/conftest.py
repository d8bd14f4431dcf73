"""A PostgreSQL server of our own on loopback, run by a user that is not root; skipped where it cannot be had."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "hunter2000-secret"
SCHEMA = """
CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, joined date, balance numeric(10, 2));
COMMENT ON TABLE customers IS 'Who buys';
COMMENT ON COLUMN customers.balance IS 'in EUR';
CREATE TABLE notes (id serial PRIMARY KEY, customer int REFERENCES customers, body jsonb);
INSERT INTO customers (name, joined, balance)
VALUES ('Ada', '2026-01-07', 12.50), ('Blaise', NULL, -3), ('100%', NULL, 0);
CREATE SCHEMA archive;
CREATE TABLE archive.old_orders (id int);
"""


@dataclass(frozen=True)
class Server:
    """Where the server is, and how to stop and start it."""

    port: int
    folder: Path
    programs: Path
    user: str | None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *arguments: str, given: str | None = None) -> None:
        subprocess.run(
            [str(self.programs / program), *arguments],
            user=self.user,
            cwd="/",
            env={**os.environ, "PGPASSWORD": PASSWORD},
            check=True,
            input=given,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "psql" else subprocess.DEVNULL,
            timeout=60,
        )

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def psql(self, sql: str) -> None:
        self.run("psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-v", "ON_ERROR_STOP=1", given=sql)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="the extra sql is not installed")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed")
    user = None
    if os.getuid() == 0:
        user = next((entry.pw_name for entry in pwd.getpwall() if entry.pw_name in ("postgres", "nobody")), None)
        if user is None:
            pytest.skip("there is no user but root to run PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="react-run-sql-"))
    (folder / "password").write_text(PASSWORD)
    if user is not None:
        for path in (folder, folder / "password"):
            os.chown(path, pwd.getpwnam(user).pw_uid, -1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = Server(port, folder, found[-1].parent, user)
    try:
        password = ["-A", "scram-sha-256", "--pwfile", str(folder / "password")]
        made.run("initdb", "-D", str(folder / "data"), "-U", "postgres", *password)
        made.start()
        made.psql(SCHEMA)
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL does not start: {error.stderr}")
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)
