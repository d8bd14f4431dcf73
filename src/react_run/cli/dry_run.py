"""The exact first request, without sending it."""

from __future__ import annotations

from collections.abc import Sequence

from react_run.cli.exit import complain, logs_to
from react_run.cli.interrupts import drive
from react_run.cli.terminal import json_text
from react_run.launch.first_request import first_request
from react_run.launch.options import AgentOptions, built
from react_run.messages import ModelRequest
from react_run.models.base import Model

_LONGEST = 80
"""How many characters of an encoded file to show."""


def show_first_request(options: AgentOptions, prompt: str, attach: Sequence[str] = ()) -> int:
    """Print the first request as the JSON that would be sent, with only the beginning of files."""
    from react_run.cli.attaching import with_files

    asked = with_files(prompt, attach)
    config = options.config()
    agent = built(config, options.extra_plugins())
    model = config.model or agent.model
    with logs_to(complain):
        request = first_request(agent, asked, drive)
    print(json_text(_shortened(config.masker.mask_data(body(model, request))), indent=2))
    return 0


def _shortened(data: object) -> object:
    """Return ``data`` with a note in place of the bytes of files."""
    if isinstance(data, str) and data.startswith("data:") and len(data) > _LONGEST:
        return f"{data[:_LONGEST]}… ({len(data):,} characters)"
    if isinstance(data, dict):
        return {key: _shortened(value) for key, value in data.items()}
    return [_shortened(item) for item in data] if isinstance(data, list) else data


def body(model: Model, request: ModelRequest) -> dict[str, object]:
    """Return ``request`` in OpenAI's format, with the settings of ``model``."""
    from react_run.models.remote import RemoteModel
    from react_run.models.wire import message_json

    if isinstance(model, RemoteModel):
        fields = model.fields(request, stream=False)
        request, _ = model.asked(request)
    else:
        fields = dict(request.settings)
    data: dict[str, object] = {
        "model": model.name,
        "messages": [message_json(m, can_read=model.can_read) for m in request.messages],
        **fields,
    }
    if request.tools:
        data["tools"] = [tool.wire for tool in request.tools]
    if request.tool_choice:
        data["tool_choice"] = request.tool_choice
    return data
