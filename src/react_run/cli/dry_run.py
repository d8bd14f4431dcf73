"""The exact first request, without sending it."""

from __future__ import annotations

from react_run.cli.exit import complain, logs_to
from react_run.cli.interrupts import drive
from react_run.cli.terminal import json_text
from react_run.launch.first_request import first_request
from react_run.launch.options import AgentOptions, built
from react_run.messages import ModelRequest
from react_run.models.base import Model


def show_first_request(options: AgentOptions, prompt: str) -> int:
    """Print the first request as the JSON that would be sent."""
    config = options.config()
    agent = built(config, options.extra_plugins())
    model = config.model or agent.model
    with logs_to(complain):
        request = first_request(agent, prompt, drive)
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
