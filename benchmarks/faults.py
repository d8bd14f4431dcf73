"""Inject faults and count losses: ``python -m benchmarks.faults`` writes ``docs/reliability.md``.

With ``--fence``, runs only the attempts to break out of confinement, and measures its cost.

Each kind of attempt is made with every way of confining programs on this machine; the number of attempts and of those
stopped is printed. Costs are CPU time: starting a confined command compared with an unconfined one, and masking
ordinary texts.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks import reliability
from react_run.secrets import Masker
from react_toolsets.programs import Confinement
from react_toolsets.programs.means import Means, best_means

ROUNDS = 20
KINDS = {
    "sandbox": "tests/toolsets/programs/test_escapes.py",
    "ordinary work": "tests/toolsets/programs/test_ordinary_work.py",
    "own code": "tests/support/test_own_code.py",
    "trust": "tests/config/test_fences.py",
    "foreign journals": "tests/cli/test_foreign_journals.py",
    "approval": "tests/questions/test_display.py",
    "secrets": "tests/secrets/test_masker.py",
    "keys": "tests/models/test_key_hosts.py",
    "patterns of others": "tests/support/test_regex.py",
    "readers": "tests/test_readers.py",
    "damage": "tests/journal/test_validation.py",
}
"""What is tried, and the tests that try it."""
PAGE = Path(__file__).parent.parent / "docs" / "fence.md"
INTRODUCTION = """# What was tried against the fence

[SECURITY.md](../SECURITY.md) says what is promised. Each kind of breach is tried by the tests named here; an attempt
that breaks in fails its test. This page is written by `python -m benchmarks.faults --fence --write`.

"""


def attempts() -> Counter[str]:
    """Attempts and holds per kind, from the tests that are the attempts."""
    counts: Counter[str] = Counter()
    for kind, path in KINDS.items():
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", path],
            capture_output=True,
            text=True,
            check=False,
        )
        for number, word in re.findall(r"(\d+) (passed|failed|error|skipped)", run.stdout):
            counts[f"{kind} {word}"] += int(number)
    return counts


def cpu_of(command: list[str]) -> float:
    """The minimum CPU time of running ``command`` and its child processes, in milliseconds."""
    least = float("inf")
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least * 1_000


def starting() -> dict[str, float]:
    """CPU milliseconds of starting ``true``, unconfined and confined in each available way."""
    best = best_means()
    ways = {"a room": best, "no room": Means(landlock=best.landlock, filtered=best.filtered)}
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as own:
        found = {"unconfined": cpu_of(["/bin/true"])}
        for name, means in ways.items():
            launcher = Confinement(write=[Path(root)], means=means).launcher(Path(own))
            found[name] = cpu_of([*launcher, "/bin/true"])
    return found


def masking() -> dict[str, float]:
    """CPU microseconds of masking ordinary texts of 10,000 characters, with three known secrets."""
    masker = Masker([f"secret-value-{number}-{number:032x}" for number in range(3)])
    line = "The tide gauge at Brest (https://example.org/brest?year=1807) has been read since 1807: 4.21 m.\n"
    texts = {"prose": line.replace("https://example.org/brest?year=1807", "France") * 100, "with addresses": line * 100}
    found = {}
    for name, text in texts.items():
        started = time.process_time()
        for _ in range(200):
            masker.mask(text)
        found[name] = (time.process_time() - started) / 200 * 1e6
    return found


def page(counts: Counter[str]) -> str:
    """The table of attempts for the documentation."""
    lines = [
        f"Confined by {best_means()}.\n",
        "| kind | attempts | held | broke | skipped | tests |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for kind, path in KINDS.items():
        held, broke = counts[f"{kind} passed"], counts[f"{kind} failed"] + counts[f"{kind} error"]
        lines.append(f"| {kind} | {held + broke} | {held} | {broke} | {counts[f'{kind} skipped']} | `{path}` |")
    return INTRODUCTION + "\n".join(lines) + "\n"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fence", action="store_true", help="Only try the fence, and measure it.")
    parser.add_argument("--costs-only", action="store_true", help="Measure, and try nothing.")
    parser.add_argument("--write", action="store_true", help="Write the table of attempts to docs/fence.md.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="Try only the promises that have one of these words.")
    given = parser.parse_args()
    if not given.fence:
        sys.exit(reliability.main(given.words))
    print(f"confined by {best_means()}; {os.cpu_count()} processors; uid {os.getuid()}")
    if not given.costs_only:
        counts = attempts()
        print(f"{'kind':<18}{'attempts':>9}{'held':>7}{'broke':>7}{'skipped':>9}")
        for kind in KINDS:
            held, broke = counts[f"{kind} passed"], counts[f"{kind} failed"] + counts[f"{kind} error"]
            print(f"{kind:<18}{held + broke:>9}{held:>7}{broke:>7}{counts[f'{kind} skipped']:>9}")
        if given.write:
            PAGE.write_text(page(counts), encoding="utf-8")
    costs = starting()
    for name, milliseconds in costs.items():
        print(f"starting a command, {name}: {milliseconds:.1f} ms of CPU")
    for name, microseconds in masking().items():
        print(f"masking 10,000 characters, {name}: {microseconds:.0f} µs of CPU")


if __name__ == "__main__":
    main()
