"""How figures are measured: CPU time, floor and candidate interleaved in one process, the minimum of several attempts.

The minimum is the cost of the code; a median also includes other work of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    started = process_time()
    work()
    return process_time() - started


def interleaved(works: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """The minimum CPU seconds of each piece of work, measured in turns after one warm-up."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeat):
        for name, work in works.items():
            times[name].append(cpu(work))
    return {name: min(taken) for name, taken in times.items()}


def report(measure: str, **figures: object) -> None:
    """Print one JSON line."""
    print(json.dumps({"measure": measure, **figures}), flush=True)
