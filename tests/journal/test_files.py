"""A journal on a disk that fails: everything before stays readable, and the run ends."""

from __future__ import annotations

import asyncio
import errno
import inspect
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.journal.recording import agent_of

from react_run import tool
from react_run.errors import JournalError
from react_run.journal.files import FileSink
from react_run.journal.reading import read_journal, read_journals
from react_run.journal.recorder import Recorder
from react_run.testing import calls, says


class Disk:
    """Fails at the n-th write or fsync; of a failing write, some bytes get through."""

    def __init__(self, fails_at: int, number: int, lets_through: int = 0) -> None:
        self.fails_at, self.number, self.lets_through = fails_at, number, lets_through
        self.count = 0

    def error(self) -> OSError:
        return OSError(self.number, os.strerror(self.number))

    def write(self, descriptor: int, data: bytes) -> int:
        self.count += 1
        if self.count < self.fails_at:
            return os.write(descriptor, data)
        if self.count == self.fails_at and self.lets_through:
            return os.write(descriptor, data[: self.lets_through])
        raise self.error()

    def fsync(self, descriptor: int) -> None:
        self.count += 1
        if self.count >= self.fails_at:
            raise self.error()


REPLIES = [calls(("change", {"number": number})) for number in range(3)]


def run_on(sink: Callable[[], FileSink]) -> tuple[list[int], list[str]]:
    """What an agent changed, and what it ended with, on a journal that may fail."""
    changed: list[int] = []

    @tool
    def change(number: int) -> str:
        """Change something."""
        changed.append(number)
        return "changed"

    agent = agent_of([*REPLIES, says("done")], tools=[change])
    try:
        return changed, [agent.replace(journal=Recorder.into(sink())).run_sync("go").answer]
    except JournalError as error:
        return changed, [str(error)]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("lets_through", [0, 7])
def test_a_full_disk_ends_the_run_and_leaves_whole_records_only(
    tmp_path: Path,
    number: int,
    lets_through: int,
    caplog: pytest.LogCaptureFixture,
    record_property: Callable[[str, object], None],
) -> None:
    whole = run_on(lambda: FileSink(tmp_path / "whole.jsonl"))
    assert whole == ([0, 1, 2], ["done"])
    records = len(read_journal(tmp_path / "whole.jsonl").records)
    record_property("faults", records)
    for fails_at in range(1, records + 1):
        path = tmp_path / f"{fails_at}.jsonl"
        disk = Disk(fails_at, number, lets_through)
        changed, ends = run_on(lambda path=path, disk=disk: FileSink(path, write=disk.write, fsync=lambda _: None))  # type: ignore[misc]  # the values of this turn
        problem = f"cannot write the journal {path}: {os.strerror(number)}"
        if fails_at < records:
            assert ends == [problem]
            assert caplog.messages == []
        else:  # only the footer is missing: the answer stands
            assert ends == ["done"]
            assert caplog.messages == [problem]
            caplog.clear()
        assert path.read_bytes().count(b"\n") == fails_at - 1
        assert not path.read_bytes() or path.read_bytes().endswith(b"\n")
        if fails_at > 1:
            journal = read_journal(path)
            assert not journal.torn
            started = [record["arguments"]["number"] for record in journal.records if record["type"] == "tool_started"]
            assert changed == started  # nothing ran that was not written down before


def test_a_failing_fsync_keeps_what_changes_something_from_running(tmp_path: Path) -> None:
    for fails_at in range(1, 7):
        path = tmp_path / f"{fails_at}.jsonl"
        disk = Disk(fails_at, errno.EIO)
        changed, ends = run_on(lambda path=path, disk=disk: FileSink(path, fsync=disk.fsync))  # type: ignore[misc]  # as above
        assert ends == [f"cannot write the journal {path}: {os.strerror(errno.EIO)}"]
        assert changed == list(range(fails_at // 2))
        assert read_journal(path).records


def test_a_torn_last_line_is_dropped_and_cut_off_before_the_next_record(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent = agent_of([says("hi")], journal=path)
    agent.run_sync("one")
    whole = path.read_bytes()
    for torn in (b'{"type":"guard"', b"\xff\xfe", b"x" * 200_000):
        path.write_bytes(whole + torn)
        journal = read_journal(path)
        assert (journal.torn, journal.header["prompt"]) == (True, "one")
        agent.run_sync("two")
        assert [journal.header["prompt"] for journal in read_journals(path)] == ["one", "two"]
        assert not read_journal(path).torn


def test_nothing_but_a_torn_line_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"type":"hea')
    with pytest.raises(JournalError, match="no run was recorded here"):
        read_journal(path)
    agent_of([says("hi")], journal=path).run_sync("go")
    assert read_journal(path).header["prompt"] == "go"


def test_a_journal_that_cannot_be_opened_ends_the_run_before_anything_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(JournalError, match="cannot open the journal"):
        agent_of([says("hi")], journal=tmp_path / "file" / "run.jsonl").run_sync("go")


def test_a_pipe_is_no_place_for_a_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JournalError, match=r"cannot open the journal .*pipe"):
        agent_of([says("hi")], journal=tmp_path / "pipe").run_sync("go")


def test_two_runs_at_once_cannot_write_one_file(tmp_path: Path) -> None:
    agent = agent_of([{"delay": 0.05, "text": "hi"}], journal=tmp_path / "run.jsonl")

    async def both() -> list[object]:
        return [*await asyncio.gather(agent.run("a"), agent.run("b"), return_exceptions=True)]

    first, second = asyncio.run(both())
    assert not isinstance(first, Exception)
    assert isinstance(second, JournalError)
    assert "give a directory, for a file per run" in str(second)


def test_a_journal_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.jsonl"
    agent_of([says("hi")], journal=path).run_sync("go")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_calls_that_wait_for_the_disk_at_once_share_its_answer(tmp_path: Path) -> None:
    count = 0

    def fsync(_: int) -> None:
        nonlocal count
        count += 1

    async def work() -> None:
        sink = FileSink(tmp_path / "x.jsonl", fsync=fsync)
        for _ in range(5):
            sink.write({}, "{}")
        await asyncio.gather(*(sink.sync() for _ in range(50)))
        await sink.sync()  # nothing is new
        sink.close()

    asyncio.run(work())
    assert count == 1


def test_a_wait_for_the_disk_that_is_cancelled_disturbs_nobody_else(tmp_path: Path) -> None:
    async def work() -> None:
        sink = FileSink(tmp_path / "x.jsonl")
        sink.write({}, "{}")
        one, other = asyncio.ensure_future(sink.sync()), asyncio.ensure_future(sink.sync())
        await asyncio.sleep(0)
        one.cancel()
        await other
        sink.write({}, "{}")
        last = asyncio.ensure_future(sink.sync())
        await asyncio.sleep(0)
        last.cancel()
        sink.close()

    asyncio.run(work())
    assert (tmp_path / "x.jsonl").read_bytes() == b"{}\n{}\n"


def test_a_journal_is_written_and_synced_by_the_system_itself() -> None:
    options = inspect.signature(FileSink).parameters
    assert options["write"].default is os.write
    assert options["fsync"].default is os.fsync
