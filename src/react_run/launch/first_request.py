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
"""What runs a coroutine to its end from plain code."""


class _Captured(Exception):  # it carries the request out of the run
    def __init__(self, request: ModelRequest) -> None:
        super().__init__("captured")
        self.request = request


class _Capture(Model):
    """Stands in for the model of an agent, and keeps the request instead of answering it."""

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
    """What ``agent`` would send first, after every hook that comes before the model.

    Args:
        agent: It is not run any more afterwards: its model was put aside.
        prompt: What it is asked.
        drive: How the run is carried out from plain code.
    """
    agent.model = _Capture(instead_of=agent.model)
    told_of_failures, agent.hooks.react_run_failed = agent.hooks.react_run_failed, ()  # this is not a failed run

    async def start() -> None:
        await agent.run(prompt)

    try:
        drive(start())
    except _Captured as captured:
        return captured.request
    finally:
        agent.hooks.react_run_failed = told_of_failures
    raise AssertionError("a plugin answered instead of the model")
