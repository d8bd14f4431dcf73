"""The cost of recording a run, and the time to read, show and replay a long one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.measure import interleaved, report
from react_run import ReActAgent, tool
from react_run.journal.canonical import canonical_records
from react_run.journal.reading import Journal, read_journal
from react_run.journal.recorder import Recorder
from react_run.journal.replay.replay import replay
from react_run.journal.sinks import MemorySink
from react_run.journal.view.html import page
from react_run.testing import agent_with, calls, says

ROUNDS = 100


@tool(read_only=True, repeatable=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(iterations: int, delay: float = 0.0) -> ReActAgent:
    """An agent with a model that takes ``delay`` seconds and asks for one read-only call per iteration."""
    replies = [{"delay": delay, **calls(("add", {"a": number, "b": 2}), text="On it.")} for number in range(iterations)]
    made = agent_with([*replies, {"delay": delay, **says("done")}], tools=[add])
    made.config.max_iterations = iterations + 1
    return made


def recorded(iterations: int) -> Journal:
    """The journal of a run, in memory."""
    sink = MemorySink()
    agent(iterations).replace(journal=Recorder.into(sink)).run_sync("go")
    return Journal(records=sink.records)


def per_event(folder: Path) -> None:
    """CPU microseconds that one record adds to a run."""
    plain, loop = agent(ROUNDS), asyncio.new_event_loop()
    kept = plain.replace(journal=folder)

    def run(made: ReActAgent) -> object:
        return loop.run_until_complete(made.run("go"))

    taken = interleaved({"plain": lambda: run(plain), "recorded": lambda: run(kept)}, repeat=15)
    records = len(read_journal(next(folder.glob("*.jsonl"))).records)
    added = (taken["recorded"] - taken["plain"]) / records
    report("journal_event_cpu_us", iterations=ROUNDS, records=records, added=round(added * 1e6, 1), target=60)
    loop.close()


def share(folder: Path, delay: float = 0.02) -> None:
    """How much longer a run of 100 iterations takes, with a model that answers in 20 ms."""
    plain = agent(ROUNDS, delay)
    kept = plain.replace(journal=folder)

    def taken(made: ReActAgent) -> tuple[float, float]:
        started, used = perf_counter(), process_time()
        made.run_sync("go")
        return perf_counter() - started, process_time() - used

    taken(plain)
    runs = [(*taken(plain), *taken(kept)) for _ in range(5)]
    wall, cpu, kept_wall, kept_cpu = map(min, zip(*runs, strict=True))
    report(
        "journal_share_of_a_run_percent",
        iterations=ROUNDS,
        model_s=delay,
        wall=round(100 * (kept_wall - wall) / wall, 2),
        cpu_of_wall=round(100 * (kept_cpu - cpu) / wall, 2),
        target=5,
    )


def long_journals(folder: Path) -> None:
    """Report the time to read the records of 4 000 iterations, and to process those of 1 000."""
    journal = recorded(4_000)
    path = folder / "long.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in journal.records), encoding="utf-8")
    started = process_time()
    loaded = read_journal(path)
    read = process_time() - started
    assert len(loaded.iterations) == 4_001
    everything = process_time() - started
    records = len(loaded.records)
    report("journal_load_cpu_s", records=records, read=round(read, 3), with_iterations=round(everything, 3), target=1)
    short = recorded(1_000)
    started = process_time()
    size = len(page(short))
    report(
        "journal_page_cpu_s", records=len(short.records), made=round(process_time() - started, 3), bytes=size, target=2
    )
    started = process_time()
    canonical_records(short)
    report("journal_canonical_cpu_s", records=len(short.records), made=round(process_time() - started, 3))
    made = agent(1_000)
    started = process_time()
    asyncio.run(replay(short, made))
    report("journal_replay_cpu_s", records=len(short.records), taken=round(process_time() - started, 3))


def main() -> None:
    """Report everything."""
    with TemporaryDirectory() as folder:
        per_event(Path(folder))
        share(Path(folder))
        long_journals(Path(folder))


if __name__ == "__main__":
    main()
