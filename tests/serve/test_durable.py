"""What the server has said yes to is on disk, and of two at once one waits."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.serve.running_server import agent_file, calling, serving, until

from react_run.journal.files import FileSink
from react_run.journal.sessions import Session
from react_run.serve.once import Once
from react_run.serve.sessions import Sessions
from react_run.serve.shelf import TellingSink, _is_over


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Each fsync: which file, and how much was in it."""
    found: list[tuple[int, int]] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        about = os.fstat(descriptor)
        found.append((about.st_ino, about.st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    return found


def job() -> Any:
    """A run that is under way, as far as anybody here asks."""
    return SimpleNamespace(ending="", task=object(), ended=False, messages=[], result=None)


async def never(run: str, by: str) -> None:
    """The run of an earlier server: none."""


def test_a_key_is_on_disk_before_its_run_begins(tmp_path: Path, synced: list[tuple[int, int]]) -> None:
    def start(run: str) -> Any:
        (file,) = tmp_path.iterdir()
        assert run in file.read_text(encoding="utf-8")
        assert synced == [(file.stat().st_ino, file.stat().st_size)]
        return job()

    asyncio.run(Once(tmp_path, never).started("k", "me", "/v1/runs", b"{}", start))
    assert synced


def test_a_request_that_comes_twice_at_once_after_a_restart_begins_one_run(tmp_path: Path) -> None:
    begun: list[str] = []

    def start(run: str) -> Any:
        begun.append(run)
        return job()

    async def slowly(run: str, by: str) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def scenario() -> None:
        await Once(tmp_path, never).started("k", "me", "/v1/runs", b"{}", lambda run: job())
        once = Once(tmp_path, slowly)
        one, other = await asyncio.gather(*(once.started("k", "me", "/v1/runs", b"{}", start) for _ in range(2)))
        assert one is other

    asyncio.run(scenario())
    assert len(begun) == 1


def test_a_decision_about_a_parked_run_is_on_disk_before_it_is_confirmed(
    home: Path, tmp_path: Path, synced: list[tuple[int, int]]
) -> None:
    asks = {"permissions": [{"tool": "effect", "action": "ask"}]}
    file = agent_file(tmp_path, "one", [calling(("effect", {"name": "e"})), "done"], **asks)
    with serving(file, home=home, park_after=0.1) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = running.question()
        until(lambda: not running.service.jobs.live)
        running.service.jobs.spawn = lambda work: work.close()  # type: ignore[assignment, return-value]  # and nothing more
        journal = home / "data" / "runs" / f"{run}.jsonl"
        synced.clear()
        assert running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"}).status_code == 200
        assert '"decided"' in journal.read_text(encoding="utf-8").splitlines()[-1]
        assert synced[-1] == (journal.stat().st_ino, journal.stat().st_size)


def test_a_turn_waits_for_another_process_that_is_in_the_conversation(tmp_path: Path) -> None:
    kept = Session(tmp_path / "talk.jsonl")

    async def scenario() -> None:
        entered = asyncio.Event()

        async def turn() -> None:
            async with Sessions().turn(job(), kept):
                entered.set()

        with Session(kept.path).turn(lambda: None):
            waiting = asyncio.ensure_future(turn())
            for _ in range(100):
                await asyncio.sleep(0)
            assert not entered.is_set()
        await asyncio.wait_for(waiting, 60)

    asyncio.run(scenario())


@pytest.mark.parametrize("locks", [True, False], ids=["file locks", "a file system without locks"])
def test_two_turns_of_a_conversation_are_made_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: bool
) -> None:
    if not locks:
        monkeypatch.setattr("react_run.serve.sessions.try_lock", lambda _: True)
    kept, sessions = Session(tmp_path / "talk.jsonl"), Sessions()
    happened: list[str] = []

    async def turn(name: str) -> None:
        async with sessions.turn(job(), kept):
            happened.append(f"{name} in")
            for _ in range(10):
                await asyncio.sleep(0)
            happened.append(f"{name} out")

    async def scenario() -> None:
        await asyncio.gather(turn("a"), turn("b"))

    asyncio.run(scenario())
    assert happened == ["a in", "a out", "b in", "b out"]


def test_a_run_of_the_server_waits_for_the_disk_like_any_other(tmp_path: Path) -> None:
    synced: list[int] = []
    sink = TellingSink(FileSink(tmp_path / "run.jsonl", fsync=synced.append))
    sink.write({}, "{}")
    asyncio.run(sink.sync())
    sink.close()
    assert len(synced) == 1


def test_a_run_of_another_process_is_followed_until_nobody_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    sink = FileSink(path)
    assert not _is_over(path)
    sink.close()
    assert _is_over(path)
