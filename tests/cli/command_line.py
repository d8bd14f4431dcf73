"""Running the command line as its users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Protocol

import click

from react_run.cli import runs, trace

SCRIPTED = """\
name: scripted
model:
  kind: scripted
  replies:
    - text: Let me see.
      tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]
      usage: {input_tokens: 100, output_tokens: 10, cost: 0.01}
    - {text: The answer is 42., usage: {input_tokens: 150, output_tokens: 8, cost: 0.02}}
toolsets: [math]
"""
ENDLESS = """\
model: {kind: scripted, replies: [{tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}]}
toolsets: [math]
failure_handling: legacy
"""
SLOW = "model: {kind: scripted, replies: [{delay: 30, text: late}]}\n"


class Call(Protocol):
    """Calls the command line in this process."""

    def __call__(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        """The exit status, what went to stdout, and what went to stderr."""


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment of a user who has set nothing, with a home of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH") if name in os.environ}
    return {**kept, "REACT_RUN_HOME": str(home), "PYTHONWARNINGS": "error", **extra}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "react_run", *arguments]


def views() -> list[tuple[str, ...]]:
    """Every command that shows a journal, alone and with each of its options and formats; ``-`` is where files go."""
    commands = {("trace",): trace.command, ("runs", "show"): runs.show_run, ("runs", "export"): runs.export_run}
    found: list[tuple[str, ...]] = []
    for words, shows in commands.items():
        found.append(words)
        for option in shows.params:
            if not isinstance(option, click.Option) or option.name in ("last", "engine", "output", "opened"):
                continue  # which run it is, or where the document goes
            values = option.type.choices if isinstance(option.type, click.Choice) else ["-"]
            found += [(*words, option.opts[0], *(() if option.is_flag else (value,))) for value in values]
    return found


def react_run(
    folder: Path, *arguments: str, stdin: str | int | None = subprocess.DEVNULL, **extra: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line in ``folder``; no run may show a traceback."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(folder / "home", **extra),
        input=stdin if isinstance(stdin, str) else None,
        stdin=None if isinstance(stdin, str) else stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def write(folder: Path, text: str, name: str = "agent.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
