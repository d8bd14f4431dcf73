"""The order of all hooks, for two plugins, as one list; docs/plugins.md shows the same list."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from react_run import ModelError, Question, Run, ToolCall, Verdict, hookimpl, tool
from react_run.hooks import hook_names
from react_run.testing import agent_with, calls, says

DOC = Path(__file__).parents[2] / "docs" / "plugins.md"


class Everything:
    """Implements every hook, and writes down when it is asked."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def say(self, hook: str) -> None:
        self.log.append(f"{self.name}.{hook}")

    async def around(self, hook: str, proceed: Callable[[], Awaitable[Any]]) -> Any:
        self.log.append(f"{self.name}.{hook}: in")
        try:
            return await proceed()
        finally:
            self.log.append(f"{self.name}.{hook}: out")

    @hookimpl
    def react_guide(self) -> None:
        self.say("react_guide")

    @hookimpl
    def react_run_started(self) -> None:
        self.say("react_run_started")

    @hookimpl
    async def react_run(self, proceed: Callable[[], Awaitable[Any]]) -> Any:
        return await self.around("react_run", proceed)

    @hookimpl
    def react_run_finished(self) -> None:
        self.say("react_run_finished")

    @hookimpl
    def react_run_failed(self) -> None:
        self.say("react_run_failed")

    @hookimpl
    def react_iteration_started(self) -> None:
        self.say("react_iteration_started")

    @hookimpl
    async def react_iteration(self, proceed: Callable[[], Awaitable[Any]]) -> Any:
        return await self.around("react_iteration", proceed)

    @hookimpl
    def react_iteration_finished(self) -> None:
        self.say("react_iteration_finished")

    @hookimpl
    def react_model_call_started(self) -> None:
        self.say("react_model_call_started")

    @hookimpl
    async def react_model_call(self, proceed: Callable[[], Awaitable[Any]]) -> Any:
        return await self.around("react_model_call", proceed)

    @hookimpl
    def react_model_call_finished(self) -> None:
        self.say("react_model_call_finished")

    @hookimpl
    def react_text_delta(self) -> None:
        self.say("react_text_delta")

    @hookimpl
    def react_text_discarded(self) -> None:
        self.say("react_text_discarded")

    @hookimpl
    def react_tool_call_started(self) -> None:
        self.say("react_tool_call_started")

    @hookimpl
    async def react_tool_call(self, proceed: Callable[[], Awaitable[Any]]) -> Any:
        return await self.around("react_tool_call", proceed)

    @hookimpl
    def react_tool_permit(self) -> None:
        self.say("react_tool_permit")

    @hookimpl
    def react_tool_progress(self) -> None:
        self.say("react_tool_progress")

    @hookimpl
    def react_tool_call_finished(self) -> None:
        self.say("react_tool_call_finished")

    @hookimpl
    def react_sense(self) -> None:
        self.say("react_sense")

    @hookimpl
    def react_settle(self) -> None:
        self.say("react_settle")

    @hookimpl
    def react_check_answer(self, run: Run) -> Verdict:
        self.say("react_check_answer")
        if self.name == "A":
            run.note("example", "an answer is looked at")
        return Verdict(accepted=True)

    @hookimpl
    def react_asked(self) -> None:
        self.say("react_asked")

    @hookimpl
    def react_ask(self) -> str | None:
        self.say("react_ask")
        return "here" if self.name == "B" else None

    @hookimpl
    def react_decided(self) -> None:
        self.say("react_decided")

    @hookimpl
    def react_guard_fired(self) -> None:
        self.say("react_guard_fired")


def order_of_a_run(replies: list[object]) -> list[str]:
    """What two plugins are asked in one run, in order."""
    log: list[str] = []

    @tool
    async def look(run: Run, call: ToolCall) -> str:
        """Look."""
        log.append("the tool runs")
        call.report(done=1, total=2)
        await run.ask(Question("Where?"))
        return "found"

    agent = agent_with(replies, tools=[look], plugins=[Everything("A", log), Everything("B", log)])

    async def scenario() -> None:
        async for _ in agent.stream("go"):
            pass

    asyncio.run(scenario())
    return log


def test_the_order_of_all_hooks_for_two_plugins_is_the_one_in_the_documentation() -> None:
    order = order_of_a_run([calls(("look", {}), text="Hm."), says("Found.")])
    print("\n".join(order))
    text = DOC.read_text(encoding="utf-8")
    (documented,) = re.findall(r"<!-- the order of all hooks -->\n```text\n(.*?)\n```", text, re.DOTALL)
    assert order == documented.splitlines()


def test_that_order_holds_every_hook_but_the_one_for_failed_runs() -> None:
    order = order_of_a_run([calls(("look", {}), text="Hm."), says("Found.")])
    asked = {line.partition(".")[2].partition(":")[0] for line in order if "." in line}
    assert asked == set(hook_names()) - {"react_run_failed"}


def test_a_failed_run_leaves_the_layers_from_the_inside_out_and_then_tells_both() -> None:
    log: list[str] = []
    agent = agent_with([{"error": {"status": 400}}], plugins=[Everything("A", log), Everything("B", log)])
    with pytest.raises(ModelError):
        agent.run_sync("go")
    assert log[-8:] == [
        "B.react_model_call: out",
        "A.react_model_call: out",
        "B.react_iteration: out",
        "A.react_iteration: out",
        "B.react_run: out",
        "A.react_run: out",
        "A.react_run_failed",
        "B.react_run_failed",
    ]
