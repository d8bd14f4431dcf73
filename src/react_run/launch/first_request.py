"""The exact first request of an agent, without sending it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from react_run.messages import ModelRequest, ModelResponse, TextDelta
from react_run.models.base import Model
from react_run.support.threads import run_blocking

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.parts import Part

Drive = Callable[[Coroutine[Any, Any, None]], None]
"""Runs a coroutine to its end from synchronous code."""


class _Captured(Exception):  # carries the request out of the run
    def __init__(self, request: ModelRequest) -> None:
        super().__init__("captured")
        self.request = request


class _Capture(Model):
    """Replaces an agent's model, and captures the request instead of answering it."""

    instead_of: Model

    @property
    def name(self) -> str:
        return self.instead_of.name

    @property
    def context_window(self) -> int | None:
        return self.instead_of.context_window

    def can_read(self, media_type: str) -> bool | None:
        return self.instead_of.can_read(media_type)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        raise _Captured(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        raise _Captured(request)
        yield  # makes it a generator


def first_request(agent: ReActAgent, prompt: str | Sequence[str | Part], drive: Drive = run_blocking) -> ModelRequest:
    """The first request that ``agent`` would send, after all hooks that run before the model.

    Args:
        agent: The agent; its model is replaced, so it cannot run afterwards.
        prompt: The prompt.
        drive: Runs a coroutine from synchronous code.
    """
    agent.model = _Capture(instead_of=agent.model)
    told_of_failures, agent.hooks.react_run_failed = agent.hooks.react_run_failed, ()  # capturing is not a failure

    async def start() -> None:
        await agent.run(prompt)

    try:
        drive(start())
    except _Captured as captured:
        return captured.request
    finally:
        agent.hooks.react_run_failed = told_of_failures
    raise AssertionError("a plugin answered instead of the model")
