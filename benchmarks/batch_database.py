"""Batches on PostgreSQL: how fast rows are queued, how workers scale, and how soon a dead worker's rows continue.

Times are wall times: rows wait for models, databases and leases, not for this processor.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from tests.postgres import NoServer, Server

from benchmarks.measure import report
from react_run import ReActAgent
from react_run.batch import Claim, Row
from react_run.batch.catalogue import begun
from react_run.batch.engine import LEASE, Terms
from react_run.batch.home import Home
from react_run.batch.running import Batch, open_queue
from react_run.launch.options import AgentOptions, built

WIDTH = 8
FEW = 4
"""Rows at once in each of several workers: so that two processors are not what they wait for."""
WAITING = "model: {{kind: scripted, replies: [{{text: done, delay: {delay}}}]}}\n"
ROUNDS = 4
TOOL = '''
import asyncio

from react_run import tool


@tool
async def change(number: int) -> str:
    """Change something, which takes a while."""
    await asyncio.sleep(0.05)
    return "changed"
'''
WORKING = "toolsets: [{kind: functions, path: tools.py}]\nmodel:\n  kind: scripted\n  replies:\n"


def agent_file(folder: Path, text: str) -> ReActAgent:
    """An agent, as workers find it."""
    folder.mkdir()
    (folder / "agent.yaml").write_text(text, encoding="utf-8")
    (folder / "tools.py").write_text(TOOL, encoding="utf-8")
    return built(AgentOptions(file=str(folder / "agent.yaml"), trust=True).config(), [], ())


def rows(number: int) -> Iterator[Row]:
    """So many rows."""
    return (Row(index=index, prompt=f"row {index}") for index in range(number))


async def queued(url: str, name: str, agent: ReActAgent, number: int, jobs: int = FEW) -> tuple[float, float]:
    """Add rows to the queue of a new batch; the wall seconds, and the CPU seconds of this process."""
    engine, _ = await begun(url, name, agent, Terms(), jobs=jobs)
    await engine.begin(f"adds-{name}")
    wall, cpu = time.perf_counter(), process_time()
    await engine.add(rows(number))
    taken = time.perf_counter() - wall, process_time() - cpu
    await engine.close()
    return taken


def enqueueing(server: Server, folder: Path, number: int = 100_000) -> None:
    """Seconds until so many rows are in the queue."""
    agent = agent_file(folder / "enqueueing", WAITING.format(delay=0))
    wall, cpu = asyncio.run(queued(server.url, "many", agent, number))
    report("batch_postgres_add_s", rows=number, clock=round(wall, 1), cpu=round(cpu, 1), target=100)


@contextmanager
def workers(server: Server, folder: Path, number: int, jobs: int = FEW) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Worker processes for all batches of the agent in ``folder``."""
    command = [sys.executable, "-m", "react_run", "worker", "agent.yaml", "--engine", server.url, "-j", str(jobs)]
    started = [
        subprocess.Popen(
            [*command, "--trust"],
            cwd=folder,
            env={**os.environ, "REACT_RUN_HOME": str(folder / f"home-{index}")},
            stderr=subprocess.DEVNULL,
        )
        for index in range(number)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def asked(server: Server, query: Any, *values: object) -> list[tuple[Any, ...]]:
    """The result of a query."""
    import psycopg

    with psycopg.connect(server.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        return connection.execute(query, values).fetchall()


def until(server: Server, query: Any, *values: object, seconds: float = 300) -> float:
    """Wait until the result of a query is true; the time at which it was."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        if asked(server, query, *values)[0][0]:
            return time.monotonic()
        time.sleep(0.02)
    raise TimeoutError(f"not in {seconds} seconds: {query}")


def rate(server: Server, folder: Path, number: int, rows_each: int = 80) -> float:
    """Rows per second of a number of workers, while all of them are busy."""
    agent = agent_file(folder / f"rate-{number}", WAITING.format(delay=0.5))
    asyncio.run(queued(server.url, f"rate-{number}", agent, number * rows_each))
    done = "select ok, total from react_run.batches where name = %s"
    with workers(server, folder / f"rate-{number}", number):
        start = until(server, "select count(distinct owner) = %s from react_run.rows where state = 1", number)
        ((before, total),) = asked(server, done, f"rate-{number}")
        enough = total - 2 * number * FEW
        end = until(server, "select ok >= %s from react_run.batches where name = %s", enough, f"rate-{number}")
        ((after, _),) = asked(server, done, f"rate-{number}")
        until(server, "select ok = total from react_run.batches where name = %s", f"rate-{number}")
    return float(after - before) / (end - start)


def adding_up(server: Server, folder: Path) -> None:
    """Compare three workers with one, with rows that wait half a second for their model."""
    one, three = rate(server, folder, 1), rate(server, folder, 3)
    report(
        "batch_three_workers_beside_one",
        one=round(one, 1),
        three=round(three, 1),
        times=round(three / one, 2),
        target=2.2,
    )


def dead_worker(server: Server, folder: Path) -> None:
    """Report the seconds from the death of a worker until all its rows run elsewhere."""
    agent = agent_file(folder / "dead", WAITING.format(delay=6))
    delays = []
    for turn in range(3):
        asyncio.run(queued(server.url, f"dead-{turn}", agent, 4 * FEW, jobs=4 * FEW))
        at_work = (
            "select count(*) >= %s from react_run.rows join react_run.batches on batch = batches.id where name = %s {}"
        )
        with workers(server, folder / "dead", 1) as (victim,):
            until(server, at_work.format("and state = 1"), FEW, f"dead-{turn}")
            ((owner,),) = asked(server, "select distinct owner from react_run.rows where state = 1")
            with workers(server, folder / "dead", 1, jobs=4 * FEW):
                until(server, "select count(*) = 2 from react_run.workers where beat > now() - interval '2 seconds'")
                victim.kill()
                died = time.monotonic()
                gone = "select count(*) = 0 from react_run.rows where state = 1 and owner = %s"
                delays.append(until(server, gone, owner) - died)
                until(server, "select ok + unsuccessful = total from react_run.batches where name = %s", f"dead-{turn}")
    report(
        "batch_dead_worker_s", longest=round(max(delays), 1), shortest=round(min(delays), 1), target=LEASE + 2, goes=3
    )


async def timed(batch: Batch) -> float:
    """Seconds from when the first rows are claimed to the last result: DBOS takes up to a second to see a new queue."""
    await batch.begin()
    assert batch.engine is not None  # begin() made it
    started, take = 0.0, batch.engine.take

    async def watched(worker: str, n: int) -> Sequence[Claim]:
        nonlocal started
        began = time.perf_counter()
        if (claims := await take(worker, n)) and not started:
            started = began
        return claims

    batch.engine.take = watched  # type: ignore[method-assign]  # as if it were a method
    ended = 0.0
    async for result in batch:
        ended = time.perf_counter()
        assert result.status == "ok"
    return ended - started


def journals_beside_local(server: Server, folder: Path, number: int = 80, width: int = WIDTH) -> None:
    """Compare a batch with journals in the database to one with journals in files."""
    replies = [
        f"    - {{delay: 0.05, tool_calls: [{{name: change, arguments: {{number: {n}}}}}]}}" for n in range(ROUNDS)
    ]
    text = WORKING + "\n".join([*replies, "    - {delay: 0.05, text: done}"]) + "\n"
    agent = agent_file(folder / "journals", text)
    times: dict[str, list[float]] = {"local": [], "postgres": []}

    async def local(name: str) -> float:
        queue = open_queue(Home(folder / name), agent, Terms())
        return await timed(Batch(agent, rows(number), engine=queue, concurrency=width))

    async def database(name: str) -> float:
        engine, _ = await begun(server.url, name, agent, Terms(), jobs=width)
        return await timed(Batch(agent, rows(number), engine=engine, concurrency=width))

    for turn in range(4):
        times["local"].append(asyncio.run(local(f"local-{turn}")))
        times["postgres"].append(asyncio.run(database(f"postgres-{turn}")))
    shares = [one / other for one, other in zip(times["postgres"], times["local"], strict=True)][
        1:
    ]  # the first warms up
    figures = {where: round(min(taken[1:]), 2) for where, taken in times.items()}
    report(
        "batch_journals_in_postgres_s",
        rows=number,
        **figures,
        times=round(median(shares), 2),
        target=1.3,
    )


def main(wanted: Sequence[str] = ()) -> None:
    """Report everything that this machine has a database for."""
    from tempfile import TemporaryDirectory

    try:
        server = Server()
    except NoServer as reason:
        report("batch_postgres", skipped=str(reason))
        return
    server.end()
    for measure in (enqueueing, journals_beside_local, adding_up, dead_worker):
        if not wanted or measure.__name__ in wanted:
            server = Server()  # none finds what another has left in its queues
            with TemporaryDirectory() as folder:
                try:
                    measure(server, Path(folder))
                finally:
                    server.end()


if __name__ == "__main__":
    main(sys.argv[1:])
