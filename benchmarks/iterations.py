"""The loop's own cost per iteration (model reply + one inline tool call), against the floor, and whether it grows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from benchmarks.floor import BareModel, add, bare_run
from benchmarks.measure import interleaved, report
from react_run import ReActAgent, Tool
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls


def inline_add() -> Functions:
    """The tool that is called."""
    return Functions(functions=[Tool.from_function(add, inline=True)])


def agent_for(iterations: int, *, others: Sequence[Tool] = (), **config: object) -> ReActAgent:
    """An agent whose scripted model asks for one inline call per iteration, ``iterations`` times, then answers.

    ``others`` are additional tools that are offered.
    """
    replies = [calls(("add", {"a": number, "b": 2})) for number in range(iterations)]
    model = ScriptedModel(replies=[*replies, "done"], keep_requests=0)
    return ReActAgent(config, model=model, toolsets=[inline_add(), *others])


def ours(iterations: int, *, others: Sequence[Tool] = (), **config: object) -> Callable[[], object]:
    """One run of ``iterations`` iterations; the agent and the loop are created once."""
    agent = agent_for(iterations, others=others, **config)
    agent.config.max_iterations = iterations + 1  # beyond what a file may say, to see whether an iteration's cost grows
    loop = asyncio.new_event_loop()

    def work() -> None:
        result = loop.run_until_complete(agent.run("go"))
        assert result.answer == "done", result
        assert len(result.steps) == iterations

    return work


def floor(iterations: int) -> Callable[[], object]:
    """The same by hand."""
    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(bare_run(BareModel(iterations), {"add": add}))


def main(repeat: int = 15) -> None:
    """Report K = 1, 10, 100, 300, 1000 for both failure modes."""
    for iterations in (1, 10, 100, 300, 1000):
        taken = interleaved(
            {
                "floor": floor(iterations),
                "safe": ours(iterations),
                "legacy": ours(iterations, failure_handling="legacy"),
            },
            repeat if iterations < 300 else max(3, repeat // 3),
        )
        per_iteration = {name: round(seconds / iterations * 1e6, 2) for name, seconds in taken.items()}
        report(
            "iteration_cpu_us",
            iterations=iterations,
            **per_iteration,
            safe_over_floor=round(taken["safe"] / taken["floor"], 1),
            legacy_over_floor=round(taken["legacy"] / taken["floor"], 1),
        )


if __name__ == "__main__":
    main()
