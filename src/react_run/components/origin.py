"""Where an option was written: paths and code are looked for from there, and trusted or not by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo

from react_run.support.dataclasses import dataclass
from react_run.support.user_dirs import from_home


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where options were written: the validation context of every component that an agent file names."""

    directory: Path
    """The directory of the agent file; relative paths start here."""
    trusted: bool = False
    """Whether what starts programs or loads code beside the file may be named."""
    path: Path | None = None
    """The agent file, when there is one."""
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """The variables for ``${V}`` in it; ``None`` means the process environment."""

    def imported(self, path: str) -> object:
        """What ``package.module.Name`` stands for, found as kinds are: installed, or beside a file that is trusted.

        Raises:
            ReactError: It is no such path, leads nowhere, into the standard library, to code that is not trusted, or
                importing it failed.
        """
        from react_run.components.dotted import import_path

        return import_path(path, self.directory, trusted=self.trusted)


class TextOfFile(str):
    """Text that was written in a file other than the one that is loaded: paths in it start at ``directory``."""

    directory: Path


def _local_path(value: object, info: ValidationInfo) -> object:
    return beside_the_file(value, info) if isinstance(value, (str, Path)) else value


def beside_the_file(value: str | Path, info: ValidationInfo) -> Path:
    """The path that an option names: relative to the file it was written in, if there is one."""
    start = value.directory if isinstance(value, TextOfFile) else None
    if start is None and isinstance(info.context, Origin):
        start = info.context.directory
    path = from_home(value)
    return start / path if start else path


LocalPath = Annotated[Path, BeforeValidator(_local_path)]
"""A path option: relative to the agent file, or to the working directory when the component is built from Python."""
