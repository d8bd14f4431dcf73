"""The ``shell`` toolset: commands in one directory, confined to it if the system supports that."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from react_run import LocalPath, ReActToolset, Run, Tool, ToolError, tool
from react_toolsets.programs import Finished, NotConfined, RunsPrograms, ended, shell_line

GRACE = 5.0
"""Seconds between the command's own timeout and the tool's."""


class CommandTrouble(ToolError):
    """A command could not be completed; another one may work."""

    opaque = True


class ShellToolset(RunsPrograms, ReActToolset):
    """Runs commands: programs with arguments, or shell command lines."""

    kind: ClassVar[str] = "shell"

    root: LocalPath | None = None
    """The working directory; by default the workspace of the run."""

    def tools(self) -> list[Tool]:
        """The tool, with a description of its limits."""
        [tool] = super().tools()
        return [
            replace(
                tool,
                timeout=self.timeout + GRACE,
                network=self.network or not self.sandbox,
                description=f"{tool.description}\n\n{self._terms()}",
            )
        ]

    def _terms(self) -> str:
        if not self.sandbox:
            return f"A command is stopped after {self.timeout:g} seconds."
        network = "may" if self.network else "may not"
        return (
            f"A command is stopped after {self.timeout:g} seconds. It may change files in the working directory and in "
            f"$TMPDIR only, and {network} use the network."
        )

    @tool(read_only=False, repeatable=True, runs_programs=True)
    async def run_command(
        self, command: str | list[str], run: Run, seconds: Annotated[float | None, Field(gt=0)] = None
    ) -> str:
        """Run a command in the working directory and get its output and exit status.

        Args:
            command: A shell command line, or a list with a program and its arguments, which is run without a shell.
            seconds: A shorter time limit than usual, in seconds.
        """
        root = self.root or run.workspace
        argv = shell_line(command) if isinstance(command, str) else command
        if not argv or not argv[0].strip() or not (isinstance(command, list) or command.strip()):
            raise CommandTrouble("the command is empty", code="invalid_command")
        self.say(run, root)
        seconds = min(seconds or self.timeout, self.timeout)
        try:
            finished = await self.launch(argv, root, seconds=seconds)
        except NotConfined as error:
            raise ToolError(f"commands are not run here: {error}", code="not_confined") from error
        except (OSError, ValueError) as error:
            raise CommandTrouble(f"{argv[0]!r} cannot be started: {error}", code="not_started") from error
        return _result_for_model(finished, seconds)


def _result_for_model(finished: Finished, seconds: float) -> str:
    output = finished.output.rstrip("\n") or "(no output)"
    how = ended(finished, seconds)
    if finished.timed_out:
        raise CommandTrouble(f"the command {how}. It wrote:\n{output}", code="timeout")
    return f"{output}\n[{how}]" if how else output
