"""The engine against a model of it: random workers take, beat, finish, give back, die, and come back as zombies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from react_run import ConfigError, JournalBusy
from react_run.batch import Claim, EngineError, Row, RowResult
from react_run.batch.engine import Terms
from react_run.batch.home import Home
from react_run.batch.sqlite import SqliteEngine
from react_run.journal.files import FileSink


def rows(number: int, start: int = 0) -> list[Row]:
    return [Row(index=index, prompt=f"row {index}") for index in range(start, start + number)]


def result_for(claim: Claim, said: str = "", **fields: Any) -> RowResult:
    return RowResult(index=claim.row.index, status="ok", answer=said, usage={}, cost=0.01, **fields)


class Process:
    """A worker in a process of its own, as far as the engine can tell: own database connection, own locks."""

    def __init__(self, home: Home, number: int) -> None:
        self.engine = SqliteEngine(home, batch="b")
        self.name = f"worker-{number}"
        self.claims: list[Claim] = []

    def die(self) -> None:
        """Everything a process has is closed by the system, and it says no more."""
        self.engine.close_now()


class EngineMachine(RuleBasedStateMachine):
    """Whatever happens, each row has one result, and it is that of the last claim."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.home = Home(Path(self.folder.name) / "batch")
        self.loop = asyncio.new_event_loop()
        self.processes = [Process(self.home, number) for number in range(3)]
        self.started = 3
        self.zombies: list[Claim] = []
        """Claims of processes that are gone."""
        self.added = 0
        self.results: dict[int, str] = {}
        self.said = 0

    def ask(self, answer: Any) -> Any:
        return self.loop.run_until_complete(answer)

    @initialize(number=st.integers(1, 8))
    def begin(self, number: int) -> None:
        self.add(0, number)

    @rule(who=st.integers(0, 2), number=st.integers(1, 3))
    def add(self, who: int, number: int) -> None:
        """All rows again, and some more: what is there already is not added."""
        assert self.ask(self.processes[who].engine.add(rows(self.added + number))) == number
        self.added += number

    @rule(who=st.integers(0, 2), n=st.integers(1, 4))
    def take(self, who: int, n: int) -> None:
        process = self.processes[who]
        claims: Sequence[Claim] = self.ask(process.engine.take(process.name, n))
        assert len(claims) <= n
        held = {claim.row.index for one in self.processes for claim in one.claims}
        for claim in claims:
            assert claim.row.index not in held, "a row that a live worker has was handed out"
            assert claim.row.index not in self.results, "a row that has its result was handed out"
        waiting = self.added - len(held) - len(self.results)
        assert len(claims) == min(n, waiting), "rows were kept back"
        process.claims += claims

    @rule(who=st.integers(0, 2))
    def beat(self, who: int) -> None:
        assert not self.ask(self.processes[who].engine.beat(self.processes[who].name, {})).stopped

    @rule(who=st.integers(0, 2), which=st.integers(0, 20))
    def finish(self, who: int, which: int) -> None:
        process = self.processes[who]
        if process.claims:
            claim = process.claims.pop(which % len(process.claims))
            self.said += 1
            assert self.ask(process.engine.finish(claim, result_for(claim, str(self.said))))
            self.results[claim.row.index] = str(self.said)

    @rule(who=st.integers(0, 2), which=st.integers(0, 20))
    def give_back(self, who: int, which: int) -> None:
        process = self.processes[who]
        if process.claims:
            self.ask(process.engine.give_back(process.claims.pop(which % len(process.claims)), 0))

    @rule(who=st.integers(0, 2))
    def crash(self, who: int) -> None:
        process = self.processes[who]
        self.zombies += process.claims
        process.die()
        self.processes[who] = Process(self.home, self.started)
        self.started += 1

    @rule(who=st.integers(0, 2), which=st.integers(0, 20), finishes=st.booleans())
    def zombie(self, who: int, which: int, finishes: bool) -> None:
        """What a worker says whose rows were taken by others in the meantime does not count."""
        taken = {(claim.row.index, claim.epoch) for one in self.processes for claim in one.claims}
        late = [claim for claim in self.zombies if self._is_superseded(claim, taken)]
        if late:
            claim = late[which % len(late)]
            if finishes:
                assert not self.ask(self.processes[who].engine.finish(claim, result_for(claim, "from the grave")))
            else:
                self.ask(self.processes[who].engine.give_back(claim, 0))

    def _is_superseded(self, claim: Claim, taken: set[tuple[int, int]]) -> bool:
        later = any(index == claim.row.index and epoch > claim.epoch for index, epoch in taken)
        return later or claim.row.index in self.results

    @invariant()
    def results_are_those_of_the_last_claims(self) -> None:
        found = self.ask(self.processes[0].engine.results(0, 1_000))
        assert {result.index: result.answer for result in found} == self.results
        progress = self.ask(self.processes[0].engine.progress())
        assert (progress.total, progress.done, progress.ok) == (self.added, len(self.results), len(self.results))
        assert progress.cost == pytest.approx(0.01 * len(self.results))

    def teardown(self) -> None:
        for process in self.processes:
            process.die()
        self.loop.close()
        self.folder.cleanup()


