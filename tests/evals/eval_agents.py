"""Agents and cases for evaluations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from react_run import ReActAgent, ScoredRun, tool
from react_run.evals.cases import Case
from react_run.evals.samples import Sample, read_samples
from react_run.models.scripted import ScriptedModel
from react_run.results import RunResult
from react_run.testing import Functions

USED = {"input_tokens": 100, "output_tokens": 10, "cost": 0.01}
AGENT = """\
name: sums
model:
  kind: scripted
  replies:
    - {tool_calls: [{name: calculate, arguments: {expression: "15*23"}}], usage: {cost: 0.01, input_tokens: 9}}
    - {text: "345", usage: {cost: 0.01, input_tokens: 9, output_tokens: 1}}
toolsets: [math]
"""
CASES = """\
cases:
  - {name: right, prompt: "15*23", expected: 345, tags: easy}
  - {name: wrong, prompt: "15*24", expected: 360, tags: hard}
  - {name: used, prompt: "15*23 please", scorers: [{kind: tools_used, tools: [calculate]}]}
"""


@tool(read_only=True)
def look(what: str) -> str:
    """Look something up."""
    return what.upper()


def answering(reply: Any, **config: Any) -> ReActAgent:
    """An agent whose model answers with ``reply``, which may be a function of the request."""
    return ReActAgent(
        {"plugins": [{"kind": "model_retries", "attempts": 1}], **config},
        model=ScriptedModel(replies=[reply]),
        toolsets=[Functions(functions=[look])],
    )


def case(name: str = "a case", prompt: str = "ask", **keys: Any) -> Case:
    return Case.model_validate({"name": name, "prompt": prompt, **keys})


def scored(result: RunResult, expected: object = None, **keys: Any) -> ScoredRun:
    """The run of a case, for a scorer."""
    return ScoredRun(name="a case", prompt="ask", expected=expected, result=result, agent=answering("x"), **keys)


def outcomes(directory: Path) -> list[str]:
    """What became of each run, in order."""
    return [sample.outcome for sample in read_samples(directory)]


def lasting(sample: Sample) -> dict[str, Any]:
    """What must be the same in another sitting: all but times and attempts."""
    data = json.loads(sample.line())
    return {key: value for key, value in data.items() if key not in ("seconds", "attempts", "run_id")}
