"""``kind: command``: a program as a tool; arguments from the model never become part of a shell command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, ClassVar

from pydantic import Field

from react_run import LocalPath, Run, Tool, ToolError
from react_toolsets.declared.base import DeclaredTool, Place
from react_toolsets.declared.templates import as_text, filled, places
from react_toolsets.programs import Finished, NotConfined, RunsPrograms, ended

GRACE = 5.0
"""Seconds between the program's own timeout and the tool's."""
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "cmd", "cmd.exe", "powershell", "pwsh")
_LINE_FOLLOWS = re.compile(r"-[A-Za-z]*c|/[ck]|-Command", re.IGNORECASE)


class ProgramFailed(ToolError):
    """The program failed; other arguments may work."""

    default_code = "failed"
    opaque = True


class CommandToolset(RunsPrograms, DeclaredTool):
    """Runs a program, with the model's arguments filled in."""

    kind: ClassVar[str] = "command"

    command: list[str] = Field(min_length=1)
    """The program and its arguments, with placeholders such as `{path}`. An argument without a value is left out, and
    one that is just the placeholder of a list becomes several arguments. No shell is involved."""
    stdin: str | None = None
    """The program's standard input, with placeholders; empty by default."""
    cwd: LocalPath | None = None
    """The working directory; by default the workspace of the run."""
    exit_statuses: list[int] = Field(default_factory=lambda: [0])
    """The exit statuses that mean success."""

    def tools(self) -> list[Tool]:
        """The tool."""
        return [
            Tool(
                name=self.name,
                description=self.description,
                parameters=self.schema_,
                function=self._run,
                toolset=self,
                context={"__run": "run"},
                read_only=self.read_only,
                repeatable=True,
                network=self.network or not self.sandbox,
                runs_programs=True,
                timeout=self.timeout + GRACE,
            )
        ]

    def templates(self) -> Iterator[Place]:
        """Every text that may have placeholders, with its location in the options."""
        yield from ((("command", index), word) for index, word in enumerate(self.command))
        yield from ((("environment", name), text) for name, text in self.environment.items())
        if self.stdin is not None:
            yield ("stdin",), self.stdin

    def _wrong(self) -> Iterator[Place]:
        program = self.command[0]
        if any(places(program)) or not program.strip():
            yield ("command", 0), "the program itself is fixed: arguments can only follow it"
        shell = next((index for index, word in enumerate(self.command) if _is_shell(word)), len(self.command))
        for index in range(shell + 2, len(self.command)):
            if _LINE_FOLLOWS.fullmatch(self.command[index - 1]) and any(places(self.command[index])):
                text = 'arguments must not become part of a shell command: write "$1" there, and the placeholder'
                yield ("command", index), f"{text} as a separate argument after it"
        for loc, text in self.templates():
            for name in places(text):
                whole = loc[0] == "command" and text == f"{{{name}}}"
                if not whole and name in self.parameters and self.kind_of(name) == "array":
                    yield loc, f"{{{name}}} is a list, so it must be a whole entry of command"

    async def _run(self, **arguments: Any) -> str:
        run: Run = arguments.pop("__run")
        arguments = self.with_defaults(arguments)
        directory = self.cwd or run.workspace
        command = list(self._words(arguments))
        stdin = None if self.stdin is None else (filled(self.stdin, arguments) or "").encode("utf-8", "replace")
        given = {name: filled(text, arguments) for name, text in self.environment.items()}
        environment = {name: text for name, text in given.items() if text is not None}
        self.say(run, directory)
        try:
            finished = await self.launch(command, directory, stdin=stdin, environment=environment)
        except NotConfined as error:
            raise ToolError(f"programs are not run here: {error}", code="not_confined") from error
        except (OSError, ValueError) as error:
            raise ProgramFailed(f"{command[0]!r} cannot be started: {error}", code="not_started") from error
        return self._result_for_model(finished)

    def _words(self, arguments: dict[str, Any]) -> Iterator[str]:
        options_end = False
        for template in self.command:
            options_end = options_end or template == "--"
            names = list(places(template))
            if len(names) == 1 and template == f"{{{names[0]}}}" and isinstance(arguments.get(names[0]), list):
                words: list[str | None] = [as_text(item) for item in arguments[names[0]]]
            else:
                words = [filled(template, arguments)]
            for word in words:
                if word is None:
                    continue
                if word.startswith("-") and not (options_end or template.startswith("-") or _is_number(word)):
                    text = (
                        f"{word[:60]!r} would be read as an option of {self.command[0]}, which this tool does not allow"
                    )
                    raise ProgramFailed(text, code="invalid_argument")
                yield word

    def _result_for_model(self, finished: Finished) -> str:
        output = finished.output.rstrip("\n") or "(no output)"
        how = ended(finished, self.timeout)
        if finished.timed_out:
            raise ProgramFailed(f"{self.name} {how}. It wrote:\n{output}", code="timeout")
        if finished.status not in self.exit_statuses:
            raise ProgramFailed(f"{self.name} {how or 'ended with exit status 0'}. It wrote:\n{output}")
        return f"{output}\n[{how}]" if how else output


def _is_shell(word: str) -> bool:
    return PurePath(word.replace("\\", "/")).name.lower() in SHELLS


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
