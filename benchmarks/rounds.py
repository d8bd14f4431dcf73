"""The loop's own cost per round (model reply + one inline tool call), against the floor, and whether it grows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchmarks.floor import BareModel, add, bare_run
from benchmarks.measure import interleaved, report
from react_run import ReActAgent, Tool
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls


def agent_for(rounds: int, **config: object) -> ReActAgent:
    """An agent whose scripted model asks for one inline call per round, ``rounds`` times, then answers."""
    replies = [calls(("add", {"a": number, "b": 2})) for number in range(rounds)]
    model = ScriptedModel(replies=[*replies, "done"], keep_requests=0)
    tools = Functions(functions=[Tool.from_function(add, inline=True)])
    return ReActAgent(config, model=model, toolsets=[tools])


def ours(rounds: int, **config: object) -> Callable[[], object]:
    """One run of ``rounds`` rounds; agent and loop are made once."""
    agent = agent_for(rounds, **config)
    agent.config.max_iterations = rounds + 1  # beyond what a file may say, to see whether a round's cost grows
    loop = asyncio.new_event_loop()

    def work() -> None:
        result = loop.run_until_complete(agent.run("go"))
        assert result.answer == "done", result
        assert len(result.steps) == rounds

    return work


def floor(rounds: int) -> Callable[[], object]:
    """The same by hand."""
    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(bare_run(BareModel(rounds), {"add": add}))


def main(repeat: int = 15) -> None:
    """Report K = 1, 10, 100, 300, 1000 for both failure modes."""
    for rounds in (1, 10, 100, 300, 1000):
        taken = interleaved(
            {"floor": floor(rounds), "safe": ours(rounds), "legacy": ours(rounds, failure_handling="legacy")},
            repeat if rounds < 300 else max(3, repeat // 3),
        )
        per_round = {name: round(seconds / rounds * 1e6, 2) for name, seconds in taken.items()}
        report(
            "round_cpu_us",
            rounds=rounds,
            **per_round,
            safe_over_floor=round(taken["safe"] / taken["floor"], 1),
            legacy_over_floor=round(taken["legacy"] / taken["floor"], 1),
        )


if __name__ == "__main__":
    main()
