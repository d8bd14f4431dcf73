"""The plugin ``metrics``: counters of runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.plugins.traces import Traces, failing

from react_plugins.metrics import Metrics
from react_run import ModelError
from react_run.testing import agent_with, calls, run_agent, says

USAGE = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25}
REPLIES = [
    calls(("read", {"path": "a"}), ("flaky", {}), usage=USAGE),
    says("done", usage=USAGE),
]


def agent_of(metrics: Metrics) -> object:
    flaky, _ = failing(ValueError("no"))
    return agent_with(REPLIES, tools=[*Traces().tools(), flaky], plugins=[metrics])


def without_times(counts: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in counts.items() if not name.endswith("seconds")}


EXPECTED = {
    "cost_usd": 0.5,
    "input_tokens": 20,
    "iterations": 2,
    "model_calls": 2,
    "output_tokens": 10,
    "replies": {"stop": 1, "tool_calls": 1},
    "runs": {"completed": 1},
    "tool_calls": {"flaky": 1, "read": 1},
    "tool_failures": {"execution_error flaky": 1},
}


def test_a_run_is_counted_and_written_as_a_line(tmp_path: Path) -> None:
    metrics = Metrics(path=tmp_path / "metrics.jsonl")
    for _ in range(2):
        flaky, _ = failing(ValueError("no"))
        run_agent(REPLIES, tools=[*Traces().tools(), flaky], plugins=[metrics], failure_handling="legacy")
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert len(lines) == 2
    for line in lines:
        assert {"run", "agent", "run_seconds", "tool_seconds"} <= line.keys()
        assert without_times({k: v for k, v in line.items() if k not in ("run", "agent")}) == EXPECTED
    assert metrics.totals.to_dict()["model_calls"] == 4


def test_prometheus_gets_the_totals(tmp_path: Path) -> None:
    path = tmp_path / "react_run.prom"
    metrics = Metrics(path=path, format="prometheus")
    for _ in range(3):
        run_agent([says("done", usage=USAGE)], plugins=[metrics])
    text = path.read_text()
    assert 'react_run_runs_total{reason="completed"} 3\n' in text
    assert "# TYPE react_run_model_calls_total counter\nreact_run_model_calls_total 3\n" in text
    assert "react_run_cost_usd_total 0.75\n" in text
    assert list(tmp_path.iterdir()) == [path]


def test_labels_are_escaped_for_prometheus(tmp_path: Path) -> None:
    path = tmp_path / "react_run.prom"
    metrics = Metrics(path=path, format="prometheus")
    run_agent([calls(('a"b\\c\nd', {})), says("done")], plugins=[metrics])
    assert r'tool="a\"b\\c\nd"' in path.read_text()


def test_failed_runs_and_unknown_usage_are_counted_as_such() -> None:
    metrics = Metrics()
    run_agent([says("done")], plugins=[metrics])
    with pytest.raises(ModelError):
        run_agent([{"error": {"status": 400}}], plugins=[metrics])
    counts = metrics.totals.to_dict()
    assert counts["runs"] == {"completed": 1, "raised ModelError": 1}
    assert counts["unknown"] == {"cost_usd": 1, "input_tokens": 1, "output_tokens": 1}


def test_two_hundred_runs_at_once_add_up() -> None:
    metrics = Metrics()
    agent = agent_with(REPLIES, tools=[*Traces().tools(), failing()[0]], plugins=[metrics])

    async def scenario() -> None:
        await asyncio.gather(*(agent.run("go") for _ in range(200)))

    asyncio.run(scenario())
    assert metrics.totals.to_dict()["tool_calls"] == {"flaky": 200, "read": 200}
    assert metrics.totals.to_dict()["runs"] == {"completed": 200}


def test_two_of_a_kind_count_each_for_themselves() -> None:
    both = [Metrics(), Metrics()]
    flaky, _ = failing(ValueError("no"))
    run_agent(REPLIES, tools=[*Traces().tools(), flaky], plugins=both, failure_handling="legacy")
    assert [without_times(metrics.totals.to_dict()) for metrics in both] == [EXPECTED, EXPECTED]
