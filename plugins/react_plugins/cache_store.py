"""Stores for cached results: in memory, or in a SQLite file that runs and processes share.

Every store has a generation, which ends with every change. A result that was read in an earlier generation is not
stored, because it may be stale.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol


class Store(Protocol):
    """Texts by key, each with the time it was stored, in seconds since 1970."""

    def generation(self) -> int:
        """Which generation it is now."""

    def get(self, key: str, *, since: float) -> str | None:
        """The text stored for ``key`` at ``since`` or later."""

    def put(self, key: str, text: str, *, now: float, generation: int) -> None:
        """Store ``text``, unless the generation in which it was read is over."""

    def delete(self, key: str) -> None:
        """Forget what is stored for ``key``."""

    def clear(self) -> None:
        """Forget everything, and begin a new generation."""


class MemoryStore:
    """A store that lives as long as the plugin.

    Args:
        most: How many texts are kept; the oldest go first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._generation = 0

    def generation(self) -> int:
        """Which generation it is now."""
        return self._generation

    def get(self, key: str, *, since: float) -> str | None:
        """The text stored for ``key`` at ``since`` or later."""
        stored, text = self._entries.get(key, (0.0, None))
        return text if stored >= since else None

    def put(self, key: str, text: str, *, now: float, generation: int) -> None:
        """Store ``text``, unless the generation in which it was read is over."""
        if generation != self._generation:
            return
        self._entries.pop(key, None)
        self._entries[key] = (now, text)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def delete(self, key: str) -> None:
        """Forget what is stored for ``key``."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget everything, and begin a new generation."""
        self._entries.clear()
        self._generation += 1


_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, stored REAL NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS generation (number INTEGER NOT NULL);
INSERT INTO generation SELECT 0 WHERE NOT EXISTS (SELECT * FROM generation);
"""
BUSY = 2.0
"""Seconds to wait for another process that is writing."""


class SqliteStore:
    """A store in a file, readable by its owner only; connected to for each operation, so there is nothing to close.

    Args:
        path: The file.
        most: How many texts are kept; the oldest go first.

    Raises (from every method):
        OSError, sqlite3.Error: The file cannot be used.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most = path, most

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(self._path, timeout=BUSY)) as connection, connection:
            connection.executescript(_SCHEMA)
            yield connection

    def generation(self) -> int:
        """Which generation it is now."""
        with self._connection() as connection:
            number: int = connection.execute("SELECT number FROM generation").fetchone()[0]
        return number

    def get(self, key: str, *, since: float) -> str | None:
        """The text stored for ``key`` at ``since`` or later."""
        with self._connection() as connection:
            query = "SELECT text FROM results WHERE key = ? AND stored >= ?"
            found = connection.execute(query, (key, since)).fetchone()
        return None if found is None else str(found[0])

    def put(self, key: str, text: str, *, now: float, generation: int) -> None:
        """Store ``text``, unless the generation in which it was read is over."""
        with self._connection() as connection:
            insert = (
                "INSERT OR REPLACE INTO results SELECT ?, ?, ? WHERE EXISTS (SELECT * FROM generation WHERE number = ?)"
            )
            connection.execute(insert, (key, now, text, generation))
            oldest = "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY stored DESC LIMIT -1 OFFSET ?)"
            connection.execute(oldest, (self._most,))

    def delete(self, key: str) -> None:
        """Forget what is stored for ``key``."""
        with self._connection() as connection:
            connection.execute("DELETE FROM results WHERE key = ?", (key,))

    def clear(self) -> None:
        """Forget everything, and begin a new generation."""
        with self._connection() as connection:
            connection.execute("DELETE FROM results")
            connection.execute("UPDATE generation SET number = number + 1")
