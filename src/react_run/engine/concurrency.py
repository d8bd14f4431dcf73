"""Runs jobs concurrently, and gathers the results in request order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from react_run.support.tasks import begun, cancellations, first_turn

T = TypeVar("T")


async def gather_ordered(jobs: Sequence[Callable[[], Awaitable[T]]], limit: int) -> list[T]:
    """Run ``jobs`` concurrently, at most ``limit`` at once, starting in order; results in order.

    Every job finishes even when one raises; then the first exception in order is raised. Cancellation cancels all jobs,
    waits for them and propagates.
    """
    results: list[Any] = [None] * len(jobs)
    errors: dict[int, BaseException] = {}
    left = deque(range(len(jobs)))

    async def worker() -> None:
        while left:
            index = left.popleft()
            try:
                results[index] = await jobs[index]()
            except BaseException as error:  # raised below, in request order
                errors[index] = error
            if cancellations():  # everything is cancelled, however the job reacted: no other job may start
                return

    tasks: list[asyncio.Task[None]] = []
    try:
        while left and len(tasks) < limit:  # one does all jobs that never wait; when it waits, twice as many go on
            more = min(max(1, len(tasks)), limit - len(tasks), len(left))
            tasks.extend([begun(worker()) for _ in range(more)])
            await first_turn()
        if not all(task.done() for task in tasks):
            await asyncio.wait(tasks)
    except BaseException:  # cancellation, as a rule
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    for task in tasks:
        task.result()  # if another task was cancelled, its jobs were not done
    if errors:
        raise errors[min(errors)]
    return results
