"""What slows a batch down: pauses, fewer rows at once after a 429, and a rate of requests."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

import pytest
from tests.batch.batch_agents import adding

from react_run.batch.engine import Terms
from react_run.batch.gate import Gate
from react_run.batch.home import Home
from react_run.batch.row_run import RowRunner
from react_run.batch.rows import Row
from react_run.batch.sqlite import SqliteEngine
from react_run.batch.worker import Worker


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_429_halves_the_rows_at_once_which_then_grow_by_one_a_minute() -> None:
    clock = Clock()
    gate = Gate(16, clock=clock)
    widths = []
    for _ in range(6):
        gate.narrow("gpt", None)
        gate.narrow("gpt", None)  # what was on its way when the first came back counts once
        widths.append(gate.width)
        clock.now += 1
    assert widths == [8, 4, 2, 1, 1, 1]
    clock.now += 59
    assert gate.width == 2
    clock.now += 120
    assert gate.width == 4
    clock.now += 100_000
    assert gate.width == 16


def test_a_pause_is_told_once_and_kept_by_whoever_learns_of_it() -> None:
    clock = Clock()
    gate, other = Gate(8, clock=clock), Gate(8, clock=clock)
    gate.narrow("gpt", 30.0)
    gate.narrow("gpt", 5.0)
    news = gate.news()
    assert (news, gate.news()) == ({"gpt": 30.0}, {})
    clock.now += 10
    other.learn({"gpt": 20.0})
    assert other.pauses() == {"gpt": 20.0}
    assert other.width == 8  # only who was refused does less
    clock.now += 21
    assert other.pauses() == {}


@pytest.mark.parametrize("replays", [False, True])
def test_the_rate_counts_every_request_and_none_that_the_journal_answers(home: Home, replays: bool) -> None:
    """Two requests for each row; a row that had its first answered before its worker died makes one more."""
    agent = adding()
    times: list[float] = []
    complete = type(agent.model).complete

    async def watched(model: Any, request: Any) -> Any:
        times.append(monotonic())
        return await complete(model, request)

    async def worked() -> None:
        engine = SqliteEngine(home, batch="b", terms=Terms(rate=600))
        await engine.add([Row(index=index, prompt=f"row {index}") for index in range(4)])
        gate = Gate(4)
        runner = RowRunner(agent, plugins=[gate])
        if replays:
            (claim,) = await engine.take("gone", 1)
            await runner.run(claim, await engine.open(claim))
            engine.close_now()  # its result was not handed in
            engine = SqliteEngine(home)
            times.clear()
        await Worker(engine, runner, gate).run()
        assert (await engine.progress()).ok == 4
        await engine.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(agent.model), "complete", watched)
        asyncio.run(worked())
    assert len(times) == (6 if replays else 8)
    assert times[-1] - times[0] >= 0.1 * (len(times) - 1) - 0.02


@pytest.fixture
def home(tmp_path: Any) -> Home:
    return Home(tmp_path / "batch")
