"""llm: an asynchronous model of its own kind; nothing is logged, and a chain has no limit unless one is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from benchmarks.peers.script import ANSWER, Script, in_a_loop


def prepared(script: Script) -> Callable[[], str]:
    """One run of the script; model and tool are made once."""
    from llm import AsyncModel, Tool, ToolCall

    class Scripted(AsyncModel):
        model_id = "scripted"
        supports_tools = True

        async def execute(self, prompt: object, stream: bool, response: Any, **more: object) -> AsyncIterator[str]:
            calls = script.reply()
            for call in calls:
                response.add_tool_call(ToolCall("add", {**call.arguments}, tool_call_id=call.id))
            if not calls:
                yield ANSWER

    model = Scripted()
    add = Tool.function(script.tool)

    async def run() -> str:
        return str(await model.chain("go", tools=[add]).text())

    return in_a_loop(run)
