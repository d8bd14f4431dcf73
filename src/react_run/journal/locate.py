"""Where journals are saved, and how to find one: by the start of its id, by its file, or the latest."""

from __future__ import annotations

import os
from pathlib import Path

from react_run.errors import ConfigError


def runs_directory() -> Path:
    """The directory where the command line saves journals."""
    from react_run.support.user_dirs import data_directory

    return data_directory() / "runs"


def make_runs_directory(directory: Path) -> None:
    """Create a directory for journals.

    Raises:
        ConfigError: It cannot be created; the message names the ways out.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(
            f"journals cannot be saved in {directory}: {error.strerror or error}; --no-save saves none, and "
            "REACT_RUN_HOME sets another directory"
        ) from error


def batches_directory() -> Path:
    """The directory of batches; each has the journals of its rows under ``runs``."""
    from react_run.support.user_dirs import data_directory

    return data_directory() / "batches"


def evals_directory() -> Path:
    """The directory of evaluations; each has the journals of its runs under ``runs``."""
    from react_run.support.user_dirs import data_directory

    return data_directory() / "evals"


def is_kept_here(path: Path) -> bool:
    """Whether a journal is in a directory that react-run manages."""
    directory = path.resolve().parent
    if directory == runs_directory().resolve():
        return True
    homes = (batches_directory().resolve(), evals_directory().resolve())
    return directory.name == "runs" and directory.parent.parent in homes


def run_files(directory: Path | None = None) -> list[Path]:
    """The journals in ``directory``, latest first; by default, those saved by the command line."""
    try:
        with os.scandir(directory or runs_directory()) as entries:
            found = [(_changed(entry), entry.path) for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:  # the directory does not exist yet
        return []
    return [Path(path) for _, path in sorted(found, reverse=True)]


def _changed(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:  # removed since it was listed
        return 0


def find_run(name: str | None, directory: Path | None = None) -> Path:
    """Find the journal that a user means.

    Args:
        name: A file, the start of a run's id, or ``None`` for the latest run.
        directory: Where to look; by default, where the command line saves journals.

    Raises:
        ConfigError: There is no such run, or there are several.
    """
    if name is None:
        files = run_files(directory)
        if not files:
            raise ConfigError(f"there are no saved runs in {directory or runs_directory()}")
        return files[0]
    if (path := Path(name)).is_file():
        return path
    found = [path for path in run_files(directory) if path.name.startswith(name)] if name.isalnum() else []
    if not found and directory is None and name.isalnum():
        homes = (batches_directory(), evals_directory())
        found = sorted(path for home in homes for path in home.glob(f"*/runs/{name}*.jsonl"))
    if len(found) > 1 and len(exact := [path for path in found if path.stem == name]) == 1:
        found = exact
    if not found:
        raise ConfigError(f"there is no run {name!r}, and no such file. `react-run runs list` lists the saved runs")
    if len(found) > 1:
        listed = ", ".join(path.stem[:12] for path in found[:5])
        more = ", …" if len(found) > 5 else ""
        raise ConfigError(f"{len(found)} runs have ids that begin with {name!r}: {listed}{more}")
    return found[0]
