"""The exact first request, without sending it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from react_run.cli.exit import complain, logs_to
from react_run.cli.interrupts import drive
from react_run.cli.loading import AgentOptions, built
from react_run.cli.terminal import json_text
from react_run.messages import ModelRequest, ModelResponse, TextDelta
from react_run.models.base import Model

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


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

    async def complete(self, request: ModelRequest) -> ModelResponse:
        raise _Captured(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelResponse]:
        raise _Captured(request)
        yield  # makes it a generator


def first_request(agent: ReActAgent, prompt: str) -> ModelRequest:
    """What ``agent`` would send first; every hook before the model has run."""
    agent.model = _Capture(instead_of=agent.model)
    told_of_failures, agent.hooks.react_run_failed = agent.hooks.react_run_failed, ()  # this is none

    async def start() -> None:
        await agent.run(prompt)

    try:
        with logs_to(complain):
            drive(start())
    except _Captured as captured:
        return captured.request
    finally:
        agent.hooks.react_run_failed = told_of_failures
    raise AssertionError("a plugin answered instead of the model")


def show_first_request(options: AgentOptions, prompt: str) -> int:
    """Print the first request as the JSON that would be sent."""
    config = options.config()
    agent = built(config, options.extra_plugins())
    model = config.model or agent.model
    request = first_request(agent, prompt)
    print(json_text(config.masker.mask_data(body(model, request)), indent=2))
    return 0


def body(model: Model, request: ModelRequest) -> dict[str, object]:
    """``request`` in OpenAI's shape, with the settings of ``model``."""
    from react_run.models.remote import RemoteModel
    from react_run.models.wire import message_json

    fields = model.fields(request, stream=False) if isinstance(model, RemoteModel) else dict(request.settings)
    data: dict[str, object] = {"model": model.name, "messages": [message_json(m) for m in request.messages], **fields}
    if request.tools:
        data["tools"] = [tool.wire for tool in request.tools]
    if request.tool_choice:
        data["tool_choice"] = request.tool_choice
    return data
