"""A plugin with an option: appends one line per tool call to a file."""

from __future__ import annotations

from pathlib import Path

from react_run import Observation, Plugin, ToolCall, hookimpl


class Audit(Plugin):
    """Keeps a record of every tool call."""

    path: Path
    """The file to append to."""

    @hookimpl
    def react_tool_call_finished(self, call: ToolCall, observation: Observation) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{call.name} -> {observation.content}\n")
