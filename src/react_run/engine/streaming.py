"""Delivers the events of a run to ``agent.stream()``."""

from __future__ import annotations

import asyncio

from react_run.hookspecs import hookimpl
from react_run.messages import TextDelta, TextDiscarded
from react_run.outcome import Observation
from react_run.run import Run, ToolCall, ToolFinished, ToolStarted


class Relay:
    """A plugin that puts events into the run's queue."""

    class Events(asyncio.Queue["TextDelta | TextDiscarded | ToolStarted | ToolFinished | None"]):
        """The events of one run; ``None`` ends them."""

    @hookimpl
    def react_text_delta(self, run: Run, text: str) -> None:
        run.state(self.Events).put_nowait(TextDelta(text=text))

    @hookimpl
    def react_text_discarded(self, run: Run) -> None:
        run.state(self.Events).put_nowait(TextDiscarded())

    @hookimpl
    def react_tool_call_started(self, run: Run, call: ToolCall) -> None:
        run.state(self.Events).put_nowait(ToolStarted(call=call))

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        run.state(self.Events).put_nowait(ToolFinished(call=call, observation=observation))
