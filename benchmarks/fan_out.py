"""Fifty calls of a 100 ms tool in one reply, and many runs of one agent at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

from benchmarks.measure import report
from react_run import ReActAgent, tool
from react_run.testing import agent_with, calls, says


@tool(repeatable=True)
def plain(number: int) -> int:
    """Wait in a plain function."""
    time.sleep(0.1)
    return number


@tool(repeatable=True)
async def waiting(number: int) -> int:
    """Wait in an async function."""
    await asyncio.sleep(0.1)
    return number


@tool(inline=True, repeatable=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def fifty(name: str) -> ReActAgent:
    """An agent that asks for fifty calls of one tool in one reply."""
    reply = calls(*[(name, {"number": number}) for number in range(50)])
    return agent_with([reply, says("done")], tools=[plain, waiting], parallel_tools=50)


def wall(work: Callable[[], object], repeat: int = 5) -> float:
    """The median wall seconds after one warm-up."""
    work()
    taken = []
    for _ in range(repeat):
        started = perf_counter()
        work()
        taken.append(perf_counter() - started)
    return median(taken)


async def floor() -> None:
    """Fifty sleeps, gathered."""
    await asyncio.gather(*(asyncio.sleep(0.1) for _ in range(50)))


def many_runs(count: int, iterations: int = 5) -> dict[str, float]:
    """``count`` concurrent runs of one agent, each of ``iterations`` iterations with a model that takes 50 ms."""
    replies = [{"delay": 0.05, **calls(("add", {"a": number, "b": 1}))} for number in range(iterations)]
    agent = agent_with([*replies, {"delay": 0.05, "text": "done"}], tools=[add])

    async def work() -> None:
        results = await asyncio.gather(*(agent.run("go") for _ in range(count)))
        assert all(result.answer == "done" for result in results)

    asyncio.run(work())
    started, cpu = perf_counter(), process_time()
    asyncio.run(work())
    seconds, used = perf_counter() - started, process_time() - cpu
    return {"wall_s": round(seconds, 3), "cpu_ms_per_run": round(used / count * 1000, 2)}


def main() -> None:
    """Report both kinds of tools against the floor, and 200 and 1000 runs."""
    report(
        "fan_out_50_calls_s",
        floor=round(wall(lambda: asyncio.run(floor())), 4),
        plain=round(wall(lambda: fifty("plain").run_sync("go")), 4),
        waiting=round(wall(lambda: fifty("waiting").run_sync("go")), 4),
    )
    for count in (200, 1000):
        report("concurrent_runs", runs=count, ideal_s=0.3, **many_runs(count))


if __name__ == "__main__":
    main()