TestEngine = EngineMachine.TestCase
TestEngine.settings = settings(
    max_examples=20, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "batch")


def asked(answer: Any) -> Any:
    return asyncio.run(answer)


def test_a_claim_is_the_lock_on_the_journal(home: Home) -> None:
    async def claimed() -> None:
        engine = SqliteEngine(home, batch="b")
        await engine.add(rows(1))
        (claim,) = await engine.take("w", 1)
        opened = await engine.open(claim)
        with pytest.raises(JournalBusy):
            FileSink(opened.path)
        assert await engine.finish(claim, result_for(claim))
        FileSink(opened.path).close()
        await engine.close()

    asked(claimed())


def test_the_limit_counts_reserves_but_never_keeps_begun_rows_from_going_on(home: Home) -> None:
    async def limited() -> None:
        engine = SqliteEngine(home, batch="b", terms=Terms(max_cost=0.05, reserve=0.02))
        await engine.add(rows(9))
        claims = await engine.take("w", 9)
        assert len(claims) == 2
        engine.close_now()
        engine = SqliteEngine(home)
        again = await engine.take("other", 9)
        assert [claim.attempts for claim in again] == [2, 2]
        for claim in again:
            await engine.finish(claim, result_for(claim))
        assert len(await engine.take("other", 9)) == 1  # 0.02 spent: one more fits
        await engine.close()

    asked(limited())


def test_a_rate_is_kept_over_the_requests_of_all_workers(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("react_run.batch.sqlite.time", lambda: now)

    async def paced() -> None:
        nonlocal now
        one, other = SqliteEngine(home, batch="b", terms=Terms(rate=60)), SqliteEngine(home)
        await one.add(rows(9))
        claims = [*await one.take("one", 4), *await other.take("other", 4)]
        assert len(claims) == 8  # rows begin at once: it is their requests that wait
        waits = [await (one, other)[index % 2].admit(claim.run_id) for index, claim in enumerate(claims)]
        assert waits == pytest.approx(range(8))
        now += 100
        assert [await one.admit(claims[0].run_id) for _ in range(2)] == pytest.approx([0, 1])
        one.close_now()
        other.close_now()

    asked(paced())


def test_pauses_are_told_to_everybody_until_they_are_over(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("react_run.batch.sqlite.time", lambda: now)

    async def told() -> None:
        nonlocal now
        one, other = SqliteEngine(home, batch="b"), SqliteEngine(home)
        await one.beat("one", {"gpt": 30})
        await one.beat("one", {"gpt": 5})
        now += 10
        assert (await other.beat("other", {})).pauses == {"gpt": 20}
        now += 20
        assert (await other.beat("other", {})).pauses == {}
        await one.cancel()
        assert (await other.beat("other", {})).stopped
        assert await other.take("other", 1) == []
        one.close_now()
        other.close_now()

    asked(told())


def test_a_row_that_was_given_back_waits_its_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("react_run.batch.sqlite.time", lambda: now)

    async def waits() -> None:
        nonlocal now
        engine = SqliteEngine(home, batch="b")
        await engine.add(rows(1))
        (claim,) = await engine.take("w", 1)
        await engine.give_back(claim, 5)
        assert await engine.take("w", 1) == []
        now += 6
        (again,) = await engine.take("w", 1)
        assert (again.attempts, again.failures) == (2, 1)
        await engine.close()

    asked(waits())


def test_a_row_may_be_released_while_the_engine_is_closed(home: Home) -> None:
    """As by a thread that nobody waits for any more, because its row was cancelled."""

    async def closed() -> None:
        engine = SqliteEngine(home, batch="b")
        await engine.add(rows(3))
        claims = await engine.take("w", 3)

        def close_all(close: Callable[[], None]) -> None:
            close()
            for claim in claims:
                engine._release(claim)

        for sink in engine._open.values():
            sink.close = partial(close_all, sink.close)  # type: ignore[method-assign]  # whichever is the first
        engine.close_now()
        for claim in claims:
            FileSink(home.runs / f"{claim.run_id}.jsonl", patience=0).close()

    asked(closed())


def test_a_damaged_queue_is_named(home: Home) -> None:
    home.make()
    home.database.write_bytes(b"no database" * 1_000)
    with pytest.raises(EngineError, match=r"the queue .*queue.db cannot be used"):
        SqliteEngine(home)


def test_an_id_that_is_there_already_names_both_rows(home: Home) -> None:
    engine = SqliteEngine(home, batch="b")
    twice = [Row(index=0, prompt="a", id="x", place="in:1"), Row(index=1, prompt="b", id="x", place="in:2")]
    with pytest.raises(ConfigError, match=r"in:2: the id 'x' is that of in:1, too"):
        asked(engine.add(twice))
    engine.close_now()
