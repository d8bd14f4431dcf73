"""The options of everything that runs programs, and how programs are run."""

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
"""Bytes of output that are kept."""
TAIL = 256 * 1024
"""How many of them are kept from the end."""


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
        """Programs can do what the user can do."""
        return "starts programs"

    def confinement(self, directory: Path) -> Confinement:
        """What programs in ``directory`` may touch."""
        return Confinement(
            write=[directory.resolve(), *(path.resolve() for path in self.writable)],
            read=[path.resolve() for path in self.readable],
            network=self.network,
            limits=self.limits,
        )

    def report(self, directory: Path) -> str:
        """What is enforced of that, and what is not, for people."""
        return self.confinement(directory).report() if self.sandbox else "Not confined: sandbox is switched off."

    def say(self, run: Run, directory: Path) -> None:
        """Note what is enforced, once per run."""
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
            command: Program and arguments; no shell reads them.
            directory: The working directory.
            seconds: Its time limit, if shorter than ``timeout``.
            stdin: What it reads on its standard input.
            environment: Its environment variables, replacing those of the option.

        Raises:
            NotConfined: Confinement is required, and this system cannot do it.
            OSError: It could not be started.
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
    """What a run has been told of confinement."""

    def __init__(self) -> None:
        self.texts: set[str] = set()


@contextmanager
def _temporary_directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="react-run-", ignore_cleanup_errors=True) as temporary:
        yield os.path.realpath(temporary)


def shell_line(line: str) -> list[str]:
    """The command that has a shell read ``line``."""
    return ["/bin/sh", "-c", line]


def ended(finished: Finished, timeout: float) -> str:
    """How a program ended, in words; empty when it ended well."""
    if finished.timed_out:
        return f"did not end within {timeout:g} seconds and was stopped"
    if finished.status < 0:
        return f"was ended by signal {-finished.status}"
    return f"ended with exit status {finished.status}" if finished.status else ""
