"""CPU seconds of the command line, in fresh processes: start-up, the offline commands, and a hundred files checked."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.measure import report

AGENT = """\
name: measured
model: offline
max_iterations: {number}
toolsets: [math, {{kind: temporal, timezone: {zone}}}]
"""
ZONES = ("UTC", "Europe/Paris", "Asia/Tokyo", "America/Lima")
COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "run_help": ["run", "--help"],
    "completion": ["completion", "bash"],
    "check": ["check", "1.yaml"],
    "list": ["list"],
    "explain": ["explain", "1.yaml"],
    "main_job": ["1.yaml", "15*23"],
    "check_100": ["check", "."],
}


def cpu(folder: Path, arguments: list[str], attempts: int = 5) -> float:
    """CPU seconds of the fastest attempt, because other programs on the machine only add to it."""
    environment = {**os.environ, "REACT_RUN_HOME": str(folder / "home")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    spent = []
    for _ in range(attempts):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "react_run", *arguments]
        subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def first_sign(folder: Path, attempts: int = 5) -> float:
    """Wall seconds until a user at a terminal sees the first sign of progress."""
    import pty  # POSIX only

    taken = []
    for _ in range(attempts):
        ours, theirs = pty.openpty()
        begun = perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "react_run", "1.yaml", "15*23"],
            cwd=folder,
            env={**os.environ, "REACT_RUN_HOME": str(folder / "home"), "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        os.read(ours, 1)
        taken.append(perf_counter() - begun)
        process.wait()
        os.close(ours)
    return min(taken)


def main() -> None:
    """Report each command, and when the first status line appears."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, 101):
            text = AGENT.format(number=number % 50 + 5, zone=ZONES[number % len(ZONES)])
            (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
        figures = {command: round(cpu(folder, arguments), 3) for command, arguments in COMMANDS.items()}
        report("command_line_cpu_s", **figures)
        report("first_status_line_s", wall=round(first_sign(folder), 3), target=0.15)


if __name__ == "__main__":
    main()
