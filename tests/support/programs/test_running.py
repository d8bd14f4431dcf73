"""Programs that tools start end with the call that started them, children included (T2)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from react_run import run_program, run_program_sync, tool
from react_run.support.threads import run_blocking
from react_run.testing import agent_with, calls, run_agent, says

FAMILY = "sh -c 'echo $$ >> pids; sleep 66' & echo $$ >> pids; sleep 0.2; touch ready; wait; echo late > late"
"""A program with a child; what it would do at its end is to be seen afterwards."""


def program(folder: Path, way: str, line: str = FAMILY, **marks: Any) -> Callable[..., object]:
    """A tool that runs a shell script, as a coroutine or as a plain function."""

    @tool(**marks)  # type: ignore[untyped-decorator]  # its marks are the test's
    async def work() -> str:
        """Take long."""
        return (await run_program(["sh", "-c", line], directory=folder)).output

    @tool(name="work", **marks)
    def plain_work() -> str:
        """Take long."""
        return run_program_sync(["sh", "-c", line], directory=folder).output

    return plain_work if way == "plain" else work


def family(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "pids").read_text(encoding="utf-8").split()]


def appears(path: Path) -> None:
    """Wait for a file."""
    while not path.exists():
        time.sleep(0.01)


def gone(folder: Path) -> bool:
    """Whether the program and its child are gone, within a moment."""
    patience = time.monotonic() + 60
    while any(map(psutil.pid_exists, family(folder))) and time.monotonic() < patience:
        time.sleep(0.01)
    return not any(map(psutil.pid_exists, family(folder))) and not (folder / "late").exists()


WAYS = pytest.mark.parametrize("way", ["async", "plain"])


@WAYS
def test_a_program_ends_with_the_deadline_of_its_call(tmp_path: Path, way: str) -> None:
    work = program(tmp_path, way, timeout=0.6)
    result = run_agent([calls(("work", {})), says("gave up")], tools=[work])
    assert result.steps[0].error_code == "timeout"
    assert len(family(tmp_path)) == 2
    assert gone(tmp_path)


@WAYS
def test_a_program_ends_with_the_time_limit_of_the_run(tmp_path: Path, way: str) -> None:
    result = run_agent([calls(("work", {})), says("x")], tools=[program(tmp_path, way)], run_timeout=0.6)
    assert result.stop_reason == "timeout"
    assert gone(tmp_path)


@WAYS
def test_a_program_ends_when_the_run_is_cancelled(tmp_path: Path, way: str) -> None:
    async def scenario() -> None:
        agent = agent_with([calls(("work", {})), says("x")], tools=[program(tmp_path, way)])
        run = asyncio.ensure_future(agent.run("go"))
        async with asyncio.timeout(60):
            await asyncio.to_thread(appears, tmp_path / "ready")
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    run_blocking(scenario())
    assert gone(tmp_path)


@WAYS
def test_one_call_that_is_given_up_ends_no_program_of_another(tmp_path: Path, way: str) -> None:
    (tmp_path / "other").mkdir()

    @tool(timeout=20)
    def quick() -> str:
        """Work on."""
        return run_program_sync(["sh", "-c", "sleep 1; echo done"], directory=tmp_path / "other").output

    both = calls(("work", {}), ("quick", {}))
    result = run_agent([both, says("x")], tools=[program(tmp_path, way, timeout=0.5), quick])
    assert [step.error_code for step in result.steps] == ["timeout", None]
    assert result.steps[1].observation == "done\n"
    assert gone(tmp_path)


@WAYS
def test_what_a_program_says_and_how_it_ends_come_back(tmp_path: Path, way: str) -> None:
    work = program(tmp_path, way, "pwd; cat; exit 3")
    result = run_agent([calls(("work", {})), says("x")], tools=[work])
    assert result.steps[0].observation == f"{tmp_path}\n"
    finished = run_program_sync([sys.executable, "-c", "print(input()); raise SystemExit(3)"], stdin=b"hello\n")
    assert (finished.status, finished.output, finished.timed_out) == (3, "hello\n", False)


@WAYS
def test_a_program_ends_when_the_process_ends_right_after_the_run(tmp_path: Path, way: str) -> None:
    waits = "(await run_program(command)).output" if way == "async" else "run_program_sync(command).output"
    script = (
        "from react_run import run_program, run_program_sync, tool\nfrom react_run.testing import calls, run_agent\n"
        f"command = ['sh', '-c', {FAMILY!r}]\n"
        f"@tool\n{'async ' if way == 'async' else ''}def work() -> str:\n    'Take long.'\n    return {waits}\n"
        "print(run_agent([calls(('work', {})), 'x'], tools=[work], run_timeout=0.6).stop_reason)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "timeout\n", done.stderr
    assert gone(tmp_path)


def test_a_deadline_of_its_own_keeps_what_was_said(tmp_path: Path) -> None:
    finished = run_program_sync(["sh", "-c", "echo first; sleep 66"], directory=tmp_path, timeout=0.3)
    assert (finished.timed_out, finished.output) == (True, "first\n")


def test_a_plain_wait_is_refused_where_it_would_hold_up_the_loop() -> None:
    async def on_the_loop() -> None:
        run_program_sync(["true"])

    with pytest.raises(RuntimeError, match="await run_program"):
        asyncio.run(on_the_loop())


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        run_program_sync(["no-such-program-anywhere"])
