"""Test the promises of reliability: ``python -m benchmarks.faults`` writes ``docs/reliability.md``.

Each promise has tests. A test reports how many faults it injects, if that is not one per case; failed tests count as
lost.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import react_run

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "reliability.md"


@dataclass(frozen=True)
class Promise:
    """A promise to users, the faults injected, and the tests that inject them."""

    what: str
    fault: str
    tests: tuple[str, ...]


PROMISES = (
    Promise(
        "every request to a provider is valid",
        "a strict validator checks each one",
        ("models/test_provider_runs.py", "models/test_wire.py"),
    ),
    Promise(
        "unusual provider replies are parsed or refused",
        "recorded quirks, and mutations of them",
        ("models/test_provider.py", "models/test_provider_sequences.py"),
    ),
    Promise(
        "failed provider requests are retried, within limits",
        "status codes, truncated bodies, stalls, slow streams",
        ("models/test_openai.py", "models/test_transport_errors.py", "models/test_failures.py"),
    ),
    Promise(
        "a fault at any await loses nothing",
        "an exception, a cancellation or a timeout at the N-th suspension, for every N",
        ("test_faults.py",),
    ),
    Promise(
        "a cancelled run says so, leaves nothing behind, and can be resumed from its journal",
        "a cancellation at every await: threads, coroutines, a subagent, streams",
        ("test_cancellation.py",),
    ),
    Promise(
        "the order in which tasks wake does not change a run",
        "event loops that shuffle ready tasks",
        ("test_schedules.py",),
    ),
    Promise(
        "kill -9 and resume: no effect happens twice, and the answer is the same",
        "kills at every record, and at random times",
        ("journal/test_kill.py",),
    ),
    Promise(
        "a journal can be read up to its last complete record",
        "a full disk, a failing fsync",
        ("journal/test_files.py",),
    ),
    Promise(
        "Ctrl-C ends with status 130, no traceback and no child",
        "signals at random times, on pseudo-terminals",
        ("cli/test_ctrl_c.py", "cli/test_interrupts.py", "cli/test_terminal.py"),
    ),
    Promise(
        "a closed output pipe breaks nothing",
        "outputs closed after some bytes, in every format",
        ("cli/test_broken_pipes.py", "cli/test_contract.py"),
    ),
    Promise(
        "a clock that jumps changes nothing",
        "twenty years back and forth whenever the clock is read, in new and resumed runs",
        ("test_clock_jumps.py",),
    ),
    Promise(
        "concurrent runs of one agent do not mix",
        "a thousand concurrent runs, each with its own mark",
        ("test_many_at_once.py", "engine/test_concurrency.py"),
    ),
    Promise(
        "a wrong agent file is refused with the place of the error",
        "wrong files, and correct ones edited at random",
        ("config",),
    ),
    Promise(
        "parsing outside text gives a value or a typed error",
        "texts edited at random",
        ("fuzz",),
    ),
    Promise(
        "pages come from public addresses only",
        "URLs, redirects and DNS answers that lead inside",
        ("toolsets/web/test_ssrf.py",),
    ),
    Promise(
        "file access stays inside its folder",
        "paths, archives, links, and a race with links",
        ("support/files", "toolsets/files"),
    ),
    Promise(
        "secrets stay secret",
        "keys in every form, in every output",
        ("secrets", "journal/test_secrets.py"),
    ),
    Promise(
        "results cannot control a terminal or a run",
        "hostile results",
        ("test_hostile_results.py",),
    ),
    Promise(
        "text cannot widen rights",
        "models that obey every instruction they read",
        ("plugins/test_obedient.py",),
    ),
    Promise(
        "broken plugins and toolsets are named, and the others still work",
        "packages that are broken in every way",
        ("plugins/test_outside.py",),
    ),
    Promise(
        "memory, descriptors and threads stay flat",
        "twenty thousand runs",
        ("test_soak.py",),
    ),
    Promise(
        "a finished run is freed without the garbage collector",
        "runs with the garbage collector off",
        ("engine/test_freed.py",),
    ),
    Promise(
        "context variables reach tools and do not leak",
        "each kind of call",
        ("test_context_variables.py",),
    ),
    Promise(
        "importing has no side effects",
        "an audit hook",
        ("test_contracts.py",),
    ),
    Promise(
        "no row of a batch is lost or done twice",
        "kills, stopped workers, databases that are lost or do not respond, a wrong clock, a full disk",
        ("batch/test_faults.py", "batch/test_engine.py"),
    ),
    Promise(
        "a restarted server still has its runs and questions",
        "kill -9 with runs in flight, restarts with open approvals",
        ("serve/test_process.py", "serve/test_approvals.py"),
    ),
    Promise(
        "weakening a guard fails a test",
        "mutants of the runtime",
        ("test_guard_mutants.py",),
    ),
    Promise(
        "a lock, an fsync or a condition that is taken away is noticed",
        "the source without one of them",
        ("test_mutants.py",),
    ),
)


@dataclass
class Count:
    """The results of the tests of one promise."""

    tests: int = 0
    faults: int = 0
    lost: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def counted(promise: Promise) -> Count:
    """Run the tests of a promise and count."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        paths = [f"tests/{path}" for path in promise.tests]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "junit_family=xunit1",
            f"--junitxml={report}",
            *paths,
        ]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        count = Count()
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            if case.find("skipped") is not None:
                count.skipped.append(name)
                continue
            count.tests += 1
            given = [int(str(one.get("value"))) for one in case.iter("property") if one.get("name") == "faults"]
            count.faults += sum(given) if given else 1
            if case.find("failure") is not None or case.find("error") is not None:
                count.lost.append(name)
        return count


