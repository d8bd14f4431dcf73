"""A word before a limit is reached (behaviours S2, S4)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from react_run import tool
from react_run.testing import agent_with, calls, run_agent, says


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


def test_what_nobody_limited_is_not_told_about() -> None:
    assert not any(told(9))
    assert not any(told(3, max_iterations=4))  # too short for a warning to help


def test_the_prefix_of_the_conversation_stays() -> None:
    agent = agent_with([*[calls(("look", {"x": n})) for n in range(6)], says("done")], tools=[look], max_iterations=8)
    agent.run_sync("go")
    requests = agent.model.requests  # type: ignore[attr-defined]  # of the scripted model
    for earlier, later in pairwise(requests):
        assert list(later.messages)[: len(earlier.messages)] == list(earlier.messages)
