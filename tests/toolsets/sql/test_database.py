"""One database and many threads."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy.engine import URL
from tests.meanwhile import meanwhile

from react_toolsets.sql.database import Running
from react_toolsets.sql.sqlite import Sqlite


def test_a_statement_does_not_end_while_it_is_being_stopped() -> None:
    running = Running()
    ended: list[str] = []
    others: list[threading.Thread] = []

    def end() -> None:
        running.by(None)
        ended.append("ended")

    def stop() -> None:
        others.append(meanwhile(end))
        assert ended == []  # else the next statement of the connection would be stopped

    running.by(stop)
    running.stop()
    others[0].join(60)
    assert ended == ["ended"]


def test_threads_that_need_a_database_at_once_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    got: list[object] = []
    others: list[threading.Thread] = []
    database = Sqlite(URL.create("sqlite", database=str(tmp_path / "a.db")), changes=False)

    def make() -> object:
        made.append(object())
        if not others:
            others.append(meanwhile(lambda: got.append(database.engine)))
        return made[-1]

    monkeypatch.setattr(database, "_made", make)
    got.append(database.engine)
    others[0].join(60)
    assert got == [made[0], made[0]]
