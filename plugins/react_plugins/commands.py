"""Commands that people name in an agent file, and what is told about how they ended."""

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
"""Exit statuses by which shells, and we, say that there was nothing to run."""


class CommandNotRun(Exception):
    """A command could not be carried out at all, so it says nothing."""


class RunsCommand(RunsPrograms):
    """Something that runs one command, and looks at its exit status."""

    command: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]
    """A line for the shell, or a list of a program and its arguments that no shell reads."""
    root: LocalPath | None = None
    """The working directory; by default the workspace of the run."""
    shown: int = Field(default=3_000, ge=100)
    """Maximum characters of its output to show: the head and, if it is longer, the tail."""

    async def carry_out(
        self, run: Run, argv: list[str] | None = None, *, stdin: bytes | None = None, key: str = ""
    ) -> Finished:
        """Run the command, or ``argv`` in its place, for ``run``; where a recording answers, it has been run already.

        Args:
            run: The run.
            argv: Program and arguments.
            stdin: What it reads on its standard input.
            key: What the recording calls it, where the command alone does not tell its runs apart.

        Raises:
            CommandNotRun: It could not be carried out.
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
        """The command as messages show it."""
        line = self.command if isinstance(self.command, str) else shlex.join(self.command)
        return f"`{line}`"

    def complaint(self, finished: Finished) -> str:
        """How the command ended and what it wrote; nothing when it ended well."""
        how = ended(finished, self.timeout)
        return f"{self.line} {how}. It wrote:\n{excerpt(finished.output, self.shown)}" if how else ""


def missing_script(command: str | list[str], directory: Path) -> str:
    """The script that ``command`` gives to an interpreter and that is not there; "" where nothing tells.

    Interpreters end with 2 or 127 then, which would count as what the script had to say.
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
    """The beginning of ``output`` and, when it is longer, a third of the room for its end."""
    output = output.strip("\n") or "(nothing)"
    if len(output) <= longest:
        return output
    tail = longest // 3
    head, end = output[: longest - tail], output[-tail:]
    return f"{head}\n[… {len(output) - longest:,} characters left out …]\n{end}"
