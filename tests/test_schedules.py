"""Random schedules: whatever order an event loop wakes things in, a run comes out the same."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import pytest

from react_run import ReActAgent, RunResult, tool
from react_run.journal.canonical import canonical_records
from react_run.journal.reading import Journal
from react_run.journal.recorder import Recorder
from react_run.journal.sinks import MemorySink
from react_run.support.threads import busy_threads
from react_run.testing import agent_with, calls

T = TypeVar("T")
SCHEDULES = int(os.environ.get("REACT_RUN_SCHEDULES", "200"))


class Shuffled(asyncio.SelectorEventLoop):
    """Wakes what is ready in an order of chance, the same one for the same seed; threads come when they come."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)

    def _run_once(self) -> None:
        ready: Any = self._ready  # type: ignore[attr-defined]  # the loop's own queue: nothing public reorders it
        handles = [ready.popleft() for _ in range(len(ready))]  # not copied and cleared: threads append meanwhile
        self._chance.shuffle(handles)
        ready.extend(handles)
        super()._run_once()  # type: ignore[misc]  # as above


def driven(seed: int, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What comes of ``work`` under one schedule; nothing of it may be left over."""
    busy = busy_threads()  # other tests leave threads that hang on purpose
    with asyncio.Runner(loop_factory=lambda: Shuffled(seed)) as runner:
        result = runner.run(work())
        assert not asyncio.all_tasks(runner.get_loop())
    assert busy_threads() <= busy
    return result


@tool(read_only=True)
async def wait(x: int) -> str:
    """Wait."""
    for _ in range(x % 4):
        await asyncio.sleep(0)
    return f"waited {x}"


@tool(read_only=True)
def compute(x: int) -> str:
    """Compute, in a thread."""
    return f"computed {x}"


@tool(read_only=False, serial=True)
async def write(x: int) -> str:
    """Write, one after the other."""
    order.append(x)
    await asyncio.sleep(0)
    order.append(x)
    return f"written {x}"


order: list[int] = []
REPLIES = [
    calls(("wait", {"x": 3}), ("compute", {"x": 1}), ("write", {"x": 1}), ("wait", {"x": 6}), ("write", {"x": 2})),
    calls(("compute", {"x": 2}), ("wait", {"x": 3}), ("gone", {})),
    calls(("wait", {"x": 9}), ("wait", {"x": 9}), ("write", {"x": 3})),
    "done",
]


def _agent() -> ReActAgent:
    return agent_with(REPLIES, tools=[wait, compute, write], max_iterations=8)


def _told(result: RunResult) -> list[tuple[str, str]]:
    return [(step.action, step.observation) for step in result.steps]


@pytest.mark.slow
def test_a_run_comes_out_the_same_under_every_schedule(record_property: Callable[[str, object], None]) -> None:
    outcomes, journals = set(), set()
    for seed in range(SCHEDULES):
        sink = MemorySink()
        order.clear()
        result = driven(seed, partial(_agent().replace(journal=Recorder.into(sink)).run, "go"))
        assert order == [1, 1, 2, 2, 3, 3], "calls that are not parallel-safe ran one at a time, in request order"
        outcomes.add((result.answer, result.success, *_told(result)))
        records = sorted(map(str, canonical_records(Journal(records=sink.records))))
        journals.add("\n".join(records))
    record_property("faults", SCHEDULES)
    assert len(outcomes) == 1, outcomes
    assert len(journals) == 1, "the same records, whatever the order in which calls ended"


@pytest.mark.slow
def test_runs_of_one_agent_do_not_mix_under_any_schedule(record_property: Callable[[str, object], None]) -> None:
    agent = _agent()

    async def together() -> list[RunResult]:
        return await asyncio.gather(*(agent.run(f"go {number}") for number in range(6)))

    for seed in range(SCHEDULES // 4):
        results = driven(seed, together)
        assert len({result.run_id for result in results}) == 6
        assert all(_told(result) == _told(results[0]) for result in results)
        assert [result.messages[1].text for result in results] == [f"go {number}" for number in range(6)]
    record_property("faults", SCHEDULES // 4)
