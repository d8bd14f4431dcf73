"""langchain: ``create_agent`` with a scripted chat model, tracing off; its limit of steps is far off."""

from __future__ import annotations

import os
from collections.abc import Callable

from benchmarks.peers.script import ANSWER, Script, in_a_loop


def prepared(script: Script) -> Callable[[], str]:
    """One run of the script; the agent is made once."""
    os.environ["LANGSMITH_TRACING"] = "false"
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Scripted(BaseChatModel):
        _llm_type = "scripted"

        def bind_tools(self, *args: object, **kwargs: object) -> Scripted:
            return self

        def _generate(self, *args: object, **kwargs: object) -> ChatResult:
            calls = [{"name": "add", "args": {**call.arguments}, "id": call.id} for call in script.reply()]
            message = AIMessage("" if calls else ANSWER, tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

        async def _agenerate(self, *args: object, **kwargs: object) -> ChatResult:
            return self._generate()

    agent = create_agent(Scripted(), tools=[script.tool])
    question = {"messages": [{"role": "user", "content": "go"}]}

    async def run() -> str:
        return str((await agent.ainvoke(question))["messages"][-1].content)

    # Only the synchronous way has a say in the number of threads.
    options = {"max_concurrency": script.width}
    return (lambda: str(agent.invoke(question, options)["messages"][-1].content)) if script.plain else in_a_loop(run)
