"""Batches under fire: processes that are killed and stopped, and what must hold afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, LiteralString

TOKENS = 4
PATIENCE = 600.0
"""Seconds that anything may take on a busy machine."""
TOOLS = '''
"""One effect that must not happen twice."""
import asyncio
import os
from pathlib import Path

from react_run import Run, tool

EFFECTS = Path(__file__).with_name("effects")


@tool
async def append(token: str, run: Run) -> str:
    """Write a token: a second time it would stand there twice."""
    await asyncio.sleep({pause})
    file = os.open(EFFECTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{{run.prompt}} {{token}}\\n".encode())
    os.close(file)
    await asyncio.sleep({pause})
    return "written"
'''
AGENT = """\
name: writer
model:
  kind: scripted
  replies:
{replies}
    - {{text: done, delay: {pause}}}
toolsets: [{{kind: functions, path: tools.py}}]
"""
WRONG_CLOCK = '''
"""The time of day is wrong by some seconds, in everything that this process reads; the monotonic clock is right."""
import os
import time

by = int(os.environ["CLOCK_IS_OFF_BY"])
real, real_ns = time.time, time.time_ns
time.time = lambda: real() + by
time.time_ns = lambda: real_ns() + by * 10**9
'''


class Field:
    """A directory with an agent and rows, and the processes that work on them."""

    def __init__(self, folder: Path, rows: int, *, pause: float = 0.02, engine: str = "sqlite", jobs: int = 8) -> None:
        self.folder, self.rows, self.engine, self.jobs = folder, rows, engine, jobs
        self.began = time.monotonic()
        self.faults = 0
        self._processes: list[subprocess.Popen[bytes]] = []
        reply = "    - {{tool_calls: [{{name: append, arguments: {{token: '{0}'}}}}], delay: {1}}}"
        replies = "\n".join(reply.format(number, pause) for number in range(TOKENS))
        (folder / "agent.yaml").write_text(AGENT.format(replies=replies, pause=pause), encoding="utf-8")
        (folder / "tools.py").write_text(TOOLS.format(pause=pause), encoding="utf-8")
        lines = "".join(f'"row-{number}"\n' for number in range(rows))
        (folder / "rows.jsonl").write_text(lines, encoding="utf-8")

    def batch(self, **environment: str) -> subprocess.Popen[bytes]:
        """A process that began the batch, or goes on with it."""
        out = ("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl", "--name", "under-fire")
        return self._start(*out, "--keep-going", "--retries", "20", **environment)

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """A process that helps."""
        return self._start("worker", "agent.yaml", "--retries", "20", **environment)

    def _start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        home = environment.pop("HOME_OF_ITS_OWN", "home")
        engine = environment.pop("ENGINE", self.engine)
        if "CLOCK_IS_OFF_BY" in environment:
            shim = self.folder / "clock"
            shim.mkdir(exist_ok=True)
            (shim / "sitecustomize.py").write_text(WRONG_CLOCK, encoding="utf-8")
            environment["PYTHONPATH"] = str(shim)
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "react_run", *arguments, "--trust", "-j", str(self.jobs)),
                    *("--engine", engine),
                ],
                cwd=self.folder,
                env={**os.environ, "REACT_RUN_HOME": str(self.folder / home), **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def end(self) -> None:
        """Kill what is left, with all that it has started: no process outlives its test."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def written(self) -> int:
        """How many lines the output has."""
        try:
            return (self.folder / "out.jsonl").read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0

    def effects(self) -> Counter[str]:
        """What happened, and how often."""
        try:
            return Counter((self.folder / "effects").read_text(encoding="utf-8").splitlines())
        except FileNotFoundError:
            return Counter()

    def until_effects(self, number: int, seconds: float = PATIENCE) -> None:
        """Wait until so much has happened."""
        give_up = time.monotonic() + seconds
        while self.effects().total() < number:
            assert time.monotonic() < give_up, self.log()
            time.sleep(0.02)

    def until_at_work(self, processes: int) -> None:
        """Wait until so many processes have rows of the database."""
        self._until("select count(distinct owner) from react_run.rows where state = 1", processes)

    def until_taken_again(self) -> None:
        """Wait until a row that a process had was taken by another."""
        self._until("select max(attempts) from react_run.rows", 2)

    def until_has_rows(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until a process has rows of the database."""
        mine = "select count(*) from react_run.rows where state = 1 and owner like %s"
        self._until(mine, 1, f"%-{process.pid}-%")

    def _until(self, query: LiteralString, number: int, *values: object, seconds: float = PATIENCE) -> None:
        give_up = time.monotonic() + seconds
        while (self.asked(query, *values) or 0) < number:
            assert time.monotonic() < give_up, self.log()
            time.sleep(0.05)

    def asked(self, query: LiteralString, *values: object) -> Any:
        """The first value that the database answers."""
        import psycopg

        with psycopg.connect(self.engine.replace("postgres://", "postgresql://"), autocommit=True) as connection:
            return (connection.execute(query, values).fetchone() or (None,))[0]

    def log(self) -> str:
        """What the processes said."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-4_000:]

    def check(self, *, at_work: int) -> dict[str, Any]:
        """Nothing lost, nothing twice; ``at_work`` is how many rows were at work at faults, at most."""
        lines = [json.loads(line) for line in (self.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [line["index"] for line in lines] == list(range(self.rows)), self.log()
        effects = self.effects()
        twice = {token: times for token, times in effects.items() if times > 1}
        assert not twice, twice
        unknown = [line for line in lines if line["status"] != "ok"]
        for line in lines:
            happened = sum(effects[f"row-{line['index']} {number}"] for number in range(TOKENS))
            if line["status"] == "ok":
                assert (line["answer"], happened) == ("done", TOKENS), line
            else:
                assert line["status"] == "unsuccessful", line
                assert "whether it took effect is unknown" in line["error"], line
        assert len(unknown) <= at_work, (len(unknown), at_work)
        return {
            "rows": self.rows,
            "faults": self.faults,
            "unknown": len(unknown),
            "most_attempts": max(line["attempts"] for line in lines),
            "seconds": round(time.monotonic() - self.began, 1),
        }


def kill(process: subprocess.Popen[bytes]) -> None:
    """As the system does when memory is short."""
    process.send_signal(signal.SIGKILL)
    process.wait()


def wait(process: subprocess.Popen[bytes], field: Field, seconds: float = PATIENCE) -> None:
    """Wait for a process to end well: 0, or 1 when some rows were unsuccessful."""
    try:
        status = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        kill(process)
        raise AssertionError(field.log()) from None
    assert status in (0, 1), (status, field.log())


CHANCE = random.Random()
