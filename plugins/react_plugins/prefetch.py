"""The plugin ``prefetch``: runs a tool first, so that the model gets its result in the first request."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from react_run import Iteration, Message, ModelResponse, Plugin, Run, ToolRequest, Usage, hookimpl

PROMPT = "{prompt}"
NOTHING = Usage(input_tokens=0, output_tokens=0, cost=0.0, requests=0)


class Prefetched:
    """Whether the tool was already called in a run."""

    done = False


class Prefetch(Plugin):
    """Calls a tool before the model is asked for the first time, so that it answers from a source, not from memory.

    The call appears in the conversation as if the model had made it: permissions, limits and the journal apply, and it
    takes one iteration. Each turn of a conversation calls the tool again, with the latest prompt.
    """

    kind: ClassVar[str] = "prefetch"

    tool: str
    """The tool to call."""
    arguments: dict[str, Any] = Field(default_factory=lambda: {"query": PROMPT})
    """Its arguments; `{prompt}` in a text stands for the user's prompt."""

    @hookimpl
    def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse | None:
        state = run.state(Prefetched)
        if state.done or iteration.number > 1:
            return None
        state.done = True
        if self.tool not in {tool.name for tool in iteration.request.tools}:
            run.note(self.kind, f"{self.tool} is not offered, so it was not called")
            return None
        asked = run.prompt or next((told.text for told in reversed(run.messages) if told.role == "user"), "")
        arguments: dict[str, object] = {name: _filled(value, asked) for name, value in self.arguments.items()}
        run.note(self.kind, f"{self.tool} is called first")
        request = ToolRequest(id=f"prefetch_{run.id[:12]}", name=self.tool, arguments=arguments)
        message = Message(role="assistant", tool_requests=(request,))
        return ModelResponse(message=message, usage=NOTHING, finish_reason="tool_calls")


def _filled(value: object, prompt: str) -> object:
    if isinstance(value, str):
        return value.replace(PROMPT, prompt)
    if isinstance(value, list):
        return [_filled(item, prompt) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, prompt) for key, item in value.items()}
    return value
