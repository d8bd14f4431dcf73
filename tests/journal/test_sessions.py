"""A conversation on disk belongs to one process at a time."""

from __future__ import annotations

import threading
from pathlib import Path

from react_run.journal.sessions import Session


def test_whoever_comes_second_into_a_conversation_waits_for_its_end(tmp_path: Path) -> None:
    waits, entered = threading.Event(), threading.Event()

    def second() -> None:
        with Session(tmp_path / "talk.jsonl").turn(waits.set):
            entered.set()

    thread = threading.Thread(target=second, daemon=True)
    with Session(tmp_path / "talk.jsonl").turn(lambda: None):
        thread.start()
        assert waits.wait(60)
        assert not entered.is_set()
    assert entered.wait(60)
    thread.join(60)


def test_whoever_comes_alone_does_not_wait(tmp_path: Path) -> None:
    waited: list[object] = []
    for _ in range(2):
        with Session(tmp_path / "talk.jsonl").turn(lambda: waited.append(1)):
            pass
    assert waited == []
