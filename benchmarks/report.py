"""``python -m benchmarks --all``: every benchmark, into ``docs/performance.md`` and ``docs/figures.json``.

Each runs in a process of its own, so that what one leaves behind does not weigh on the next.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

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
    """The lines that a benchmark prints, and why it could not be run to its end, if so."""
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


def section(command: str, lines: list[dict[str, object]], problem: str) -> str:
    """One benchmark as a table: a row per line that it printed."""
    rows = []
    for line in lines:
        what, *figures = line.items()
        said = ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in figures)
        rows.append(f"| {str(what[1]).replace('_', ' ')} | {said} |")
    head = f"### `python -m benchmarks.{command}`\n\n"
    table = "| measure | figures |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return head + table + (f"\nNot run to its end: {problem}\n" if problem else "")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {_shown(one)}" for name, one in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def main() -> int:
    """Run everything and write both files; the exit status is 1 when something could not be run."""
    found = {}
    for command in COMMANDS:
        found[command] = lines, problem = figures_of(command)
        print(f"{command}: {len(lines)} measures{f' ({problem})' if problem else ''}", flush=True)
    machine = {
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "react_run": react_run.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
    }
    measured = {command: lines for command, (lines, _) in found.items()}
    FIGURES.write_text(json.dumps({**machine, "figures": measured}, indent=1) + "\n", encoding="utf-8")
    intro = "{day}, react-run {react_run}, Python {python}, {system}, {processors} processors.".format(**machine)
    body = "\n".join(
        [f"{intro} The same as data: [figures.json](figures.json).\n", *(section(c, *f) for c, f in found.items())]
    )
    page = PAGE.read_text(encoding="utf-8")
    replaced = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{body}\n{END}", page, flags=re.DOTALL)
    PAGE.write_text(replaced, encoding="utf-8")
    return 1 if any(problem for _, problem in found.values()) else 0
