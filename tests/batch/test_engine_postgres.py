"""The engine on PostgreSQL against a model of it: random workers take, finish, give back, die, and come back.

What hands out rows is played here, as it is documented: each row goes to one process, to another when that one is held
to be gone, and it may be handed to the same one again. The fault tests have the real one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.batch.test_engine import result_for, rows
from tests.postgres import Server

from react_run.batch import Claim
from react_run.batch.offers import Key
from react_run.batch.postgres import BatchRecord, PostgresEngine

pytestmark = pytest.mark.slow


class Hands:
    """Hands out rows: who has which, and which are over."""

    executor = ""

    def __init__(self) -> None:
        self.rows: dict[Key, str | None] = {}

    def queue_for(self, batch: str, jobs: int) -> None:
        """There is one queue."""

    async def enqueue(self, connection: Any, version: str, batch: str, positions: Sequence[int]) -> None:
        for position in positions:
            self.rows.setdefault((batch, position, 0), None)

    def over(self, key: Key, name: str, done: Future[None]) -> None:
        if self.rows.get(key) == name:  # what another says that was held to be gone does not count
            del self.rows[key]

    def offer(self, process: Process, most: int) -> None:
        """Hand rows that nobody has to a process."""
        for key in [key for key, who in self.rows.items() if who is None][:most]:
            self.rows[key] = process.name
            done: Future[None] = Future()
            done.add_done_callback(partial(self.over, key, process.name))
            process.engine._offers.add(key, done)

    def take_from(self, name: str) -> None:
        """A process is held to be gone."""
        self.rows |= {key: None for key, who in self.rows.items() if who == name}


class Process:
    """A worker with an engine of its own."""

    def __init__(self, url: str, batch: BatchRecord, hands: Any, number: int) -> None:
        self.engine = PostgresEngine(url, version="1", batch=batch, jobs=1)
        self.engine._dispatch, self.engine.enqueue = hands, hands.enqueue
        self.name = f"worker-{number}"
        self.claims: list[Claim] = []


class Machine(RuleBasedStateMachine):
    """Whatever happens, each row has one result, it is that of the last claim, and no row gets lost."""

    url = ""
    loop: asyncio.AbstractEventLoop

    def __init__(self) -> None:
        super().__init__()
        self.batch = BatchRecord(uuid4().hex, uuid4().hex, "{}", None)
        self.hands = Hands()
        self.processes = [Process(self.url, self.batch, self.hands, number) for number in range(2)]
        self.gone: list[Process] = []
        self.started, self.added, self.said = 2, 0, 0
        self.results: dict[int, str] = {}
        self.last: dict[int, Claim] = {}
        """The claims that hold."""
        for process in self.processes:
            self.ask(process.engine.reach())
        with psycopg.connect(self.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
            statement = "insert into react_run.batches (id, name, agent) values (%s, %s, '{}')"
            connection.execute(statement, (self.batch.id, self.batch.name))
        self.add(0, 3)

    def ask(self, answer: Any) -> Any:
        return self.loop.run_until_complete(answer)

    @rule(who=st.integers(0, 1), number=st.integers(1, 2))
    def add(self, who: int, number: int) -> None:
        assert self.ask(self.processes[who].engine.add(rows(self.added + number))) == number
        self.added += number

    @rule(who=st.integers(0, 1), n=st.integers(1, 3))
    def take(self, who: int, n: int) -> None:
        process = self.processes[who]
        self.hands.offer(process, n)
        self.ask(asyncio.sleep(0))  # what was given back without a wait is there again
        claims: Sequence[Claim] = self.ask(process.engine.take(process.name, n))
        assert not self.results.keys() & {claim.row.index for claim in claims}
        self.last |= {claim.row.index: claim for claim in claims}
        process.claims += claims

    @rule(who=st.integers(0, 1), which=st.integers(0, 9), finishes=st.booleans())
    def end(self, who: int, which: int, finishes: bool) -> None:
        process = self.processes[who]
        if process.claims:
            self.say(process, process.claims[which % len(process.claims)], finishes)

    def say(self, process: Process, claim: Claim, finishes: bool) -> None:
        """A worker hands in a result, or gives the row back: it counts when its claim is the last one."""
        process.claims.remove(claim)
        counts = self.last.get(claim.row.index) is claim
        if finishes:
            self.said += 1
            assert self.ask(process.engine.finish(claim, result_for(claim, str(self.said)))) == counts
            if counts:
                self.results[claim.row.index] = str(self.said)
        else:
            self.ask(process.engine.give_back(claim, 0))
        if counts:
            del self.last[claim.row.index]

    @rule(who=st.integers(0, 1))
    def silent(self, who: int) -> None:
        """It is held to be gone, and goes on: its rows are handed out again, to itself as well."""
        self.hands.take_from(self.processes[who].name)

    @rule(who=st.integers(0, 1))
    def crash(self, who: int) -> None:
        """It is held to be gone; it may only have been asleep."""
        self.gone.append(self.processes[who])
        self.hands.take_from(self.processes[who].name)
        self.processes[who] = Process(self.url, self.batch, self.hands, self.started)
        self.ask(self.processes[who].engine.reach())
        self.started += 1

    @rule(which=st.integers(0, 9), finishes=st.booleans())
    def zombie(self, which: int, finishes: bool) -> None:
        late = [(process, claim) for process in self.gone for claim in process.claims]
        if late:
            self.say(*late[which % len(late)], finishes)

    @invariant()
    def results_are_those_of_the_last_claims(self) -> None:
        found = self.ask(self.processes[0].engine.results(0, 1_000))
        assert {result.index: result.answer for result in found} == self.results
        progress = self.ask(self.processes[0].engine.progress())
        assert (progress.total, progress.done, progress.ok) == (self.added, len(self.results), len(self.results))
        assert progress.cost == pytest.approx(0.01 * len(self.results))

    def teardown(self) -> None:
        """Whatever has happened, a worker that stays finishes all that is left."""
        last, *others = self.processes
        for process in others:
            self.hands.take_from(process.name)
        self.processes, self.gone = [last], [*self.gone, *others]
        for _ in range(4 * self.added + 4):
            self.take(0, 3)
            while last.claims:
                self.say(last, last.claims[0], True)
        assert len(self.results) == self.added, "a row got lost"
        for process in (*self.processes, *self.gone):
            process.engine._dispatch = None
            self.ask(process.engine.close())


def test_workers_and_zombies_never_lose_or_double_a_row(server: Server) -> None:
    Machine.url = server.url
    Machine.loop = asyncio.new_event_loop()
    try:
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=12, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
    finally:
        Machine.loop.close()


def test_a_worker_that_wakes_leaves_others_the_rows_it_was_offered(server: Server) -> None:
    def beat(who: str, when: str) -> None:
        with psycopg.connect(server.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
            connection.execute(
                "insert into react_run.workers values (%s, %s) "
                "on conflict (executor) do update set beat = excluded.beat",
                (who, when),
            )

    async def woken() -> None:
        batch, hands = BatchRecord(uuid4().hex, uuid4().hex, "{}", None), Hands()
        sleeper, other = (Process(server.url, batch, hands, number) for number in range(2))
        for process in (sleeper, other):
            await process.engine.reach()
        async with other.engine.pool.connection() as connection:
            statement = "insert into react_run.batches (id, name, agent) values (%s, %s, '{}')"
            await connection.execute(statement, (batch.id, batch.name))
        await other.engine.add(rows(2))
        hands.offer(sleeper, 2)
        (kept,) = await sleeper.engine.take(sleeper.name, 1)
        beat(sleeper.name, "-infinity")
        hands.take_from(sleeper.name)
        hands.offer(other, 2)
        at_work = await other.engine.take(other.name, 2)
        assert {claim.row.index for claim in at_work} == {0, 1}
        beat(sleeper.name, "infinity")
        beat(other.name, "infinity")
        assert await sleeper.engine.take(sleeper.name, 2) == []
        assert not await sleeper.engine.finish(kept, result_for(kept))
        assert [await other.engine.finish(claim, result_for(claim)) for claim in at_work] == [True, True]
        beat(other.name, "-infinity")  # now it is the other way round, but there is nothing left
        assert await sleeper.engine.take(sleeper.name, 2) == []
        for process in (sleeper, other):
            process.engine._dispatch = None
            await process.engine.close()

    asyncio.run(woken())
