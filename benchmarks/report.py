"""``python -m benchmarks --all``: every benchmark, into ``docs/performance.md`` and ``docs/figures.json``.

Each runs in its own process, so that benchmarks do not affect each other.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import react_run

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
FIGURES = ROOT / "docs" / "figures.json"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
COMMANDS = (
    "iterations",
    "fan_out",
    "scale",
    "large",
    "wrappers",
    "toolsets",
    "journal",
    "openai_client",
    "in_flight",
    "command_line",
    "serve",
    "batch",
    "mcp",
    "peers",
)
LONGEST = 1_800
"""Seconds that one of them may take."""


def figures_of(command: str) -> tuple[list[dict[str, object]], str]:
    """The lines that a benchmark prints, and the problem if it did not finish."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{command}"],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return [], f"it took more than {LONGEST} seconds"
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines, "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it failed"])[-1]


def section(command: str, taken: Mapping[str, Any]) -> str:
    """One benchmark as a table with one row per printed line."""
    rows = []
    for line in taken["figures"]:
        what, *figures = ((name, value) for name, value in line.items() if name != "benchmark" or "measure" not in line)
        said = ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in figures)
        rows.append(f"| {str(what[1]).replace('_', ' ')} | {said} |")
    about = "{day}, react-run {react_run}, Python {python}, {system}".format(**taken)
    about += f", load {taken['load']}." if "load" in taken else "."
    table = "\n| measure | figures |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    problem = f"\nNot run to its end: {taken['problem']}\n" if taken["problem"] else ""
    return f"### `python -m benchmarks.{command}`\n\n{about}\n{table}{problem}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {_shown(one)}" for name, one in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def main(wanted: Sequence[str] = ()) -> int:
    """Run all benchmarks, or those ``wanted``, and write both files; the exit status is 1 if one could not be run.

    Benchmarks that are not run keep their earlier figures and date.
    """
    kept = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    machine = {
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "react_run": react_run.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }
    failed = 0
    for command in wanted or COMMANDS:
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
        lines, problem = figures_of(command)
        kept[command] = {**machine, "load": load, "problem": problem, "figures": lines}
        failed += bool(problem)
        print(f"{command}: {len(lines)} measures{f' ({problem})' if problem else ''}", flush=True)
    write(kept)
    return 1 if failed else 0


def write(kept: Mapping[str, Mapping[str, Any]]) -> None:
    """Write both files: the figures of each benchmark, by its name."""
    FIGURES.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    body = "\n".join(section(command, kept[command]) for command in COMMANDS if command in kept)
    page = PAGE.read_text(encoding="utf-8")
    replaced = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{body}\n{END}", page, flags=re.DOTALL)
    PAGE.write_text(replaced, encoding="utf-8")
