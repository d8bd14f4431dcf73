"""Runs every scenario on every runtime that is installed, and makes the table of docs/guards.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from benchmarks.guards.peers.scenarios import SCENARIOS, Scenario

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "guards.md"
BEGIN, END = "<!-- made by `python -m benchmarks.guards --peers`: do not edit -->", "<!-- end of peers -->"
PATIENCE = 25.0
"""Seconds after which a run counts as one that does not end."""
ENVIRONMENT = {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false", "DO_NOT_TRACK": "1"}
MODES = ("default", "careful")
HANGING = frozenset(scenario.name for scenario in SCENARIOS if "hang" in scenario.tools)
OURS = "react-run"
ORDER = (OURS, "pydantic-ai", "openai-agents", "langchain", "smolagents")

Outcome = Mapping[str, Any]


def words(scenario: Scenario, outcome: Outcome) -> tuple[str, bool]:
    """How a run has ended, in a few words, and whether that is well."""
    if outcome.get("ends"):
        return str(outcome["ends"]), False
    ended_well = outcome["right"] or (scenario.hopeless and not outcome["claims"])
    parts = []
    if outcome["twice"]:
        return "**done twice**", False
    if outcome["huge"]:
        parts.append("10 MB sent on")
    if outcome["error"]:
        parts.append(f"raises {outcome['error']}")
        ended_well = scenario.hopeless
    elif not ended_well and not outcome["answer"].strip():
        parts.append("returns nothing" + (" as a success" if outcome["claims"] else ""))
    elif not ended_well and outcome["claims"]:
        parts.append(scenario.wrong)
    elif not ended_well:
        parts.append("gives up")
    fine = ended_well and not outcome["huge"]
    return ", ".join(["well" if fine else "", *parts]).strip(", ") or "wrong", fine


def run_all(python: str, runtime: str, mode: str) -> dict[str, Outcome]:
    """The outcomes of all scenarios; a process that hangs or ends is started again behind that scenario.

    So is one that has let a thread hang: it would be in the way of what comes next.
    """
    left = [scenario.name for scenario in SCENARIOS]
    outcomes: dict[str, Outcome] = {}
    while left:
        hanging = next((at for at, name in enumerate(left) if name in HANGING), len(left))
        for told in _lines(python, runtime, mode, left[: hanging + 1]):
            if "scenario" in told:
                outcomes[told["scenario"]] = told
            elif "ends" in told:
                outcomes[told["at"] or left[0]] = told
        left = [name for name in left if name not in outcomes]
    return outcomes


def _lines(python: str, runtime: str, mode: str, names: list[str]) -> Iterator[dict[str, Any]]:
    """What a trial says; last, how it ended when that was not by itself."""
    command = [python, "-m", "benchmarks.guards.peers.trial", runtime, mode, *names]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None  # it is a pipe
    lines: Queue[bytes] = Queue()
    Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    at, ends, patience = "", "", 4 * PATIENCE  # importing takes its time
    while True:
        try:
            line = lines.get(timeout=patience)
        except Empty:
            ends = "does not end"
            break
        if not line:
            ends = "**ends the process**"
            break
        told, patience = json.loads(line), PATIENCE
        at = told.get("begins", "") or at
        names = [name for name in names if name != told.get("scenario")]
        yield told
    process.kill()
    process.wait()
    if names:
        yield {"ends": ends, "at": at}


def _read(pipe: IO[bytes], lines: Queue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    lines.put(b"")


def table(versions: Mapping[str, str], outcomes: Mapping[tuple[str, str], Mapping[str, Outcome]]) -> str:
    """The table, in Markdown."""
    columns = [name for name in ORDER if (name, "default") in outcomes]
    heads = [f"{name} {versions[name]}" for name in columns]
    rows = [f"| scenario | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    counts = dict.fromkeys(outcomes, 0)
    for scenario in SCENARIOS:
        cells = []
        for name in columns:
            both = []
            for mode in MODES:
                said, fine = words(scenario, outcomes[name, mode][scenario.name])
                counts[name, mode] += fine
                both.append(said)
            cells.append(both[0] if both[0] == both[1] else " / ".join(both))
        rows.append(f"| {scenario.name} | {' | '.join(cells)} |")
    totals = [" / ".join(f"{counts[name, mode]}" for mode in MODES) for name in columns]
    rows.append(f"| **ended well, of {len(SCENARIOS)}** | {' | '.join(totals)} |")
    return "\n".join(rows)


def main(python: str) -> int:
    """Run everything, print the table, and write it into docs/guards.md."""
    versions: dict[str, str] = {}
    outcomes: dict[tuple[str, str], dict[str, Outcome]] = {}
    for interpreter in dict.fromkeys((sys.executable, python)):
        asked = subprocess.run(
            [interpreter, "-m", "benchmarks.guards.peers.trial"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name, number in json.loads(asked.stdout).items():
            if name in versions:
                continue
            versions[name] = number
            for mode in MODES:
                print(f"{name} {number}, {mode} …", flush=True)
                outcomes[name, mode] = run_all(interpreter, name, mode)
    made = table(versions, outcomes)
    print(made)
    document = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = document.partition(BEGIN)
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0
