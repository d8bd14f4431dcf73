"""A clock that jumps whenever somebody looks at it: runs, caches and resumed runs do not care."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from react_run import ReActAgent, read_journal, tool
from react_run.journal.replay.resume import resume
from react_run.journal.view.html import page
from react_run.testing import agent_with, calls

SEEDS = 50
YEARS = 10 * 365 * 24 * 3600.0


class Clock:
    """Shows another time of twenty years at each look."""

    def __init__(self, seed: int, now: Callable[[], float]) -> None:
        self.chance, self.now, self.looks = random.Random(seed), now, 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now() + self.chance.uniform(-YEARS, YEARS)


def jumps(seed: int, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock on the wall, for all of our code, however it got hold of it."""
    real = time.time
    clock = Clock(seed, real)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("react_run", "react_plugins", "react_toolsets"):
            for attribute, value in list(vars(module).items()):
                if value is real:
                    monkeypatch.setattr(module, attribute, clock)
    monkeypatch.setattr(time, "time", clock)
    return clock


def agent(done: list[int], folder: Path) -> ReActAgent:
    @tool(read_only=True)
    def look(x: int) -> str:
        """Look."""
        return f"seen {x}"

    @tool(timeout=60)
    async def write(x: int) -> str:
        """Write."""
        await asyncio.sleep(0)
        done.append(x)
        return f"written {x}"

    replies: list[object] = [
        calls(("look", {"x": 1}), ("write", {"x": 1})),
        {"error": {"status": 503, "message": "busy"}},
        calls(("write", {"x": 2}), ("look", {"x": 1})),
        "done",
    ]
    plugins = [
        {"kind": "cache", "path": str(folder / "cache.db"), "ttl": 60},
        {"kind": "model_retries", "first_wait": 0.001},
    ]
    return agent_with(replies, tools=[look, write], run_timeout=60.0, plugins=plugins)


@pytest.mark.slow
def test_runs_and_resumed_runs_do_not_mind_a_clock_that_jumps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    looks = 0
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with monkeypatch.context() as patched:
            clock = jumps(seed, patched)
            journal, done = folder / "run.jsonl", list[int]()
            result = agent(done, folder).replace(journal=journal).run_sync("go")
            assert (result.answer, result.success, done) == ("done", True, [1, 2]), seed
            read = read_journal(journal)
            assert read.stats.seconds >= 0
            page(read)
            lines = journal.read_bytes().splitlines(keepends=True)
            kept = clock.chance.randrange(2, len(lines) - 1)
            journal.write_bytes(b"".join(lines[:kept]))
            again = list[int]()
            resumed = asyncio.run(resume(journal, agent(again, folder)))
            assert resumed.answer == "done", seed
            assert len(again) <= 2
            assert read_journal(journal).footer is not None
            looks += clock.looks
    assert looks > SEEDS
    record_property("faults", looks)
