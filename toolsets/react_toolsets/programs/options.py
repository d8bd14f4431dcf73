"""The shared options of components that run programs, and the code that runs them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import Field

from react_run import Component, Finished, LocalPath, Run, guard_imports, run_program
from react_toolsets.programs.confinement import Confinement
from react_toolsets.programs.environment import scrubbed_environment
from react_toolsets.programs.limits import Limits

CEILING = 1024 * 1024
"""The most bytes of output that are kept."""
TAIL = 256 * 1024
"""How many of these bytes are kept from the end."""


class NotConfined(Exception):
    """Programs must be confined, but cannot be."""


class RunsPrograms(Component):
    """Runs programs in a directory, confined to it if the system supports that."""

    timeout: float = Field(default=60.0, gt=0)
    """Time limit for a program, in seconds."""
    sandbox: bool | Literal["required"] = True
    """Whether programs are confined to their directory, as far as this system supports it; `required`: they do not run
    without it."""
    network: bool = False
    """Whether confined programs may use the network."""
    readable: list[LocalPath] = Field(default_factory=list)
    """Additional files and directories that confined programs may read, besides those of the system."""
    writable: list[LocalPath] = Field(default_factory=list)
    """Additional files and directories that confined programs may change."""
    limits: Limits = Field(default_factory=Limits)
    """Resource limits for confined commands."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables for programs."""
    pass_environment: list[str] = Field(default_factory=list)
    """Names of environment variables to pass on, besides PATH, the locale, the time zone and the like."""

    def needs_trust(self) -> str:
        """Running programs needs trust, because they can do what the user can do."""
        return "starts programs"

    def confinement(self, directory: Path) -> Confinement:
        """The confinement of programs in ``directory``."""
        return Confinement(
            write=[directory.resolve(), *(path.resolve() for path in self.writable)],
            read=[path.resolve() for path in self.readable],
            network=self.network,
            limits=self.limits,
        )

    def report(self, directory: Path) -> str:
        """A description for people of what is enforced and what is not."""
        return self.confinement(directory).report() if self.sandbox else "Not confined: sandbox is switched off."

    def say(self, run: Run, directory: Path) -> None:
        """Add the report to the run, once."""
        text, said = self.report(directory), run.state(_Said).texts
        if text not in said:
            said.add(text)
            run.note("sandbox", text)

    async def launch(
        self,
        command: Sequence[str],
        directory: Path,
        *,
        seconds: float | None = None,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run ``command`` in ``directory``, with a temporary directory of its own.

        Args:
            command: The program and its arguments; there is no shell.
            directory: The working directory.
            seconds: The time limit, if shorter than ``timeout``.
            stdin: The content of its standard input.
            environment: Environment variables, in place of those of the option.

        Raises:
            NotConfined: Confinement is required, but not possible on this system.
            OSError: The program could not be started.
        """
        confinement = self.confinement(directory)
        if self.sandbox == "required" and confinement.gaps:
            raise NotConfined(f"sandbox is required, but programs could {'; '.join(confinement.gaps)}")
        for place in (directory, *self.writable):
            guard_imports(place)
        with _temporary_directory() as own:
            home = {"HOME": own} if self.sandbox and confinement.means else {}
            variables = self.environment if environment is None else environment
            return await run_program(
                command,
                directory=directory,
                environment=scrubbed_environment({"TMPDIR": own, **home, **variables}, self.pass_environment),
                timeout=min(self.timeout, seconds or self.timeout),
                ceiling=CEILING,
                tail=TAIL,
                launcher=confinement.launcher(Path(own)) if self.sandbox else (),
                stdin=stdin,
            )


class _Said:
    """The reports that a run already has."""

    def __init__(self) -> None:
        self.texts: set[str] = set()


@contextmanager
def _temporary_directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="react-run-", ignore_cleanup_errors=True) as temporary:
        yield os.path.realpath(temporary)


def shell_line(line: str) -> list[str]:
    """The command that runs ``line`` in a shell."""
    return ["/bin/sh", "-c", line]


def ended(finished: Finished, timeout: float) -> str:
    """A description of how a program ended; empty if it succeeded."""
    if finished.timed_out:
        return f"did not end within {timeout:g} seconds and was stopped"
    if finished.status < 0:
        return f"was ended by signal {-finished.status}"
    return f"ended with exit status {finished.status}" if finished.status else ""
