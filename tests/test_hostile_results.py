"""Hostile results: whatever a tool returns or does, the run goes on and nobody is harmed (T1-T4)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import react_run, write
from tests.hostile_results import Done, Json, check, run_case

from react_run import Tool

LINES = (Path(__file__).parent / "cases" / "results_hostile.jsonl").read_text("utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]
ENDING = [case for case in CASES if "propagates" in case["expect"]]
OF_THE_PROCESS = [case for case in CASES if case.get("own_process")]
USUAL = [case for case in CASES if case not in ENDING and case not in OF_THE_PROCESS]


AGENT = """\
model: {kind: scripted, replies: [{tool_calls: [{name: t, arguments: {}}]}, done]}
toolsets: [{kind: functions, path: hostile.py}]
"""


def source_of(case: Json) -> str:
    """The function of a case."""
    body = f"return {case['make']}" if case["how"] == "return" else case["make"]
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"import asyncio, os, sys, time\n\n\ndef t(args: dict = {{}}) -> object:\n    'Be hostile.'\n{lines}\n"


def tool_of(case: Json) -> Tool:
    scope: dict[str, Any] = {}
    exec(source_of(case), scope)
    patience = 1.0 if "within_s" in case["expect"] else 60.0  # a busy machine takes long to make a million lines
    return Tool.from_function(scope["t"], name="t", timeout=patience)


@pytest.fixture
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_in_a_directory_of_its_own")
@pytest.mark.parametrize("case", USUAL, ids=lambda case: case["name"])
def test_hostile_results_do_no_harm(case: Json) -> None:
    tool, started = tool_of(case), time.perf_counter()
    found = run_case(case, tool)
    done = Done(case=case, tool=tool, seconds=time.perf_counter() - started, **found)
    assert done.result is not None, done.raised
    failed = any(step.failed for step in done.result.steps)
    assert (done.result.answer, done.result.success, done.result.iterations) == ("done", not failed, 2)  # F6
    assert done.text.strip()
    assert len(done.text.encode()) <= 32_768  # T4: the ceiling, and what is said about it
    check(done)


@pytest.mark.parametrize("case", OF_THE_PROCESS, ids=lambda case: case["name"])
def test_what_would_harm_this_process_harms_another(case: Json) -> None:
    code = (
        f"{source_of(case)}\n\nimport json\nfrom react_run.testing import calls, run_agent, says\n"
        "result = run_agent([calls(('t', {})), says('done')], tools=[t])\n"
        "os.write(2, json.dumps(result.to_dict()).encode())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    check(Done(case=case, data=json.loads(done.stderr)))


@pytest.mark.parametrize("case", ENDING, ids=lambda case: case["name"])
def test_what_a_person_interrupts_ends(case: Json, tmp_path: Path) -> None:  # T1
    write(tmp_path, source_of(case), "hostile.py")
    write(tmp_path, AGENT)
    status = react_run(tmp_path, "agent.yaml", "go", "--trust").returncode
    check(Done(case=case, exit_status=status, **run_case(case, tool_of(case))))
