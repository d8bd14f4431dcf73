"""The three measures: an iteration's cost, fifty slow calls in one reply, and the import."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Callable

from benchmarks import fan_out
from benchmarks.floor import BareModel, bare_run
from benchmarks.measure import interleaved, report
from benchmarks.peers.contenders import OURS, Contender, forms
from benchmarks.peers.script import Script, in_a_loop, plain_add

SLOW = 0.005
"""CPU seconds of an iteration at K = 100 from which K = 300 is left out."""
AT_A_GO = 100
"""Iterations that are timed together at least: in less, what is measured is how cold the others left the caches."""


def floor(iterations: int) -> Callable[[], None]:
    """The same work by hand. Its model asks for one sum again and again, so the script has no part in it."""
    script = Script(0)
    run = in_a_loop(lambda: bare_run(BareModel(iterations), {"add": plain_add(script)}))

    def work() -> None:
        script.start()
        answer = run()
        assert answer == "done", answer
        assert script.sums == [3] * iterations, script.sums

    return work


def times(work: Callable[[], object], number: int) -> Callable[[], None]:
    """``work``, again and again."""

    def repeated() -> None:
        for _ in range(number):
            work()

    return repeated


def iteration_costs(iterations: int, contenders: dict[str, Contender], repeat: int) -> dict[str, float]:
    """Report CPU microseconds per iteration, and ratios to the floor and to ours; return CPU seconds per iteration."""
    works: dict[str, Callable[[], object]] = {"floor": floor(iterations)}
    works |= {name: it.work(Script(iterations, plain=plain)) for name, it, plain in forms(contenders)}
    runs = max(1, AT_A_GO // iterations)
    works = {name: times(work, runs) for name, work in works.items()}
    gc.collect()
    gc.freeze()  # what one of them has imported is not a burden to the others
    per_iteration = {name: seconds / iterations / runs for name, seconds in interleaved(works, repeat).items()}
    report(
        "peers_iteration_cpu_us",
        iterations=iterations,
        **{name: round(seconds * 1e6, 1) for name, seconds in per_iteration.items()},
        over_floor={name: round(seconds / per_iteration["floor"], 1) for name, seconds in per_iteration.items()},
        over_safe={name: round(seconds / per_iteration["safe"], 2) for name, seconds in per_iteration.items()},
    )
    return per_iteration


def growth(peers: dict[str, Contender], repeat: int) -> None:
    """An iteration's cost at K = 10, 100 and, where that is affordable, 300."""
    iteration_costs(10, OURS | peers, repeat)
    per_iteration = iteration_costs(100, OURS | peers, repeat)
    quick = {name: peer for name, peer in peers.items() if per_iteration[name] < SLOW}
    for name in peers:
        if name not in quick:
            report(
                "peers_iteration_cpu_us",
                iterations=300,
                peer=name,
                skipped=f"over {SLOW * 1000:.0f} ms per iteration at 100",
            )
    iteration_costs(300, OURS | quick, max(3, repeat // 3))


def fan_outs(peers: dict[str, Contender]) -> None:
    """Report wall seconds of fifty calls of 100 ms in one reply: of a plain function, and of a coroutine function."""
    for plain in (True, False):
        works: dict[str, Callable[[], object]] = {"floor": lambda: asyncio.run(fan_out.floor())}
        for name, contender in {"safe": OURS["safe"], **peers}.items():
            if plain or contender.awaits:
                works[name] = contender.work(Script(1, width=50, seconds=0.1, plain=plain))
            else:
                report("peers_fan_out_50_calls_s", tool="async", peer=name, skipped="takes no coroutine functions")
        taken = {name: round(fan_out.wall(work), 3) for name, work in works.items()}
        report("peers_fan_out_50_calls_s", tool="plain" if plain else "async", **taken)


def imports(peers: dict[str, Contender], repeat: int = 5) -> None:
    """Report CPU seconds of a process that imports what an agent is made of, Python's own start included."""
    statements = {
        "python": "pass",
        "pydantic": "import asyncio; from pydantic import BaseModel",
        "ours": OURS["safe"].statement,
    }
    statements |= {name: peer.statement for name, peer in peers.items()}
    taken: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(repeat + 1):
        for name, statement in statements.items():
            taken[name].append(import_seconds(statement))
    # The first may have had to compile.
    report("peers_import_cpu_s", **{name: round(min(seconds[1:]), 3) for name, seconds in taken.items()})


def import_seconds(statement: str) -> float:
    """CPU seconds of a fresh process, which may keep its bytecode."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    program = f"{statement}\nimport time; print(time.process_time())"
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
