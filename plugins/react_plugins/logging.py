"""The plugin ``logging``: structured records of what happens, for programs to read."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import ClassVar, Literal

from pydantic import Field

from react_plugins.lines import append_line
from react_plugins.shown import head, value_as_json
from react_run import (
    Iteration,
    LocalPath,
    ModelResponse,
    Observation,
    Plugin,
    Run,
    RunResult,
    ToolCall,
    hookimpl,
)

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Logging(Plugin):
    """Logs each event of a run: JSON lines in a file, or records of Python's logging.

    Secrets of the agent file, and everything that `redact` masks, are masked.
    """

    kind: ClassVar[str] = "logging"
    inherited_by_subagents: ClassVar[bool | None] = True

    path: LocalPath | None = None
    """A file to append JSON lines to; by default records go to `logger`."""
    logger: str = "react_run.events"
    """The name of the logger. Each record's message is the JSON, and its `react_run` attribute the fields."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """The level of ordinary events; failed tool calls are at least warnings, failed runs errors."""
    characters: int = Field(default=500, ge=0)
    """Maximum characters of each text (prompt, arguments, results, answer)."""

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        self._write(run, "run_started", prompt=run.prompt, tools=[tool.name for tool in run.offered_tools])

    @hookimpl
    def react_model_call_finished(self, run: Run, iteration: Iteration, response: ModelResponse) -> None:
        self._write(
            run,
            "model_call",
            iteration=iteration.number,
            model=response.model,
            finish_reason=response.finish_reason,
            text=response.text,
            calls=[request.name for request in response.message.tool_requests],
            usage=response.usage.to_dict(),
        )

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        outcome = observation.outcome
        self._write(
            run,
            "tool_call",
            level="warning" if observation.failed else self.level,
            tool=call.name,
            id=call.request.id,
            arguments=value_as_json(call.arguments),
            result=observation.content,
            disposition=None if outcome is None else str(outcome.disposition),
            code=None if outcome is None else outcome.code,
            executed=call.executed,
            seconds=round(call.seconds, 6),
        )

    @hookimpl
    def react_guard_fired(self, run: Run, guard: str, detail: str) -> None:
        self._write(run, "guard", guard=guard, detail=detail)

    @hookimpl
    def react_run_finished(self, run: Run, result: RunResult) -> None:
        self._write(
            run,
            "run_finished",
            stop_reason=str(result.stop_reason),
            success=result.success,
            answer=result.answer,
            iterations=result.iterations,
            usage=result.usage.to_dict(),
        )

    @hookimpl
    def react_run_failed(self, run: Run, error: BaseException) -> None:
        self._write(run, "run_failed", level="error", error=type(error).__name__, message=str(error))

    def _shown(self, run: Run, value: object) -> object:
        return head(run, value, self.characters) if isinstance(value, str) else run.agent.config.masker.mask_data(value)

    def _write(self, run: Run, event: str, *, level: str = "", **fields: object) -> None:
        record = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "event": event,
            "agent": run.agent.config.name,
            "run": run.id,
            "parent": None if run.parent is None else run.parent.id,
            **{name: self._shown(run, value) for name, value in fields.items()},
        }
        line = value_as_json(record)
        if self.path is not None:
            append_line(self.path, line)
            return
        number = max(LEVELS[self.level], LEVELS[level or self.level])
        logging.getLogger(self.logger).log(number, "%s", line, extra={"react_run": record})
