"""The file of an embedded queue: its connection, its transactions, and what is said about the batch as a whole."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from react_run.batch.engine import EngineError

_VERSION = "2"
_PATIENCE = 60.0
"""Seconds to wait for other processes that use the file."""


class QueueFile:
    """An SQLite database that the threads and processes of one machine share.

    Args:
        path: The file. It is created if necessary.
        batch: The id of the batch, for a new file.

    Raises:
        EngineError: The file is damaged, or an earlier version made it.
    """

    def __init__(self, path: Path, batch: str = "") -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._reported():
            self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._db.execute("pragma journal_mode = wal")
            self._synchronous = ""
        try:
            self._create(batch)
        except BaseException:
            self.close()
            raise

    def _create(self, batch: str) -> None:
        with self.transaction() as db:
            if not db.execute("select 1 from sqlite_master where name = 'meta'").fetchone():
                for statement in files(__package__).joinpath("schema.sql").read_text(encoding="utf-8").split(";"):
                    db.execute(statement)
                db.execute("insert into meta values ('batch', ?), ('version', ?)", (batch, _VERSION))
        if self.get("version") != _VERSION:
            raise EngineError(f"an earlier version of react-run made the queue {self.path}: --fresh starts over")

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A block whose statements take effect together or not at all; others wait.

        Args:
            durable: Whether its effect must survive a crash of the machine. If not, it saves an fsync.
        """
        with self._lock, self._reported():
            self._set_synchronous("full" if durable else "normal")
            self._db.execute("begin immediate")
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise

    def _set_synchronous(self, level: str) -> None:
        if level != self._synchronous:
            self._db.execute(f"pragma synchronous = {level}")
            self._synchronous = level

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A block that only reads."""
        with self._lock, self._reported():
            yield self._db

    def get(self, key: str) -> str | None:
        """What is stored about the batch under ``key``."""
        with self.reading() as db:
            found = db.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def set(self, key: str, value: object) -> None:
        """Store something about the batch; ``None`` removes it."""
        with self.transaction() as db:
            if value is None:
                db.execute("delete from meta where key = ?", (key,))
            else:
                db.execute("insert or replace into meta values (?, ?)", (key, str(value)))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise EngineError(f"the queue {self.path} cannot be used: {error}") from error
