"""The calls of one reply: handled at the same time, then judged in request order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from react_run.engine.concurrency import gather_ordered
from react_run.engine.sensors import sense
from react_run.hooks import ask_all
from react_run.run import Iteration, Run


async def perform(run: Run, iteration: Iteration) -> None:
    """Handle all calls of a reply concurrently (L3); those that are not parallel-safe one at a time, in order (L4)."""
    if len(iteration.calls) == 1:
        return await run.handle(iteration.calls[0])
    jobs: list[Callable[[], Awaitable[object]]] = []
    serial: list[Callable[[], Awaitable[object]]] = []
    for call in iteration.calls:
        job = partial(run.handle, call)
        if call.tool is None or not call.tool.serial:
            jobs.append(job)
        else:
            if not serial:
                jobs.append(partial(gather_ordered, serial, 1))
            serial.append(job)
    await gather_ordered(jobs, run.agent.config.limits.parallel_tools)
    return None


async def judge(run: Run, iteration: Iteration) -> None:
    """Judge an iteration once all its calls are in, in request order: sensors, policies, reasons to stop."""
    hooks = run.hooks
    signals = await sense(run, iteration) if hooks.react_sense else {}
    if hooks.react_settle:
        await ask_all(hooks.react_settle, run, iteration)
    for call, text in signals.items():
        call.append(text)
    for _, (reason, answer) in sorted(iteration.stops.items()):
        run.stop(reason, answer)
