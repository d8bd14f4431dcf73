"""Summaries of runs, from the first and the last record of each journal."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from react_run.errors import JournalError
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


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One run in a list, from the first and the last record of its journal."""

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
        """How the run ended, or ``running``."""
        return "running" if self.running else formatting.status_of(self._footer)

    @property
    def success(self) -> bool:
        """Whether it succeeded."""
        return self._footer is not None and bool(self._footer["success"])

    @property
    def _footer(self) -> Record | None:
        """The run's footer, if the last record is one; the last record may be a subagent's."""
        return self.last if self.last["type"] == "footer" and self.last["run"] == self.header["run"] else None

    @property
    def usage(self) -> Usage | None:
        """Its usage, if it has ended."""
        from react_run.journal.values import usage_from_data

        return usage_from_data(self.last["usage"]) if self.last["type"] == "footer" else None

    def to_dict(self) -> dict[str, object]:
        """The summary as ``react-run runs list --json`` prints it."""
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


class RunStore(Protocol):
    """A store of runs. Readers need files, so a store without files hands out copies."""

    def find(self, name: str | None) -> Path:
        """The journal of a run, by file or by the start of the run's id; ``None`` means the latest run.

        Raises:
            ConfigError: There is no such run, or there are several.
        """

    def summaries(self) -> Iterator[Summary]:
        """Summaries of all runs, latest first."""

    def open(self, path: Path) -> Sink:
        """Open a journal that :meth:`find` returned, to continue its run.

        Raises:
            JournalBusy: Another process is running it.
            JournalError: It cannot be opened.
        """

    def remove(self, summary: Summary) -> None:
        """Remove a run.

        Raises:
            JournalError: The run is still active.
        """


def summaries(files: list[Path]) -> Iterator[Summary]:
    """Summarise each journal; skip files that are not journals, are empty, or have a damaged first or last record."""
    return filter(None, map(_summary, files))


def _summary(path: Path) -> Summary | None:
    try:
        with path.open("rb") as file:
            running = not try_lock(file.fileno())
            header = from_json(file.readline())
            last = from_json(_last_line(file.fileno()))
        summary = Summary(path=path, header=header, last=last, running=running)
        summary.to_dict(), formatting.moment(header["time"])  # check everything
        formatting.one_line(header["prompt"])  # that a list shows
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError):
        return None
    return summary


def _last_line(descriptor: int) -> bytes:
    """The last complete line of a file, read from the end."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    data = b""
    while end and data.count(b"\n") < 2:
        start = max(0, end - _BLOCK)
        os.lseek(descriptor, start, os.SEEK_SET)
        data = os.read(descriptor, end - start) + data
        end = start
    return data[: data.rfind(b"\n")].rpartition(b"\n")[2]


def remove_run(summary: Summary) -> None:
    """Remove a run's journal, and the files it saved in its workspace.

    Raises:
        JournalError: The run is still active.
    """
    from react_run.journal.attachments import folder_of

    if summary.running:
        raise JournalError(f"run {summary.run_id[:12]} is still running: stop it first")
    if _ID.fullmatch(summary.run_id):
        shutil.rmtree(run_directory(Path(summary.header["workspace"]), summary.run_id), ignore_errors=True)
    shutil.rmtree(folder_of(summary.path), ignore_errors=True)
    summary.path.unlink()
