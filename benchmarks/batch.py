"""Compare the cost of a batch with plain runs, and measure how it scales and whether its memory stays constant."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks import batch_database
from benchmarks.measure import report
from react_run import ReActAgent, tool
from react_run.batch import Row, run_batch
from react_run.batch.home import Home
from react_run.batch.inputs import read_rows
from react_run.batch.sqlite import SqliteEngine
from react_run.testing import agent_with, calls, says

WIDTH = 16


@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent() -> ReActAgent:
    """An agent whose runs take no time."""
    return agent_with([calls(("add", {"a": 1, "b": 2})), says("3")], tools=[add])


async def gathered(rows: int, folder: Path) -> float:
    """CPU seconds for plain runs with journals."""
    made, width = agent(), asyncio.Semaphore(WIDTH)
    kept = made.replace(model=made.model, journal=folder)

    async def one(number: int) -> None:
        async with width:
            await kept.run(f"row {number}")

    started = process_time()
    await asyncio.gather(*map(one, range(rows)))
    return process_time() - started


async def batched(rows: int, name: str) -> float:
    """CPU seconds for the same runs as a batch."""
    started = process_time()
    async for _ in run_batch(agent(), (f"row {number}" for number in range(rows)), name=name, concurrency=WIDTH):
        pass
    return process_time() - started


def beside_plain_runs(folder: Path, rows: int = 500, pairs: int = 9) -> None:
    """What plain runs take of what a batch takes, in CPU time, in turns: the first pair only warms both up."""
    shares = []
    for turn in range(pairs + 1):
        (plain := folder / f"plain-{turn}").mkdir()
        shares.append(asyncio.run(gathered(rows, plain)) / asyncio.run(batched(rows, f"beside-{turn}")))
    middle = median(shares[1:])
    report("batch_cpu_of_plain_runs", rows=rows, share=round(middle, 2), least=round(min(shares[1:]), 2), target=0.7)


def adding(folder: Path, rows: int = 100_000) -> None:
    """Seconds until so many rows are in the queue."""
    engine = SqliteEngine(Home(folder / "adding"), batch="b")
    started = process_time()
    asyncio.run(engine.add(Row(index=index, prompt=f"row {index}") for index in range(rows)))
    report("batch_add_cpu_s", rows=rows, taken=round(process_time() - started, 2), target=100)
    engine.close_now()


def until_first_line(folder: Path, name: str, number: int) -> float:
    """CPU seconds of the command from its start to its first line of output; then it is killed."""
    (folder / "agent.yaml").write_text("model: {kind: scripted, replies: [{text: done}]}\n", encoding="utf-8")
    inputs = folder / f"{name}.jsonl"
    inputs.write_text("".join(f'"row {index}"\n' for index in range(number)), encoding="utf-8")
    command = [sys.executable, "-m", "react_run", "batch", "agent.yaml", inputs.name, "--name", name, "-q"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starting(folder: Path, few: int = 1_000, many: int = 100_000) -> None:
    """Report the cost of a start with many rows and with few, without reading the rows."""

    def started(number: int) -> float:
        return min(until_first_line(folder, f"{number}-{turn}", number) for turn in range(3))

    small, large = started(few), started(many)
    readings = []
    for _turn in range(3):
        began = process_time()
        for row in read_rows(folder / f"{many}-0.jsonl"):
            _ = row.digest  # a row's identity is part of reading it
        readings.append(process_time() - began)
    reading = min(readings)
    report(
        "batch_start_cpu_s",
        rows=many,
        with_1_000_rows=round(small, 2),
        taken=round(large, 2),
        reading=round(reading, 2),
        times=round((large - reading) / small, 2),
        target=2,
    )


def memory(rows: int = 1_000) -> None:
    """Report the megabytes that a running batch adds; four times the rows must not add four times as much."""

    async def run(number: int, name: str) -> None:
        async with ReActAgent(
            {"model": "offline", "toolsets": ["math"]}
        ) as made:  # a scripted model keeps its requests
            async for _ in run_batch(made, (f"{row}+1" for row in range(number)), name=name, concurrency=WIDTH):
                pass

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    asyncio.run(run(rows, "small"))
    small = peak()
    asyncio.run(run(4 * rows, "large"))
    report("batch_memory_mb", rows=4 * rows, added=round(peak() - small, 1), target=5)


def main() -> None:
    """Report everything."""
    with TemporaryDirectory() as folder:
        os.environ["REACT_RUN_HOME"] = folder
        beside_plain_runs(Path(folder))
        adding(Path(folder))
        starting(Path(folder))
        memory()
    batch_database.main()


if __name__ == "__main__":
    main()
