"""Where runs are kept, and finding one: by the beginning of its id, by its file, or the last one."""

from __future__ import annotations

import os
from pathlib import Path

from react_run.errors import ConfigError


def runs_directory() -> Path:
    """The directory where the command line saves journals."""
    from react_run.support.user_dirs import data_directory

    return data_directory() / "runs"


def make_runs_directory(directory: Path) -> None:
    """Make a directory for journals.

    Raises:
        ConfigError: It cannot be made; the text names the ways out.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(
            f"journals cannot be saved in {directory}: {error.strerror or error}; --no-save saves none, and "
            "REACT_RUN_HOME sets another directory"
        ) from error


def batches_directory() -> Path:
    """The directory of batches, each with the journals of its rows below ``runs``."""
    from react_run.support.user_dirs import data_directory

    return data_directory() / "batches"


def evals_directory() -> Path:
    """The directory of evaluations, each with the journals of its runs below ``runs``."""
    from react_run.support.user_dirs import data_directory

    return data_directory() / "evals"


def is_kept_here(path: Path) -> bool:
    """Whether a journal lies where react-run itself keeps journals."""
    directory = path.resolve().parent
    if directory == runs_directory().resolve():
        return True
    homes = (batches_directory().resolve(), evals_directory().resolve())
    return directory.name == "runs" and directory.parent.parent in homes


def run_files(directory: Path | None = None) -> list[Path]:
    """The journals in a directory, the latest first; those that the command line keeps when none is named."""
    try:
        with os.scandir(directory or runs_directory()) as entries:
            found = [(_changed(entry), entry.path) for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:  # there are none
        return []
    return [Path(path) for _, path in sorted(found, reverse=True)]


def _changed(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:  # removed in the meantime
        return 0


def find_run(name: str | None, directory: Path | None = None) -> Path:
    """The journal that a person means: a file, the beginning of a run's id, or ``None`` for the last run.

    Args:
        name: What the person said.
        directory: Where to look; where the command line keeps runs when none is named.

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
        raise ConfigError(f"{name!r} begins the ids of {len(found)} runs: {listed}{', …' if len(found) > 5 else ''}")
    return found[0]
