"""Running programs: deadline, cancellation, ceiling, and no process left behind (behaviour T2)."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest
from tests.toolsets.skills.child_processes import ends

from react_toolsets.programs import Finished, run_program, scrubbed_environment


def run(
    folder: Path, line: str, *, timeout: float = 20.0, ceiling: int = 100_000, launcher: tuple[str, ...] = ()
) -> Finished:
    return asyncio.run(
        run_program(
            ["sh", "-c", line],
            directory=folder,
            environment=scrubbed_environment(),
            timeout=timeout,
            ceiling=ceiling,
            launcher=launcher,
        )
    )


def pid_in(path: Path) -> int:
    return int(path.read_text())


def test_status_and_output_come_back(tmp_path: Path) -> None:
    assert run(tmp_path, "echo a; echo b >&2; exit 7") == Finished(status=7, output="a\nb\n")


def test_the_signal_that_ended_it_is_its_negative_status(tmp_path: Path) -> None:
    assert run(tmp_path, "kill -9 $$").status == -9


def test_output_beyond_the_ceiling_is_counted_and_dropped(tmp_path: Path) -> None:
    finished = run(tmp_path, f"{sys.executable} -c 'print(\"x\" * 4_999_999)'", ceiling=1000)
    assert (len(finished.output), finished.dropped, finished.status) == (1000, 4_999_000, 0)


def test_endless_output_ends_at_the_deadline(tmp_path: Path) -> None:
    finished = run(tmp_path, "yes", timeout=0.5, ceiling=1000)
    assert finished.timed_out
    assert len(finished.output) == 1000


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    assert run(tmp_path, r"printf 'a\377b'").output == "a\ufffdb"


def test_a_program_may_end_in_order_when_asked(tmp_path: Path) -> None:
    line = "trap 'echo bye; exit 0' TERM; echo hi; while :; do :; done"
    finished = run(tmp_path, line, timeout=0.5)
    assert (finished.output, finished.timed_out) == ("hi\nbye\n", True)


def test_one_that_does_not_is_made_to(tmp_path: Path) -> None:
    started = time.monotonic()
    finished = run(tmp_path, "trap '' TERM; echo $$ > pid; while :; do :; done", timeout=0.3)
    assert finished.timed_out
    assert time.monotonic() - started < 5
    assert ends(pid_in(tmp_path / "pid"))


def test_what_it_left_running_is_ended_with_it(tmp_path: Path) -> None:
    started = time.monotonic()
    finished = run(tmp_path, "sleep 63 & echo $! > pid; echo done")
    assert finished == Finished(status=0, output="done\n")
    assert time.monotonic() - started < 5
    assert ends(pid_in(tmp_path / "pid"))


def test_one_that_left_the_group_does_not_keep_us_waiting(tmp_path: Path) -> None:
    started = time.monotonic()
    finished = run(tmp_path, "setsid sh -c 'echo $$ > pid; exec sleep 64' & while [ ! -s pid ]; do :; done; echo done")
    assert finished.output == "done\n"
    assert time.monotonic() - started < 5
    os.kill(pid_in(tmp_path / "pid"), 9)


def test_cancelling_the_wait_ends_the_program(tmp_path: Path) -> None:
    pids: list[int] = []
    os.mkfifo(tmp_path / "pid")

    async def cancelled() -> None:
        task = asyncio.ensure_future(
            run_program(
                ["sh", "-c", "echo $$ > pid; exec sleep 65"],
                directory=tmp_path,
                environment=scrubbed_environment(),
                timeout=60,
                ceiling=1000,
            )
        )
        pids.append(int(await asyncio.to_thread((tmp_path / "pid").read_text)))  # waits until the program writes it
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert ends(pids[0])


def test_a_launcher_starts_it(tmp_path: Path) -> None:
    assert run(tmp_path, "echo $CONFINED", launcher=("env", "CONFINED=yes")).output == "yes\n"


def test_a_program_that_is_not_there_leaks_nothing(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(FileNotFoundError):
            asyncio.run(run_program(["no-such-program"], directory=tmp_path, environment={}, timeout=1, ceiling=10))
    assert len(os.listdir("/proc/self/fd")) <= before


def test_many_runs_leak_no_descriptors(tmp_path: Path) -> None:
    async def many() -> None:
        for _ in range(20):
            await run_program(["true"], directory=tmp_path, environment={}, timeout=5, ceiling=10)

    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(many())
    assert len(os.listdir("/proc/self/fd")) <= before
