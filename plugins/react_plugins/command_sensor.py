"""The plugin ``command_sensor``: a command such as a linter or a test checks the effects of calls (behaviour G2)."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from react_plugins.commands import CommandNotRun, RunsCommand
from react_plugins.matching import matches
from react_run import Observation, Plugin, Run, Signal, ToolCall, hookimpl

PATH = "{path}"
_LOCATION = re.compile(
    r"""^[ \t]*+(?:File[ \t]++")?(?P<file>[\w./-]*\w\.\w+)(?:",\s+line\s+|:)(?P<line>\d+(?::\d+)?)""", re.MULTILINE
)


class CommandSensor(RunsCommand, Plugin):
    """Runs a command after certain tool calls; if it fails, the model reads its output.

    It runs once per iteration, after the last of these calls; with `{path}` in the command, once for each file.
    """

    kind: ClassVar[str] = "command_sensor"

    after: list[str] = Field(default_factory=lambda: ["write_file", "edit_file"], min_length=1)
    """The tools it runs after, as names or globs."""
    severity: Literal["block", "warn", "hint"] = "block"
    """`block`: the call counts as failed. `warn`, `hint`: the model is only told."""
    hint: str = ""
    """What the model should do about it."""
    files: list[str] = Field(default_factory=lambda: ["*"], min_length=1)
    """The files it applies to, as globs; a call with another file in `path` is ignored."""

    @field_validator("command")
    @classmethod
    def _takes_a_path_as_an_argument(cls, command: str | list[str]) -> str | list[str]:
        if isinstance(command, str) and PATH in command:
            raise ValueError("a shell would read the path: write the command as a list to use {path}")
        return command

    @hookimpl
    async def react_sense(self, run: Run, call: ToolCall, observation: Observation) -> Signal | None:
        if not self._is_about(call) or call is not self._last(run, call):
            return None
        try:
            finished = await self.carry_out(run, self._argv(call))
        except CommandNotRun as error:
            run.note("sensor_failed", str(error))
            return Signal(severity="warn", message=f"this was not checked: {error}", looked=False)
        message = self.complaint(finished)
        if not message:
            return None
        found = _LOCATION.search(finished.output)
        location = f"{found['file']}:{found['line']}" if found else ""
        scope = "" if self._names_path() else "."  # without a path, the command checks everything
        return Signal(severity=self.severity, message=message, hint=self.hint, location=location, scope=scope)

    def _is_about(self, call: ToolCall) -> bool:
        path, observation = call.arguments.get("path"), call.observation
        if not call.executed or observation is None or observation.failed or not matches(call.name, self.after):
            return False
        return not isinstance(path, str) or matches(path, self.files)

    def _last(self, run: Run, call: ToolCall) -> ToolCall:
        """The last call of this iteration that the same run of the command can check instead of ``call``."""
        same = [other for other in run.iterations[-1].calls if self._is_about(other)]
        if self._names_path():
            same = [other for other in same if other.arguments.get("path") == call.arguments.get("path")]
        return same[-1]

    def _names_path(self) -> bool:
        return isinstance(self.command, list) and any(PATH in part for part in self.command)

    def _argv(self, call: ToolCall) -> list[str] | None:
        if not isinstance(self.command, list):
            return None
        path = str(call.arguments.get("path", ""))
        safe = f"./{path}" if path.startswith("-") else path  # so that it is not read as an option
        return [part.replace(PATH, safe) for part in self.command]