HEAD = """\
# Reliability

What you can rely on, how it is tested, and what was lost. Each line is a set of tests in `tests/`; the
numbers are from {day} (react-run {version}, Python {python}, {system}):

```sh
python -m benchmarks.faults      # writes this page; ten to twenty minutes; WORD… selects lines by their words
```

| promise | injected faults | faults | lost | tests |
|---|---|---:|---:|---|
"""
TAIL = """
{total:,} faults in total. Every night, `.ci/nightly` adds a million texts, a thousand Ctrl-C, thousands of schedules,
and batches that are killed for minutes; and `python -m benchmarks.mutants` takes away every fsync and every lock of the
source, one by one, each with the test that has to fail.{skipped}

See [SECURITY.md](../SECURITY.md) for attacks, and [behaviour.md](behaviour.md) for what a run does.
"""
SKIPPED = "\n\nSkipped this time (`pytest -rs` shows why): {names}."


def page(counts: dict[Promise, Count]) -> str:
    """The report."""
    rows = [
        f"| {promise.what} | {promise.fault} | {count.faults:,} | {len(count.lost)} | "
        f"{', '.join(f'`{path}`' for path in promise.tests)} |"
        for promise, count in counts.items()
    ]
    left_out = sorted({name.partition("[")[0] for count in counts.values() for name in count.skipped})
    head = HEAD.format(
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        version=react_run.__version__,
        python=platform.python_version(),
        system=platform.system(),
    )
    names = ", ".join(f"`{name}`" for name in left_out)
    total = sum(count.faults for count in counts.values())
    return (
        head + "\n".join(rows) + "\n" + TAIL.format(total=total, skipped=SKIPPED.format(names=names) if names else "")
    )


def earlier() -> dict[str, Count]:
    """The rows that the page already has, by promise."""
    counts = {}
    text = REPORT.read_text(encoding="utf-8")
    for what, faults, lost in re.findall(r"^\| ([^|]+) \| [^|]+ \| ([\d,]+) \| (\d+) \|", text, re.MULTILINE):
        counts[what] = Count(faults=int(faults.replace(",", "")), lost=["before"] * int(lost))
    for name in re.findall(r"`(tests\.[\w.]+)`", text.partition("Skipped this time")[2]):
        path = name.removeprefix("tests.").rpartition(".")[0].replace(".", "/")
        for promise in PROMISES:
            if any(path.startswith(test.removesuffix(".py")) for test in promise.tests) and promise.what in counts:
                counts[promise.what].skipped.append(name)
    return counts


def main(words: Sequence[str] = ()) -> int:
    """Run the tests, write the page, and print what was lost.

    Args:
        words: Only promises that contain one of these words are tested; the page keeps its rows for the others.
    """
    known = earlier() if words else {}
    counts = {}
    for promise in PROMISES:
        if promise.what in known and not any(word in promise.what for word in words):
            counts[promise] = known[promise.what]
            continue
        counts[promise] = count = counted(promise)
        print(f"{promise.what}: {count.faults:,} faults, {len(count.lost)} lost", flush=True)
        for name in count.lost:
            print(f"    {name}", flush=True)
    REPORT.write_text(page(counts), encoding="utf-8")
    return 1 if any(count.lost for count in counts.values()) else 0
