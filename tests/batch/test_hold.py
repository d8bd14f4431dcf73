"""One command at a time runs a batch in a database, wherever it runs; workers ask the queues of their agent alone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
from tests.batch.batch_agents import adding, lines_of
from tests.postgres import Server

from react_run import ConfigError
from react_run.batch import Row
from react_run.batch.catalogue import begun, seen, version_of
from react_run.batch.engine import Terms
from react_run.batch.hold import Hold
from react_run.batch.postgres import PostgresEngine
from react_run.journal.postgres import connect

PATIENCE = 300
SLOW = "model: {kind: scripted, replies: [{text: done, delay: 0.2}]}\n"


@pytest.fixture(autouse=True)
def database(server: Server) -> str:
    """The address of an empty database."""
    with psycopg.connect(plain(server.url), autocommit=True) as connection:
        connection.execute("drop schema if exists react_run cascade")
        connection.execute("drop schema if exists dbos cascade")
    return server.url


def plain(url: str) -> str:
    return url.replace("postgres://", "postgresql://")


def until(holds: Callable[[], bool], what: str) -> None:
    give_up = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < give_up, what
        sleep(0.05)


@contextmanager
def command(folder: Path, url: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The same batch, as on a machine of its own: its own directory, output and data."""
    folder.mkdir(exist_ok=True)
    (folder / "agent.yaml").write_text(SLOW, encoding="utf-8")
    (folder / "rows.txt").write_text("".join(f"row {number}\n" for number in range(60)), encoding="utf-8")
    arguments = ["batch", "agent.yaml", "rows.txt", "-o", "out.jsonl", "--name", "shared", "-j", "4", *more]
    with subprocess.Popen(
        [sys.executable, "-m", "react_run", *arguments, "--engine", url],
        cwd=folder,
        env={**os.environ, "REACT_RUN_HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()


def refused(process: subprocess.Popen[str]) -> str:
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, said
    return said


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--fresh",)])
def test_a_second_command_on_another_machine_is_told_who_has_the_batch(
    database: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(command(tmp_path / "one", database))
        until(lambda: (tmp_path / "one" / "out.jsonl").exists(), "the first command writes")
        second = stack.enter_context(command(tmp_path / "two", database, *more))
        assert f"batch shared is running: process {first.pid} on " in refused(second)
        assert not (tmp_path / "two" / "out.jsonl").exists()
        _, said = first.communicate(timeout=PATIENCE)
        assert first.returncode == 0, said
    assert [line["index"] for line in lines_of(tmp_path / "one" / "out.jsonl")] == list(range(60))


@pytest.mark.slow
def test_another_machine_continues_a_batch_whose_command_was_killed(database: str, tmp_path: Path) -> None:
    out = tmp_path / "one" / "out.jsonl"
    with command(tmp_path / "one", database) as first:
        until(lambda: out.exists() and out.stat().st_size > 0, "the first command writes")
        first.kill()
        first.wait()
    with command(tmp_path / "two", database) as second:  # at once: it waits until the lease ends
        _, said = second.communicate(timeout=PATIENCE)
        assert second.returncode == 0, said
    lines = lines_of(tmp_path / "two" / "out.jsonl")
    assert [line["index"] for line in lines] == list(range(60))
    assert {line["answer"] for line in lines} == {"done"}


@pytest.mark.slow
def test_a_command_that_was_suspended_is_told_who_took_over(database: str, tmp_path: Path) -> None:
    out = tmp_path / "one" / "out.jsonl"
    with ExitStack() as stack:
        first = stack.enter_context(command(tmp_path / "one", database))
        until(lambda: out.exists() and out.stat().st_size > 0, "the first command writes")
        first.send_signal(signal.SIGSTOP)
        until(lambda: asyncio.run(seen(database, "shared"))[0].holder is None, "its lease ends")
        second = stack.enter_context(command(tmp_path / "two", database))
        until(lambda: asyncio.run(seen(database, "shared"))[0].holder is not None, "the second takes over")
        first.send_signal(signal.SIGCONT)
        assert f"process {second.pid} on " in refused(first)
        _, said = second.communicate(timeout=PATIENCE)
        assert second.returncode == 0, said
    assert [line["index"] for line in lines_of(tmp_path / "two" / "out.jsonl")] == list(range(60))


def test_a_name_is_held_until_it_is_released_or_its_lease_ends(database: str) -> None:
    async def held() -> None:
        engine, pool = PostgresEngine(database, version="1"), connect(database)
        await engine.reach()
        await pool.open()
        first, second, third = (Hold(pool, "sums") for _ in range(3))
        await first.take()
        with pytest.raises(ConfigError, match=rf"batch sums is running: process {os.getpid()} on .* has it"):
            await second.take()
        await Hold(pool, "others").take()
        await first.release()
        await second.take()
        async with pool.connection() as connection:  # as if nothing had been heard of it for a minute
            await connection.execute("update react_run.holders set beat = clock_timestamp() - interval '1 minute'")
        await third.take()
        assert second._renewing is not None
        await asyncio.wait_for(second._renewing, PATIENCE)  # it has looked, and found another
        with pytest.raises(ConfigError, match="is running"):
            second.check()
        third.check()
        for hold in (second, third):
            await hold.release()
        await pool.close()
        await engine.close()

    asyncio.run(held())


@pytest.mark.slow
def test_a_worker_asks_only_the_queues_of_its_agent(database: str) -> None:
    agents = {"sums": adding(), "others": adding(max_iterations=3)}

    async def add(name: str) -> str:
        engine, _ = await begun(database, name, agents[name], Terms())
        await engine.begin(f"adds-{name}")
        await engine.add([Row(index=0, prompt="a")])
        await engine.close()
        assert engine.batch is not None
        return engine.batch.id

    async def asks(own: str, other: str) -> None:
        engine = PostgresEngine(database, version=version_of(agents["sums"]))
        await engine.begin("worker")
        try:
            await asyncio.to_thread(until, lambda: f"queue-worker-{own}" in threads(), "it asks its own")
            assert f"queue-worker-{other}" not in threads()
        finally:
            await engine.close()

    def threads() -> set[Any]:
        return {thread.name for thread in threading.enumerate() if thread.is_alive()}

    asyncio.run(asks(*(asyncio.run(add(name)) for name in agents)))
