"""The plugin ``error_hints``: tells the model what to do about failures of tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from react_plugins.matching import first_match
from react_run import Observation, Plugin, ToolCall, hookimpl


class ErrorHints(Plugin):
    """Adds a hint to the result of a failed tool call, chosen by exception or error code.

    A hint may contain `{tool}` and `{error}`. The call remains a failure.
    """

    kind: ClassVar[str] = "error_hints"

    hints: dict[str, str] = Field(default_factory=dict)
    """Hints by the exception's class, one of its bases, or a glob for either: `FileNotFoundError`, `httpx.*`."""
    codes: dict[str, str] = Field(default_factory=dict)
    """Hints by the code of the failure, as globs: `timeout`, `invalid_arguments`, or what a toolset says."""

    @hookimpl
    async def react_tool_call(self, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]) -> Observation:
        observation = await proceed()
        if not observation.failed or observation.outcome is None:
            return observation
        hint = self._hint(call, observation.outcome.code)
        if hint is None:
            return observation
        outcome = observation.outcome
        text = hint.replace("{tool}", call.name).replace("{error}", outcome.message)
        outcome = replace(outcome, message=f"{outcome.message}\n{text}")
        return replace(observation, content=f"{observation.content}\n\nHint: {text}", outcome=outcome)

    def _hint(self, call: ToolCall, code: str) -> str | None:
        if call.error is not None:
            for name in _names(type(call.error)):
                hint = first_match(name, self.hints)
                if hint is not None:
                    return hint
        return first_match(code, self.codes)


def _names(error: type) -> Iterator[str]:
    """The names of an exception, its own before those of its bases."""
    for cls in error.__mro__:
        yield cls.__name__
        yield f"{cls.__module__}.{cls.__qualname__}"
