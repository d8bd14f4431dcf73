"""Exports a saved result to other formats. Samples are read one at a time, to save memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from react_run.errors import ConfigError

FORMATS = ("csv", "inspect", "junit", "promptfoo")


def export(form: str, result: Mapping[str, Any], directory: Path, path: Path) -> list[Path]:
    """Write a result in another format, and return the files written.

    Args:
        form: One of :data:`FORMATS`.
        result: The content of ``result.json``.
        directory: The directory of the evaluation.
        path: The file to write.

    Raises:
        ConfigError: The file cannot be written, or a package is missing.
    """
    write: Callable[[Mapping[str, Any], Path, Path], list[Path]]
    write = import_module(f"{__name__}.{form}_file").write
    try:
        return write(result, directory, path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
