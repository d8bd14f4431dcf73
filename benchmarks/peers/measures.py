"""The three measures: a round's cost, fifty slow calls in one reply, and the import."""

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
"""CPU seconds of a round at K = 100 from which K = 300 is left out."""
AT_A_GO = 100
"""Rounds that are timed together at least: in less, what is measured is how cold the others left the caches."""


def floor(rounds: int) -> Callable[[], None]:
    """The same work by hand. Its model asks for one sum again and again, so the script has no part in it."""
    script = Script(0)
    run = in_a_loop(lambda: bare_run(BareModel(rounds), {"add": plain_add(script)}))

    def work() -> None:
        script.start()
        answer = run()
        assert answer == "done", answer
        assert script.sums == [3] * rounds, script.sums

    return work


def times(work: Callable[[], object], number: int) -> Callable[[], None]:
    """``work``, again and again."""

    def repeated() -> None:
        for _ in range(number):
            work()

    return repeated


def round_costs(rounds: int, contenders: dict[str, Contender], repeat: int) -> dict[str, float]:
    """Report CPU microseconds per round, and what they are to the floor and to ours; return CPU seconds per round."""
    works: dict[str, Callable[[], object]] = {"floor": floor(rounds)}
    works |= {name: it.work(Script(rounds, plain=plain)) for name, it, plain in forms(contenders)}
    runs = max(1, AT_A_GO // rounds)
    works = {name: times(work, runs) for name, work in works.items()}
    gc.collect()
    gc.freeze()  # what one of them has imported is no burden to the others
    per_round = {name: seconds / rounds / runs for name, seconds in interleaved(works, repeat).items()}
    report(
        "peers_round_cpu_us",
        rounds=rounds,
        **{name: round(seconds * 1e6, 1) for name, seconds in per_round.items()},
        over_floor={name: round(seconds / per_round["floor"], 1) for name, seconds in per_round.items()},
        over_safe={name: round(seconds / per_round["safe"], 2) for name, seconds in per_round.items()},
    )
    return per_round


def growth(peers: dict[str, Contender], repeat: int) -> None:
    """A round's cost at K = 10, 100 and, where that is affordable, 300."""
    round_costs(10, OURS | peers, repeat)
    per_round = round_costs(100, OURS | peers, repeat)
    quick = {name: peer for name, peer in peers.items() if per_round[name] < SLOW}
    for name in peers:
        if name not in quick:
            report("peers_round_cpu_us", rounds=300, peer=name, skipped=f"over {SLOW * 1000:.0f} ms per round at 100")
    round_costs(300, OURS | quick, max(3, repeat // 3))


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
