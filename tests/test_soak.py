"""Twenty thousand turns: memory, descriptors, threads and tasks stay flat."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from react_run import Message, ReActAgent, ToolError, tool
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls, says

TURNS = 20_000
SAMPLES = 20
PER_10_000 = 1024 * 1024
"""Bytes by which resident memory may grow per 10 000 turns."""


@tool(inline=True)
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


@tool
async def wait() -> str:
    """Suspend."""
    await asyncio.sleep(0)
    return "waited"


@tool(repeatable=True, inline=True)
def fail() -> str:
    """Fail."""
    raise ToolError("no", code="no")


TURN: list[object] = [
    calls(("add", {"a": 1, "b": 2}), ("shout", {"text": "hello"}), ("wait", {})),
    calls(("add", {"a": 1, "b": 2}), ("fail", {}), ("nowhere", {})),
    calls(("add", "{broken"), ("add", {"a": 2, "b": 2})),
]
TURNS_OF = {"safe": [*TURN, says(""), says("done")], "legacy": [*TURN, says("done")]}


def resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def descriptors() -> int:
    return psutil.Process().num_fds()


def slope(samples: Sequence[int]) -> float:
    """The growth per sample of a straight line through ``samples``, by least squares."""
    middle = (len(samples) - 1) / 2
    mean = sum(samples) / len(samples)
    above = sum((x - middle) * (y - mean) for x, y in enumerate(samples))
    return above / sum((x - middle) ** 2 for x in range(len(samples)))


@pytest.mark.slow
@pytest.mark.parametrize("failure_handling", TURNS_OF)
def test_twenty_thousand_turns_leave_nothing_behind(
    failure_handling: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    record_property("faults", TURNS)

    async def scenario() -> list[tuple[int, int, int, int]]:
        tools = Functions(functions=[add, shout, wait, fail])
        model = ScriptedModel(replies=TURNS_OF[failure_handling], keep_requests=10)
        agent = ReActAgent({"failure_handling": failure_handling}, model=model, toolsets=[tools])
        samples = []
        earlier: Sequence[Message] = ()
        for turn in range(TURNS + TURNS // SAMPLES):  # the first sample is warm-up
            result = await agent.run("go", messages=earlier if turn % 3 else ())
            assert "done" in (result.answer, result.unverified_answer)  # set aside while a failure stands (F5)
            earlier = result.messages[-20:] if turn % 3 else ()
            if turn % (TURNS // SAMPLES) == 0:
                samples.append((resident(), descriptors(), threading.active_count(), len(asyncio.all_tasks())))
        return samples[1:]

    samples = asyncio.run(scenario())
    memory, open_, threads, tasks = zip(*samples, strict=True)
    assert slope(memory) * SAMPLES * 10_000 / TURNS < PER_10_000
    assert max(open_) == min(open_)
    assert max(threads) - min(threads) <= 1
    assert set(tasks) == {1}
