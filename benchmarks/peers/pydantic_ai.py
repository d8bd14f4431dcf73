"""pydantic-ai: its function model, without the limit of requests. It is instrumented only when asked to be."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.script import ANSWER, Script, in_a_loop


def prepared(script: Script) -> Callable[[], str]:
    """One run of the script; the agent is made once."""
    from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import RequestUsage, UsageLimits

    async def reply(messages: object, info: object) -> ModelResponse:
        parts = [ToolCallPart("add", call.text, call.id) for call in script.reply()] or [TextPart(ANSWER)]
        # Without a usage the model would count the words of the whole conversation, as no real one does.
        return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=1, output_tokens=1))

    agent = Agent(FunctionModel(reply), tools=[script.tool])
    limits = UsageLimits(request_limit=None)

    async def run() -> str:
        return str((await agent.run("go", usage_limits=limits)).output)

    return in_a_loop(run)
