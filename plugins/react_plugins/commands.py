"""Runs commands from an agent file, and describes how they ended."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from react_run import LocalPath, Run
from react_toolsets.programs import Finished, NotConfined, RunsPrograms, ended, shell_line

_INTERPRETER = re.compile(r"python[\d.]*|node|ruby|perl|php|sh|bash|zsh|dash")
_SCRIPT = re.compile(r"^[\w./-]+\.(py|js|mjs|cjs|rb|pl|php|sh|bash|zsh)$")
NOT_RUN = (126, 127)
"""Exit statuses with which shells, and we, report that nothing could be run."""


class CommandNotRun(Exception):
    """A command could not be run, so there is no result."""


class RunsCommand(RunsPrograms):
    """The base of components that run a command and use its exit status."""

    command: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]
    """A shell command line, or a list with a program and its arguments, which is run without a shell."""
    root: LocalPath | None = None
    """The working directory; by default the workspace of the run."""
    shown: int = Field(default=3_000, ge=100)
    """Maximum characters of its output to show: the head and, if it is longer, the tail."""

    async def carry_out(
        self, run: Run, argv: list[str] | None = None, *, stdin: bytes | None = None, key: str = ""
    ) -> Finished:
        """Run the command, or ``argv`` in its place, for ``run``; a replay uses the recorded result.

        Args:
            run: The run.
            argv: A program and its arguments.
            stdin: The content of its standard input.
            key: A key for the recording, if the command alone is not unique.

        Raises:
            CommandNotRun: The command could not be run.
        """
        command = argv or (shell_line(self.command) if isinstance(self.command, str) else self.command)

        async def find() -> dict[str, Any]:
            directory = self.root or run.workspace
            try:
                finished = await self.launch(command, directory, stdin=stdin)
            except (NotConfined, OSError, ValueError) as error:
                return {"not_run": str(error)}
            missing = missing_script(argv or self.command, directory) if finished.status else ""
            return {"not_run": f"there is no {missing} in {directory}"} if missing else asdict(finished)

        found = await run.recorded(key or f"command {shlex.join(command)}", find)
        if "not_run" in found:
            raise CommandNotRun(f"{self.line} cannot be run: {found['not_run']}")
        finished = Finished(**found)
        if finished.status in NOT_RUN and not finished.timed_out:
            raise CommandNotRun(f"{self.line} cannot be run: {excerpt(finished.output, 500)}")
        return finished

    @property
    def line(self) -> str:
        """The command for messages."""
        line = self.command if isinstance(self.command, str) else shlex.join(self.command)
        return f"`{line}`"

    def complaint(self, finished: Finished) -> str:
        """How the command ended, with its output; empty if it succeeded."""
        how = ended(finished, self.timeout)
        return f"{self.line} {how}. It wrote:\n{excerpt(finished.output, self.shown)}" if how else ""


def missing_script(command: str | list[str], directory: Path) -> str:
    """The missing script that ``command`` passes to an interpreter; "" if none is known to be missing.

    Interpreters exit with 2 or 127 then, which would be taken for the result of the script.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        return ""
    program, script = [*words, "", ""][:2]
    if not _INTERPRETER.fullmatch(Path(program).name) or script.startswith("-") or not _SCRIPT.search(script):
        return ""
    return "" if (directory / script).exists() else script


def excerpt(output: str, longest: int) -> str:
    """``output`` cut to its head and tail; the tail gets a third of the room."""
    output = output.strip("\n") or "(nothing)"
    if len(output) <= longest:
        return output
    tail = longest // 3
    head, end = output[: longest - tail], output[-tail:]
    return f"{head}\n[… {len(output) - longest:,} characters left out …]\n{end}"
