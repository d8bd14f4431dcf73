"""smolagents: ``ToolCallingAgent``, which is synchronous and answers by calling ``final_answer``; its log is off."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from benchmarks.peers.script import ANSWER, Script


def prepared(script: Script) -> Callable[[], str]:
    """One run of the script; the agent is made once."""
    from smolagents import ChatMessage, LogLevel, Model, Tool, ToolCallingAgent
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

    class Add(Tool):
        name = "add"
        description = "Add two numbers."
        inputs: ClassVar = {side: {"type": "integer", "description": "A number."} for side in ("a", "b")}
        output_type = "integer"

        def forward(self, a: int, b: int) -> object:
            return script.tool(a, b)

    def called(call_id: str, name: str, arguments: dict[str, object]) -> ChatMessageToolCall:
        return ChatMessageToolCall(ChatMessageToolCallFunction(arguments, name), call_id, "function")

    class Scripted(Model):
        def generate(self, *args: object, **kwargs: object) -> ChatMessage:
            calls = [called(call.id, "add", {**call.arguments}) for call in script.reply()]
            end = called("end", "final_answer", {"answer": ANSWER})
            return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls or [end])

    agent = ToolCallingAgent(
        [Add()],
        Scripted(),
        max_steps=script.iterations + 1,
        max_tool_threads=script.width,
        verbosity_level=LogLevel.OFF,
    )
    return lambda: str(agent.run("go"))
