"""A kept result in the formats of others. Samples are read one by one, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from react_run.errors import ConfigError

FORMATS = ("csv", "inspect", "junit", "promptfoo")


def export(form: str, result: Mapping[str, Any], directory: Path, path: Path) -> list[Path]:
    """Write a result for others; the files that were written.

    Args:
        form: One of :data:`FORMATS`.
        result: What ``result.json`` holds.
        directory: The evaluation, with its samples.
        path: The file to write.

    Raises:
        ConfigError: It cannot be written, or a package is missing.
    """
    write: Callable[[Mapping[str, Any], Path, Path], list[Path]]
    write = import_module(f"{__name__}.{form}_file").write
    try:
        return write(result, directory, path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
