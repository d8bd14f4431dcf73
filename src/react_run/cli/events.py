"""Events of a run as JSON lines (``--output-format stream-json``)."""

from __future__ import annotations

from react_run.agent import StreamEvent
from react_run.messages import TextDelta, TextDiscarded
from react_run.run import ToolFinished, ToolStarted


def as_event(event: StreamEvent) -> tuple[str, dict[str, object]]:
    """Return the name of an event, and its data."""
    match event:
        case TextDelta():
            return "text_delta", {"text": event.text}
        case TextDiscarded():
            return "text_discarded", {}
        case ToolStarted():
            call = event.call
            return "tool_started", {"id": call.request.id, "name": call.name, "arguments": call.arguments}
        case ToolFinished():
            call, observation = event.call, event.observation
            return "tool_finished", {
                "id": call.request.id,
                "name": call.name,
                "content": observation.content,
                "failed": observation.failed,
                "seconds": call.seconds,
            }
        case _:
            return "result", {}
