"""This runtime."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.script import ANSWER, Script, in_a_loop


def prepared(script: Script, **config: object) -> Callable[[], str]:
    """One run of the script; the agent is made once."""
    from react_run import ReActAgent, Tool
    from react_run.models.scripted import ScriptedModel
    from react_run.testing import Functions, calls

    replies = [calls(*(("add", call.arguments) for call in script.reply())) for _ in range(script.iterations)]
    model = ScriptedModel(replies=[*replies, ANSWER], keep_requests=0)
    inline = script.plain and not script.seconds  # it waits for nothing, so it needs no thread
    tools = Functions(functions=[Tool.from_function(script.tool, inline=inline)])
    agent = ReActAgent({"parallel_tools": script.width, **config}, model=model, toolsets=[tools])
    agent.config.max_iterations = script.iterations + 1  # beyond what a file may say

    async def run() -> str:
        result = await agent.run("go")
        script.replies_given = result.iterations
        return result.answer

    return in_a_loop(run)
