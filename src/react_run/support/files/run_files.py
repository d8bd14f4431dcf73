"""The location of a run's own files, below its working directory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from react_run.support.files.names import PathRefused
from react_run.support.files.opening import FILE, NO_LINK, open_in, opened

OURS = ".react-run"
"""The directory in a workspace that belongs to react-run."""


def run_folders(run_id: str) -> tuple[str, ...]:
    """The directories from the workspace down to the files of a run."""
    return OURS, "runs", safe_name(run_id)


def run_directory(workspace: Path, run_id: str) -> Path:
    """The directory for the run's own files; it does not exist until something is written."""
    return workspace.joinpath(*run_folders(run_id))


def safe_name(name: str) -> str:
    """``name`` as one harmless path component."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64] or "_"


def write_new(workspace: Path, folders: Sequence[str], name: str, pieces: Iterable[bytes]) -> None:
    """Write a new file of a run, readable only by its owner, following no link.

    Args:
        workspace: The working directory of the run.
        folders: The directories from there to the file, as in :func:`run_folders`; they are created.
        name: The name of the file.
        pieces: Its content.

    Raises:
        FileExistsError: It exists.
        OSError: A link is in the way, or the file cannot be written; nothing is left behind.
    """
    path = "/".join((*folders, name))
    try:
        with opened(workspace, folders, path, make=0o700) as directory:
            _keep_out_of_version_control(workspace)
            _write(directory, name, pieces)
    except PathRefused as error:
        raise OSError(str(error)) from None


def _write(directory: int, name: str, pieces: Iterable[bytes]) -> None:
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600, dir_fd=directory)
    try:
        with os.fdopen(file, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
    except OSError:
        os.unlink(name, dir_fd=directory)
        raise


def _keep_out_of_version_control(workspace: Path) -> None:
    """Make git ignore our directory: its content is not part of the surrounding project."""
    with suppress(OSError, PathRefused), opened(workspace, (OURS,), OURS) as directory:
        _write(directory, ".gitignore", [b"*\n"])  # usually it already exists


def read_own(workspace: Path, folders: Sequence[str], name: str) -> bytes:
    """The content of a file of a run, following no link.

    Raises:
        OSError: It does not exist, or a link is in the way.
    """
    path = "/".join((*folders, name))
    try:
        with (
            opened(workspace, folders, path) as directory,
            os.fdopen(open_in(directory, name, FILE, path), "rb") as file,
        ):
            return file.read()
    except PathRefused as error:
        raise OSError(str(error)) from None
