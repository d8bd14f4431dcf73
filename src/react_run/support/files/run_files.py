"""Where a run keeps its own files, below the directory it works in."""

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
    """The names of the directories, from the workspace down, that lead to the files of a run."""
    return OURS, "runs", safe_name(run_id)


def run_directory(workspace: Path, run_id: str) -> Path:
    """Where the run keeps its own files; it does not exist until something is written."""
    return workspace.joinpath(*run_folders(run_id))


def safe_name(name: str) -> str:
    """``name`` as one harmless path component."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64] or "_"


def write_new(workspace: Path, folders: Sequence[str], name: str, pieces: Iterable[bytes]) -> None:
    """Write a file of a run that does not exist yet, for its owner only, following no link.

    Args:
        workspace: The directory the run works in.
        folders: The directories from there to the file, as :func:`run_folders` has them; they are made.
        name: The name of the file.
        pieces: Its content.

    Raises:
        FileExistsError: It exists.
        OSError: A link is in the way, or it cannot be written; then nothing is left of it.
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
    """Have git pass over our directory: what is saved there is no part of the project it lies in."""
    with suppress(OSError, PathRefused), opened(workspace, (OURS,), OURS) as directory:
        _write(directory, ".gitignore", [b"*\n"])  # there is one already, as a rule


def read_own(workspace: Path, folders: Sequence[str], name: str) -> bytes:
    """The content of a file of a run, following no link.

    Raises:
        OSError: It is not there, or a link is in the way.
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
