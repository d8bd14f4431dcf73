"""The plugin ``console``: shows a run live, with a line for each event."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from time import perf_counter
from typing import ClassVar, Literal

from pydantic import Field

from react_plugins.lineage import depth
from react_plugins.shown import one_line, value_as_json
from react_run import Iteration, ModelResponse, Observation, Plugin, Run, RunResult, ToolCall, hookimpl

_COLOURS = {"dim": "2", "red": "31", "green": "32", "yellow": "33"}
_ERASE_LINE = "\r\x1b[2K"


class Started:
    """When a run started, and how many tool calls it has made."""

    def __init__(self) -> None:
        self.at = perf_counter()
        self.calls = 0


class Console(Plugin):
    """Shows a run live: thoughts, tool calls, results, interventions, and how it ended."""

    kind: ClassVar[str] = "console"
    inherited_by_subagents: ClassVar[bool | None] = True

    stream: Literal["stderr", "stdout"] = "stderr"
    """Where the lines go."""
    thoughts: bool = True
    """Whether to show the model's text along with its calls."""
    guards: bool = True
    """Whether to show interventions of guards and plugins."""
    width: int = Field(default=120, ge=20)
    """Maximum characters of a line."""
    colour: bool | None = None
    """Whether to use colours; by default on a terminal, unless `NO_COLOR` is set."""

    def _started(self) -> Started:
        """The state of this plugin, created by `run.state`; it is separate if the kind is listed twice."""
        return Started()

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        run.state(self._started)
        self._say(run, "", f"▶ {run.agent.config.name or 'agent'}: {run.prompt}")

    @hookimpl
    def react_model_call_finished(self, run: Run, iteration: Iteration, response: ModelResponse) -> None:
        if self.thoughts and response.text and response.message.tool_requests:
            self._say(run, "dim", f"  {iteration.number}/{run.max_iterations} {response.text}")

    @hookimpl
    def react_tool_call_started(self, run: Run, call: ToolCall) -> None:
        run.state(self._started).calls += 1
        self._say(run, "", f"  → {call.name} {value_as_json(call.arguments)}")

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        mark, colour = ("✗", "red") if observation.failed else ("✓", "green")
        self._say(run, colour, f"  {mark} {call.name} {call.seconds:.2f} s {observation.content}")

    @hookimpl
    def react_guard_fired(self, run: Run, guard: str, detail: str) -> None:
        if self.guards:
            self._say(run, "yellow", f"  ! {guard}: {detail}")

    @hookimpl
    def react_run_finished(self, run: Run, result: RunResult) -> None:
        started, usage = run.state(self._started), result.usage
        parts = [
            _counted(usage.requests, "model call"),
            _counted(started.calls, "tool call"),
            f"{'?' if usage.total_tokens is None else usage.total_tokens} tokens",
            "cost unknown" if usage.cost is None else f"{usage.cost:.4f} USD",
            f"{perf_counter() - started.at:.1f} s",
        ]
        self._say(run, "" if result.success else "red", f"■ {result.stop_reason}: {', '.join(parts)}")

    @hookimpl
    def react_run_failed(self, run: Run, error: BaseException) -> None:
        self._say(run, "red", f"■ failed: {type(error).__name__}: {error}")

    def _say(self, run: Run, colour: str, text: str) -> None:
        target = sys.stderr if self.stream == "stderr" else sys.stdout
        if target is None:
            return
        indent = "  " * depth(run)
        content = text.lstrip()
        indent += " " * (len(text) - len(content))
        line = indent + one_line(run, content, self.width - len(indent))
        line = line.encode(target.encoding or "utf-8", "replace").decode(target.encoding or "utf-8")
        on_terminal = target.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        coloured = self.colour if self.colour is not None else on_terminal and not os.environ.get("NO_COLOR")
        if colour and coloured:
            line = f"\x1b[{_COLOURS[colour]}m{line}\x1b[0m"
        with suppress(OSError):  # the reader has closed the pipe
            print(f"{_ERASE_LINE if on_terminal else ''}{line}", file=target, flush=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
