"""The origin of options: paths and code are looked up from there, and are trusted or not because of it."""

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
    """The place where options were written: the validation context of every component in an agent file."""

    directory: Path
    """The directory of the agent file; relative paths start here."""
    trusted: bool = False
    """Whether options may start programs, or load code next to the file."""
    path: Path | None = None
    """The agent file, if there is one."""
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """The variables for ``${V}`` in it; ``None`` means the process environment."""

    def imported(self, path: str) -> object:
        """Import the object at ``package.module.Name``: installed, or next to a trusted file.

        Raises:
            ReactError: The path is malformed, points to nothing, into the standard library or to code that is not
            trusted, or importing it failed.
        """
        from react_run.components.dotted import import_path

        return import_path(path, self.directory, trusted=self.trusted)


class TextOfFile(str):
    """Text from a file other than the loaded one: relative paths in it start at ``directory``."""

    directory: Path


def _local_path(value: object, info: ValidationInfo) -> object:
    return beside_the_file(value, info) if isinstance(value, (str, Path)) else value


def beside_the_file(value: str | Path, info: ValidationInfo) -> Path:
    """The path in an option, relative to the file it was written in, if there is one."""
    start = value.directory if isinstance(value, TextOfFile) else None
    if start is None and isinstance(info.context, Origin):
        start = info.context.directory
    path = from_home(value)
    return start / path if start else path


LocalPath = Annotated[Path, BeforeValidator(_local_path)]
"""A path option: relative to the agent file, or to the working directory when the component is built from Python."""
