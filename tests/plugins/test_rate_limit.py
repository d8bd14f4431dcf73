"""The plugin ``rate_limit``: calls wait until it is their turn, over all runs of the agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fired import Fired

from react_plugins.rate_limit import Pace, RateLimit
from react_run import ReActAgent, tool
from react_run.testing import agent_with, calls, replayed, run_agent, says


@pytest.mark.parametrize(
    ("times", "burst", "waits"),
    [
        ([0, 0, 0, 0], 1, [0, 1, 2, 3]),
        ([0, 0, 0, 0], 2, [0, 0, 1, 2]),
        ([0, 0.5, 5, 5], 1, [0, 0.5, 0, 1]),
        ([0, 0, 0, 10, 10, 10, 10], 3, [0, 0, 0, 0, 0, 0, 1]),
        ([0, 1, 2, 3], 1, [0, 0, 0, 0]),
    ],
)
def test_places_are_given_one_interval_apart_after_a_burst(times: list[float], burst: int, waits: list[float]) -> None:
    pace = Pace()
    assert [pytest.approx(pace.reserve(100 + now, 1.0, burst)) for now in times] == waits


class AtOnce(RateLimit):
    """A limit for which no time passes, so that what waits does not depend on how busy the machine is."""

    def now(self) -> float:
        return 100.0


def test_calls_of_one_tool_wait_for_their_places_over_all_runs() -> None:
    started: list[str] = []

    @tool(repeatable=True)
    async def slow() -> str:
        """Note that it starts."""
        started.append("slow")
        return "ok"

    @tool
    async def free() -> str:
        """Run at once."""
        started.append("free")
        return "ok"

    fired = Fired()
    agent = agent_with(
        [calls(("slow", {}), ("free", {})), says("done")],
        tools=[slow, free],
        plugins=[AtOnce(tools={"sl*": 50}), fired],
    )

    async def scenario() -> None:
        await asyncio.gather(*(agent.run("go") for _ in range(4)))

    asyncio.run(scenario())
    assert sorted(fired.of("rate_limit")) == ["slow: waits 0.02 s", "slow: waits 0.04 s", "slow: waits 0.06 s"]
    assert started[-3:] == ["slow"] * 3


def test_model_calls_are_paced_as_well_each_attempt() -> None:
    fired = Fired()
    run_agent([says(""), says("done")], plugins=[AtOnce(model=100), fired])
    assert fired.of("rate_limit") == ["(model): waits 0.01 s"]


def test_calls_that_cannot_run_take_no_place() -> None:
    @tool
    def slow(x: int) -> str:
        """Work."""
        return "ok"

    limit, fired = RateLimit(tools={"*": 0.001}), Fired()
    replies = [calls(("slow", {}), ("nowhere", {}), ("slow", {"x": 1})), says("done")]
    run_agent(replies, tools=[slow], plugins=[limit, fired], failure_handling="legacy")
    assert fired.of("rate_limit") == []


@pytest.mark.parametrize("busy", ["then", "now"])
def test_a_replay_waits_where_the_run_did(busy: str, tmp_path: Path) -> None:  # J3
    @tool
    def work() -> str:
        """Work."""
        return "ok"

    def agent(when: str, **config: Any) -> ReActAgent:
        limit = AtOnce(tools={"*": 100}, model=100)
        if when == busy:  # another run has just taken a place
            run_agent([calls(("work", {})), says("done")], tools=[work], plugins=[limit])
        return agent_with([calls(("work", {})), says("done")], tools=[work], plugins=[limit], **config)

    recording = tmp_path / "run.jsonl"
    agent("then", trace=str(recording)).run_sync("go")
    assert replayed(recording, agent("now")).answer == "done"


@pytest.mark.parametrize("options", [{"tools": {"a": 0}}, {"model": -1}, {"burst": 0}])
def test_a_rate_must_let_something_through(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RateLimit.model_validate(options)
