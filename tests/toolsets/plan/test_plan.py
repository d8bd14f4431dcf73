"""The ``plan`` toolset: the list is the model's, and the status line, the trace and the result show it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import Call
from tests.cli.conftest import call as call  # the fixture

from react_run import ReActAgent, RunResult, hookimpl, read_journal, resume
from react_run.cli.progress import Progress, planned
from react_run.cli.screen import Screen
from react_run.journal.replay.replay import replay
from react_run.journal.validation import damage_in
from react_run.journal.view.html import page
from react_run.run import Run
from react_run.secrets import Masker
from react_run.testing import agent_with, calls, says
from react_toolsets.math import MathToolset
from react_toolsets.plan import PlanToolset

ROOT = Path(__file__).parents[3]
STEPS = [{"step": "Find it", "status": "done"}, {"step": "Count\nit", "status": "doing"}, {"step": "Say it"}]
PLANNED = [
    {"step": "Find it", "status": "done"},
    {"step": "Count it", "status": "doing"},
    {"step": "Say it", "status": "open"},
]


def agent(*requests: Any, plugins: tuple[object, ...] = (), **options: Any) -> ReActAgent:
    replies = [*(calls(request) for request in requests), calls(("calculate", {"expression": "1+1"})), says("2")]
    return agent_with(replies, toolsets=[PlanToolset(**options), MathToolset()], plugins=plugins)


def run(*requests: Any, **options: Any) -> RunResult:
    return agent(*requests, **options).run_sync("go")


def test_the_plan_is_in_the_result() -> None:
    result = run(("plan", {"steps": STEPS}))
    assert result.plan == PLANNED
    assert result.to_dict()["plan"] == PLANNED
    assert result.steps[0].observation == "1. [x] Find it\n2. [>] Count it\n3. [ ] Say it\n(1 of 3 done)"
    assert result.success


def test_a_run_without_a_plan_says_nothing_of_one() -> None:
    assert "plan" not in run().to_dict()


def test_what_is_sent_replaces_what_was_there_and_can_be_read() -> None:
    result = run(("plan", {"steps": STEPS}), ("plan", {"steps": [{"step": "Rest"}]}), ("plan", {}))
    assert result.plan == [{"step": "Rest", "status": "open"}]
    assert result.steps[2].observation == "1. [ ] Rest\n(0 of 1 done)"


def test_a_plan_is_no_evidence() -> None:
    result = agent_with([calls(("plan", {"steps": STEPS})), says("done")], toolsets=[PlanToolset()]).run_sync("go")
    assert result.success


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"step": " "}], "step"),
        ([{"step": "a", "status": "later"}], 'must be one of "open", "doing", "done"'),
        ([{"step": "a", "who": "me"}], "who"),
        ([{"step": "a"}] * 3, "a plan has at most 2 steps, and this one has 3"),
    ],
)
def test_a_wrong_plan_is_a_failed_call(steps: list[dict[str, str]], said: str) -> None:
    result = run(("plan", {"steps": steps}), ("plan", {"steps": [{"step": "a"}]}), steps=2)
    assert said in result.steps[0].observation
    assert result.plan == [{"step": "a", "status": "open"}]


def test_the_status_line_shows_the_step_that_is_done_now() -> None:
    seen: list[str] = []

    class Looks:
        @hookimpl
        def react_iteration_finished(self, run: Run) -> None:
            progress.run = run
            seen.append(progress.status(1.0))

    progress = Progress(Screen(), Masker(["secret-step"]))
    agent(("plan", {"steps": [*STEPS[1:], {"step": "secret-step"}]}), plugins=(Looks(),)).run_sync("go")
    assert seen[0] == "iteration 1/10 · plan 0/3: Count it · 1.0 s"


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        ([{"step": "a", "status": "done"}], "plan 1/1"),
        ([{"step": "a", "status": "open"}, {"step": "b", "status": "doing"}], "plan 0/2: b"),
        ([{"step": "a", "status": "done"}, {"step": "b", "status": "open"}], "plan 1/2: b"),
    ],
)
def test_a_plan_in_one_line(plan: list[dict[str, str]], line: str) -> None:
    assert planned(plan) == line


@pytest.mark.parametrize("tools", ["recorded", "live"])
def test_a_run_with_a_plan_replays(tmp_path: Path, tools: Any) -> None:
    path, built = tmp_path / "run.jsonl", agent(("plan", {"steps": STEPS}))
    asyncio.run(built.replace(journal=path).run("go"))
    assert damage_in(path) == ""
    done = asyncio.run(replay(read_journal(path), built, tools=tools))
    assert done.result is not None
    assert done.result.plan == PLANNED


def test_a_resumed_run_has_its_plan(tmp_path: Path) -> None:
    path, built = tmp_path / "run.jsonl", agent(("plan", {"steps": STEPS}))
    asyncio.run(built.replace(journal=path).run("go"))
    lines = path.read_bytes().splitlines(keepends=True)
    second = [n for n, line in enumerate(lines) if json.loads(line)["type"] == "model_request"][1]
    path.write_bytes(b"".join(lines[: second + 1]))
    assert asyncio.run(resume(path, built)).plan == PLANNED


def test_the_agent_that_plans_runs_offline_and_its_trace_shows_the_plan(call: Call) -> None:
    file = str(ROOT / "agents" / "planner.yaml")
    status, out, err = call(file, "Plan the party. I am allergic to nuts.", "--record", "run.jsonl", "--json")
    assert (status, [step["status"] for step in json.loads(out)["plan"]]) == (0, ["done", "done", "doing"]), err
    _, trace, _ = call("trace", "run.jsonl")
    assert "▸ Write the menu" in trace
    assert "▸ Write the menu" in page(read_journal("run.jsonl"))
    status, _, err = call("replay", "run.jsonl", "--tools", "recorded")
    assert status == 0, err
    _, out, _ = call("runs", "show", "run.jsonl", "--json")
    assert json.loads(out)["answer"].startswith("The menu")
