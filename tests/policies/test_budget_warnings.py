"""A word before a limit is reached (behaviours S2, S4)."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.fired import Fired

from react_run import Disposition, Observation, Outcome, Tool, tool
from react_run.policies.budget_warnings import HALF, NEARLY
from react_run.testing import agent_with, calls, replayed, run_agent, says


@tool(read_only=True, repeatable=True)
def look(x: int = 0) -> str:
    """Look."""
    return f"seen {x}"


def told(count: int, usage: dict[str, Any] | None = None, **config: Any) -> list[bool]:
    """In which iterations the model is told about a budget."""
    fields: dict[str, Any] = {"usage": usage} if usage else {}
    replies = [*[calls(("look", {"x": n}), **fields) for n in range(count)], says("done")]
    return ["% of the" in step.observation for step in run_agent(replies, tools=[look], **config).steps]


def test_half_and_four_fifths_of_the_iterations_are_told_once_each() -> None:
    assert told(9, max_iterations=10) == [False] * 4 + [True, False, False, True, False]


@pytest.mark.parametrize(
    ("usage", "config"),
    [
        ({"input_tokens": 5, "output_tokens": 5, "cost": 0.0}, {"max_total_tokens": 100}),
        ({"input_tokens": 5, "output_tokens": 5, "cost": 0.1}, {"max_cost": 1.0}),
    ],
)
def test_tokens_and_money_are_told_alike(usage: dict[str, Any], config: dict[str, Any]) -> None:
    assert told(9, usage, **config) == [False] * 4 + [True, False, False, True, False]


def test_time_is_told_once_for_each_share_and_a_replay_says_the_same(tmp_path: Path) -> None:
    naps = [0.0, 1.3, 0.0, 0.7, 0.0]

    @tool(read_only=True)
    def nap(x: int) -> str:
        """Take time."""
        time.sleep(naps[x])
        return f"slept {x}"

    replies = [*[calls(("nap", {"x": n})) for n in range(5)], says("done")]
    agent = agent_with(replies, tools=[nap], run_timeout=2.4)
    result = agent.replace(journal=tmp_path / "run.jsonl").run_sync("go")
    texts = [step.observation for step in result.steps]
    assert ["% of the 2.4 seconds are used" in text for text in texts] == [False, True, False, True, False]
    assert replayed(tmp_path / "run.jsonl", agent, tools="recorded").steps[3].observation == texts[3]
    naps[:] = [0.0] * 5
    assert replayed(tmp_path / "run.jsonl", agent).steps[1].observation == texts[1]


def test_what_nobody_limited_is_not_told_about() -> None:
    assert not any(told(9))
    assert not any(told(3, max_iterations=4))  # too short for a warning to help


def test_a_run_that_ends_with_an_iteration_is_not_told_about_a_budget(
    scripted_tool: Callable[..., Tool], fired: Fired
) -> None:
    ends = scripted_tool("ends", Observation(content="no", outcome=Outcome(disposition=Disposition.TERMINAL_ERROR)))
    used: dict[str, Any] = {"usage": {"input_tokens": 5, "output_tokens": 0, "cost": 0.0}}
    result = run_agent([calls(("ends", {"x": 1}), **used)], tools=[ends], plugins=[fired], max_total_tokens=10)
    assert result.stop_reason == "tool_failure"
    assert "budget_warnings" not in fired.guards
    assert "% of the" not in result.steps[0].observation


def test_the_last_warning_asks_for_an_answer() -> None:
    replies = [*[calls(("look", {"x": n})) for n in range(9)], says("done")]
    steps = run_agent(replies, tools=[look], max_iterations=10).steps
    assert steps[4].observation.endswith(f"{HALF}]")
    assert steps[7].observation.endswith(f"{NEARLY}]")


def test_the_prefix_of_the_conversation_stays() -> None:
    agent = agent_with([*[calls(("look", {"x": n})) for n in range(6)], says("done")], tools=[look], max_iterations=8)
    agent.run_sync("go")
    requests = agent.model.requests  # type: ignore[attr-defined]  # of the scripted model
    for earlier, later in pairwise(requests):
        assert list(later.messages)[: len(earlier.messages)] == list(earlier.messages)
