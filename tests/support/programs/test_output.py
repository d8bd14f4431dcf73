"""What is kept of what a program writes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from react_run import tool
from react_run.support.programs.output import Output
from react_run.testing import calls, run_agent, says
from react_toolsets.programs import run_program, scrubbed_environment


def kept(data: bytes, ceiling: int, tail: int, chunk: int) -> Output:
    async def read() -> Output:
        reading, writing = os.pipe()
        output = Output(ceiling, tail)
        task = asyncio.ensure_future(output.read(reading))
        for at in range(0, len(data), chunk):
            os.write(writing, data[at : at + chunk])
            await asyncio.sleep(0)
        os.close(writing)
        await task
        return output

    return asyncio.run(read())


@pytest.mark.parametrize("chunk", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    ("ceiling", "tail", "text", "dropped"),
    [
        (20, 5, "0123456789", 0),
        (10, 0, "0123456789", 0),
        (10, 3, "0123456789", 0),
        (6, 0, "012345", 4),
        (6, 2, "0123\n[… 4 bytes left out …]\n89", 4),
        (3, 3, "\n[… 7 bytes left out …]\n789", 7),
    ],
)
def test_beginning_and_end_are_kept(ceiling: int, tail: int, text: str, dropped: int, chunk: int) -> None:
    output = kept(b"0123456789", ceiling, tail, chunk)
    assert (output.text(), output.dropped) == (text, dropped)


def test_a_long_log_shows_how_it_ended(tmp_path: Path) -> None:
    line = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo the end"
    finished = asyncio.run(
        run_program(["sh", "-c", line], directory=tmp_path, environment={}, timeout=20, ceiling=1000, tail=200)
    )
    assert finished.output.startswith("line 0\n")
    assert finished.output.endswith("line 19999\nthe end\n")
    assert finished.dropped > 100_000


def test_of_our_environment_only_harmless_variables_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "LC_ALL", "TZ", "WANTED"):
        monkeypatch.setenv(name, "x")
    environment = scrubbed_environment({"TZ": "UTC", "MORE": "1"}, also=["WANTED", "NOT_SET"])
    assert "OPENAI_API_KEY" not in environment
    assert {"LC_ALL": "x", "TZ": "UTC", "MORE": "1", "WANTED": "x"}.items() <= environment.items()
    assert "NOT_SET" not in environment


@pytest.mark.parametrize("line", ["sleep 66", "trap '' TERM; while :; do :; done"])
def test_a_run_that_ends_while_a_program_is_being_ended_leaves_none_behind(tmp_path: Path, line: str) -> None:  # T2
    @tool
    async def work() -> None:
        """Take long."""
        command = ["sh", "-c", f"echo $$ > pid; {line}"]
        await run_program(command, directory=tmp_path, environment={}, timeout=60, ceiling=100)

    result = run_agent([calls(("work", {})), says("gave up")], tools=[work], tool_timeout=0.3)
    assert result.steps[0].error_code == "timeout"
    pid = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(pid)  # gone, and not even a zombie
