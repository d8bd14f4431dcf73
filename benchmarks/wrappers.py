"""The cost per tool call of plugins around it: class-style wrappers, and the three forms of hooks."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Generator, Iterable

from pydantic import BaseModel

from benchmarks.measure import interleaved, report
from react_run import Observation, ReActAgent, Run, Tool, ToolCallResult, ToolCallWrapper, hookimpl
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls

ROUNDS = 200
FIVE = 5


class Through(ToolCallWrapper):
    """Passes the call through."""

    def preprocess(self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel) -> BaseModel:
        return tool_input

    def postprocess(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str
    ) -> ToolCallResult:
        return ToolCallResult(output=tool_output)


class Around:
    """Surrounds."""

    @hookimpl
    async def react_tool_call(self, proceed: Callable[[], Awaitable[Observation]]) -> Observation:
        return await proceed()


class Before:
    """Comes before."""

    @hookimpl
    def react_tool_call(self) -> None:
        return None


class Generated:
    """Surrounds, in pluggy's form."""

    @hookimpl(wrapper=True)
    def react_tool_call(self) -> Generator[None, Observation, Observation]:
        return (yield)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def runs_with(plugins: Iterable[object]) -> Callable[[], object]:
    """One run of ``ROUNDS`` iterations with one call each; the agent and the loop are created once."""
    replies = [calls(("add", {"a": number, "b": 2})) for number in range(ROUNDS)]
    model = ScriptedModel(replies=[*replies, "done"], keep_requests=0)
    tools = Functions(functions=[Tool.from_function(add, inline=True)])
    agent = ReActAgent({"tool_wrappers": list(plugins)}, model=model, toolsets=[tools])
    agent.config.max_iterations = ROUNDS + 1  # beyond what a file may say
    loop = asyncio.new_event_loop()

    def work() -> None:
        result = loop.run_until_complete(agent.run("go"))
        assert len(result.steps) == ROUNDS, result

    return work


def main(repeat: int = 25) -> None:
    """Report the CPU microseconds that one plugin, and five plugins, of each kind add to a tool call."""
    works = {"none": runs_with([])}
    for kind in (Through, Around, Before, Generated):
        for number in (1, FIVE):
            works[f"{kind.__name__.lower()}_{number}"] = runs_with([kind() for _ in range(number)])
    gc.disable()  # which agent a collection falls to is chance
    taken = interleaved(works, repeat)
    gc.enable()
    added = {
        name: round((seconds - taken["none"]) / ROUNDS * 1e6, 2) for name, seconds in taken.items() if name != "none"
    }
    report("tool_call_plugins_us", iterations=ROUNDS, **added)


if __name__ == "__main__":
    main()
