"""Finds runs by the beginning of an id, by file, or the latest one, and summarises them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from react_run.errors import ConfigError, JournalError
from react_run.journal.files import FileSink
from react_run.journal.lines import from_json
from react_run.journal.locks import try_lock
from react_run.journal.sinks import Sink
from react_run.journal.values import Record
from react_run.journal.view import formatting
from react_run.support.dataclasses import dataclass
from react_run.support.files.run_files import run_directory

if TYPE_CHECKING:
    from react_run.messages import Usage

_BLOCK = 65_536
_ID = re.compile(r"[0-9a-f]{32}")


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


class RunStore(Protocol):
    """Where runs are kept. Readers read files, so a store that keeps no files hands out copies."""

    def find(self, name: str | None) -> Path:
        """The journal of a run: by a file, the beginning of its id, or ``None`` for the last run.

        Raises:
            ConfigError: There is no such run, or there are several.
        """

    def summaries(self) -> Iterator[Summary]:
        """What there is to say about each run, the latest first."""

    def open(self, path: Path) -> Sink:
        """Open a journal that :meth:`find` gave, to go on with its run.

        Raises:
            JournalBusy: Another process is at the run.
            JournalError: It cannot be opened.
        """

    def remove(self, summary: Summary) -> None:
        """Remove a run.

        Raises:
            JournalError: The run goes on.
        """


@dataclass(frozen=True)
class DirectoryStore:
    """A directory with a file for each run; the one of the command line when none is named."""

    directory: Path | None = None

    def find(self, name: str | None) -> Path:
        return find_run(name, self.directory)

    def summaries(self) -> Iterator[Summary]:
        return summaries(run_files(self.directory))

    def open(self, path: Path) -> Sink:
        return FileSink(path)

    def remove(self, summary: Summary) -> None:
        remove_run(summary)


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


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a list of runs says about one, from the first and the last record of its journal."""

    path: Path
    header: Record
    last: Record
    running: bool

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return str(self.header["run"])

    @property
    def status(self) -> str:
        """How it ended, or that it goes on."""
        return "running" if self.running else formatting.status_of(self._footer)

    @property
    def success(self) -> bool:
        """Whether it ended with a success."""
        return self._footer is not None and bool(self._footer["success"])

    @property
    def _footer(self) -> Record | None:
        """The last record, when it is the end of this run: it may be that of a run below."""
        return self.last if self.last["type"] == "footer" and self.last["run"] == self.header["run"] else None

    @property
    def usage(self) -> Usage | None:
        """What it used, when it has ended."""
        from react_run.journal.values import usage_from_data

        return usage_from_data(self.last["usage"]) if self.last["type"] == "footer" else None

    def to_dict(self) -> dict[str, object]:
        """For ``react-run runs list --json``."""
        usage = self.usage
        return {
            "run_id": self.run_id,
            "started": self.header["started"],
            "agent": formatting.name_of(self.header),
            "file": self.header["agent"]["file"],
            "session": self.header["session"],
            "model": self.header["model"],
            "status": self.status,
            "success": self.success,
            "seconds": round(self.last["time"] - self.header["time"], 3),
            "tokens": usage.total_tokens if usage else None,
            "cost": usage.cost if usage else None,
            "prompt": self.header["prompt"],
            "journal": str(self.path),
        }


def summaries(files: list[Path]) -> Iterator[Summary]:
    """What there is to say about each run; files that are not journals, hold no whole record, or whose first or last
    record is damaged are left out."""
    return filter(None, map(_summary, files))


def _summary(path: Path) -> Summary | None:
    try:
        with path.open("rb") as file:
            running = not try_lock(file.fileno())
            header = from_json(file.readline())
            last = from_json(_last_line(file.fileno()))
        summary = Summary(path=path, header=header, last=last, running=running)
        summary.to_dict(), formatting.moment(header["time"])  # all that
        formatting.one_line(header["prompt"])  # a list says
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError):
        return None
    return summary


def _last_line(descriptor: int) -> bytes:
    """The last whole line of a file, read from its end."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    data = b""
    while end and data.count(b"\n") < 2:
        start = max(0, end - _BLOCK)
        os.lseek(descriptor, start, os.SEEK_SET)
        data = os.read(descriptor, end - start) + data
        end = start
    return data[: data.rfind(b"\n")].rpartition(b"\n")[2]


def remove_run(summary: Summary) -> None:
    """Remove the journal of a run, and what it saved in its workspace.

    Raises:
        JournalError: The run goes on.
    """
    from react_run.journal.attachments import folder_of

    if summary.running:
        raise JournalError(f"run {summary.run_id[:12]} is still running: stop it first")
    if _ID.fullmatch(summary.run_id):
        shutil.rmtree(run_directory(Path(summary.header["workspace"]), summary.run_id), ignore_errors=True)
    shutil.rmtree(folder_of(summary.path), ignore_errors=True)
    summary.path.unlink()
