"""``python -m benchmarks.guards``: run the bench and write its tables into docs/guards.md."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time

from benchmarks.guards.bench import run_bench
from benchmarks.guards.report import DOCUMENT, tables, updated


def main() -> int:
    """Run; the exit status says whether everything is as it must be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guards", description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="how often each behaviour runs (default: 3)")
    parser.add_argument("--peers", action="store_true", help="run some of it on other runtimes, and write their table")
    parser.add_argument("--peers-python", default=sys.executable, help="an interpreter that has the other runtimes")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when docs/guards.md would change")
    options = parser.parse_args()
    if options.peers:
        from benchmarks.guards.peers.compare import main as compare

        return compare(options.peers_python)
    logging.disable(logging.CRITICAL)
    started = time.perf_counter()
    report = asyncio.run(run_bench(options.seeds))
    problems = report.problems()
    document = DOCUMENT.read_text(encoding="utf-8")
    made = updated(document, tables(report))
    if not options.check:
        DOCUMENT.write_text(made, encoding="utf-8")
    elif made != document:
        problems.append(f"{DOCUMENT.name} is out of date: run python -m benchmarks.guards")
    for problem in problems:
        print(problem)
    print(f"{len(report.trials)} behaviours, {len(problems)} problems, {time.perf_counter() - started:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
