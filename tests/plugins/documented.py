"""Wrappers written the way class-style wrappers are documented: no types, state in ``__init__`` or on the class."""

from __future__ import annotations

from typing import Any

SOURCE = '''
from react_run import LLMCallWrapper, ToolCallResult, ToolCallWrapper, ToolSkipResult


class CachingWrapper(ToolCallWrapper):
    """Cache tool results to avoid redundant calls."""

    def __init__(self, prefix=""):
        self.cache = {}
        self.prefix = prefix

    def preprocess(self, agent, ctx, tool_name: str, tool_input):
        cache_key = f"{tool_name}:{tool_input.model_dump_json()}"
        if cache_key in self.cache:
            return ToolSkipResult(output=self.cache[cache_key])
        return tool_input

    def postprocess(self, agent, ctx, tool_name: str, tool_input, tool_output: str) -> ToolCallResult:
        cache_key = f"{tool_name}:{tool_input.model_dump_json()}"
        self.cache[cache_key] = tool_output
        return ToolCallResult(output=self.prefix + tool_output)


class ErrorHandlingWrapper(ToolCallWrapper):
    """Provide helpful error messages to the model."""

    def preprocess(self, agent, ctx, tool_name: str, tool_input):
        return tool_input

    def postprocess(self, agent, ctx, tool_name: str, tool_input, tool_output: str) -> ToolCallResult:
        try:
            if not tool_output.isdigit():
                raise ValueError("no number")
            return ToolCallResult(output=tool_output)
        except Exception as e:
            return ToolCallResult(output=f"Tool execution failed: {str(e)}")

    def on_error(self, agent, ctx, tool_name, tool_input, error):
        return "0"


class DebugWrapper(LLMCallWrapper):
    """Note each model call."""

    iteration: int = 0

    def __init__(self):
        self.said = []

    def preprocess(self, agent, ctx, request, llm):
        self.iteration += 1
        self.said.append(f"Iteration {self.iteration}: {len(request.messages)}")
        return request

    def postprocess(self, agent, ctx, final_prompt, llm_response, llm):
        self.said.append(f"Response: {llm_response.choices[0].message.content[:100]}")
        return None
'''


def documented(name: str) -> Any:  # a class that is only made at run time
    """One of the classes above."""
    names: dict[str, Any] = {"__name__": "documented"}
    exec(SOURCE, names)
    return names[name]
