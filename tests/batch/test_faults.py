"""What is killed at any moment goes on: nothing lost, nothing done twice (the long forms run at night)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.batch.faults import CHANCE, PATIENCE, Field, kill, wait
from tests.batch.proxy import Proxy
from tests.postgres import Server

LONG = bool(os.environ.get("REACT_RUN_LONG_TESTS"))
pytestmark = pytest.mark.slow
at_night = pytest.mark.skipif(not LONG, reason="takes a minute: .ci/nightly runs it")


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Iterator[dict[str, object]]:
    """What was measured, which is printed."""
    found: dict[str, object] = {}
    yield found
    print(json.dumps({"test": request.node.name, **found}))


@pytest.fixture
def fields() -> Iterator[Callable[..., Field]]:
    """Makes batches, whose processes end with the test."""
    with ExitStack() as stack:

        def made(*arguments: Any, **options: Any) -> Field:
            field = Field(*arguments, **options)
            stack.callback(field.end)
            return field

        yield made


def test_the_embedded_engine_survives_kill_at_random_points(
    tmp_path: Path, fields: Callable[..., Field], figures: dict[str, object]
) -> None:
    kills, rows = (200, 2_200) if LONG else (6, 120)
    field = fields(tmp_path, rows, pause=0.01)
    while field.faults < kills and field.written() < rows:
        before = field.effects().total()
        process = field.batch()
        while process.poll() is None and field.effects().total() == before:
            time.sleep(0.01)
        time.sleep(CHANCE.uniform(0, 0.3))
        kill(process)
        field.faults += 1
    wait(field.batch(), field)
    figures.update(field.check(at_work=field.faults * field.jobs))


@at_night
def test_two_processes_of_one_machine_share_the_rows_when_one_is_killed(
    tmp_path: Path, fields: Callable[..., Field], figures: dict[str, object]
) -> None:
    field = fields(tmp_path, 80)
    batch, worker = field.batch(), field.worker()
    field.until_effects(60)
    kill(worker)
    field.faults = 1
    wait(batch, field)
    figures.update(field.check(at_work=field.jobs))


@pytest.fixture
def shared(tmp_path: Path, server: Server, fields: Callable[..., Field]) -> Field:
    """A batch on a database, whose processes share nothing else but the effects."""
    _forget(server)
    return fields(tmp_path, 300 if LONG else 32, engine=server.url, pause=0.1, jobs=4)


def _forget(server: Server) -> None:
    import psycopg

    with psycopg.connect(server.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute("drop schema if exists react_run cascade")
        connection.execute("drop schema if exists dbos cascade")


def test_workers_that_are_killed_at_random_lose_nothing(shared: Field, figures: dict[str, object]) -> None:
    batch = shared.batch()
    others = [shared.worker(HOME_OF_ITS_OWN=f"machine-{index}") for index in range(2)]
    shared.until_effects(8)
    stop = time.monotonic() + (60 if LONG else 6)
    while time.monotonic() < stop and batch.poll() is None:
        time.sleep(CHANCE.uniform(1, 3))
        victim = CHANCE.randrange(len(others))
        kill(others[victim])
        others[victim] = shared.worker(HOME_OF_ITS_OWN=f"machine-{victim}")
        shared.faults += 1
    wait(batch, shared)
    figures.update(shared.check(at_work=shared.faults * shared.jobs))


@at_night
def test_the_process_that_began_a_batch_may_be_killed_too(shared: Field, figures: dict[str, object]) -> None:
    shared.worker(HOME_OF_ITS_OWN="machine")
    for _ in range(3 if LONG else 1):
        before = shared.effects().total()
        batch = shared.batch()
        shared.until_effects(before + 20)
        kill(batch)
        shared.faults += 1
    wait(shared.batch(), shared)
    figures.update(shared.check(at_work=shared.faults * shared.jobs))


def test_a_worker_stopped_beyond_its_lease_wakes_as_nobody(shared: Field, figures: dict[str, object]) -> None:
    batch = shared.batch()
    shared.until_effects(1)
    zombie = shared.worker(HOME_OF_ITS_OWN="machine")
    shared.until_at_work(2)
    zombie.send_signal(signal.SIGSTOP)
    shared.faults = 1
    shared.until_taken_again()
    time.sleep(CHANCE.uniform(0, 3) if LONG else 0)
    zombie.send_signal(signal.SIGCONT)
    wait(batch, shared)
    found = shared.check(at_work=shared.jobs)
    figures.update(found)
    assert found["most_attempts"] >= 2, "the worker had no rows when it was stopped"


@at_night
def test_a_worker_that_is_told_to_end_leaves_its_rows_to_others(shared: Field, figures: dict[str, object]) -> None:
    batch = shared.batch()
    shared.until_effects(1)
    worker = shared.worker(HOME_OF_ITS_OWN="machine")
    shared.until_at_work(2)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0, shared.log()
    wait(batch, shared)
    figures.update(shared.check(at_work=0))


def test_a_database_that_is_restarted_at_once_stops_nothing(
    shared: Field, server: Server, figures: dict[str, object]
) -> None:
    batch = shared.batch()
    shared.worker(HOME_OF_ITS_OWN="machine")
    for _ in range(5 if LONG else 2):
        before = shared.effects().total()
        shared.until_effects(min(before + 20, shared.rows * 2))
        server.restart_at_once()
        shared.faults += 1
    wait(batch, shared)
    figures.update(shared.check(at_work=2 * shared.jobs * shared.faults))


@pytest.fixture
def network(server: Server) -> Iterator[Proxy]:
    """What lies between one worker and the database."""
    proxy = Proxy(server.port)
    yield proxy
    proxy.end()


@at_night
@pytest.mark.parametrize("fault", ["cut", "swallow"])
def test_a_network_that_fails_stops_one_worker_for_a_while(
    shared: Field, network: Proxy, fault: str, figures: dict[str, object]
) -> None:
    through = shared.engine.replace(shared.engine.rpartition(":")[2], f"{network.port}/postgres")
    shared.worker(HOME_OF_ITS_OWN="far", ENGINE=through)
    batch = shared.batch()
    for _ in range(3 if LONG else 1):
        before = shared.effects().total()
        shared.until_effects(min(before + 30, shared.rows * 2))
        getattr(network, fault)()
        shared.faults += 1
        time.sleep(6)
        network.mend()
    wait(batch, shared)
    figures.update(shared.check(at_work=2 * shared.jobs * shared.faults))


@at_night
def test_a_worker_whose_clock_is_an_hour_off_neither_takes_nor_loses_rows(
    shared: Field, figures: dict[str, object]
) -> None:
    slow = shared.worker(HOME_OF_ITS_OWN="slow", CLOCK_IS_OFF_BY="-3600")
    fast = shared.worker(HOME_OF_ITS_OWN="fast", CLOCK_IS_OFF_BY="3600")
    batch = shared.batch()
    shared.until_effects(1)
    for process in (batch, slow, fast):
        shared.until_has_rows(process)
    shared.until_effects(shared.effects().total() + 120)  # several leases long, all of them are at work side by side
    assert shared.asked("select count(*) from react_run.rows where attempts > 1") == 0
    shared.until_has_rows(slow)
    kill(slow)
    shared.faults = 1
    shared.until_taken_again()
    shared.until_has_rows(fast)
    kill(fast)
    shared.faults = 2
    wait(batch, shared)
    again = shared.asked("select count(*) from react_run.rows where attempts > 1")
    assert 1 <= again <= shared.faults * shared.jobs, "rows of workers that were alive were taken"
    figures.update({"again": again, **shared.check(at_work=shared.faults * shared.jobs)})


@at_night
def test_a_worker_whose_disk_is_full_gives_its_rows_to_others(
    shared: Field, tmp_path: Path, figures: dict[str, object]
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no small file system can be mounted here")
    try:
        (small / "nearly all").write_bytes(b"x" * 40_960)
        shared.worker(HOME_OF_ITS_OWN="full", TMPDIR=str(small))
        batch = shared.batch()
        wait(batch, shared)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)
    figures.update(shared.check(at_work=0))
