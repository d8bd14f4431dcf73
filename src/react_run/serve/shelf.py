"""A server's journals on disk: written, found, and followed as they grow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_run.errors import JournalError
from react_run.journal.files import FileSink
from react_run.journal.locate import batches_directory, evals_directory, run_files
from react_run.journal.reading import Journal, read_journal
from react_run.journal.recorder import Recorder
from react_run.journal.sinks import Sink
from react_run.journal.summaries import Summary, summaries
from react_run.serve.jobs import Job, current_job
from react_run.serve.signals import Signal

if TYPE_CHECKING:
    from react_run.journal.values import Record
    from react_run.run import Run

SERVED = "served"
"""The option in a journal's header that marks runs started by a server."""
_KEPT = 4
"""How many parsed journals are cached: a page reads the same one several times."""
_LOOK_AGAIN = 0.25
"""Seconds between two looks at a journal that another process is writing."""


class TellingSink:
    """Passes records on, and notifies the run's listeners.

    Args:
        sink: The sink that writes them.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    @classmethod
    def open(cls, path: Path) -> TellingSink:
        """Append to a journal."""
        return cls(FileSink(path))

    def write(self, record: Record, text: str) -> None:
        self._sink.write(record, text)
        if (job := current_job.get()) is not None:
            job.recorded.fire()

    def attach(self, name: str, data: bytes) -> bool:
        attach = getattr(self._sink, "attach", None)
        return attach is not None and attach(name, data)

    async def sync(self) -> None:
        await self._sink.sync()

    def close(self) -> None:
        self._sink.close()


class ServedRecorder(Recorder):
    """Records runs, adding what the server knows about them."""

    def session_of(self, run: Run) -> str | None:
        job = current_job.get()
        return job.session if job is not None else None

    def options_of(self, run: Run) -> dict[str, Any]:
        job = current_job.get()
        return {**self.options, **(job.options if job is not None else {}), SERVED: True}


class Shelf:
    """The journals of runs, in one directory.

    Args:
        directory: The directory of the journals.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._read: dict[tuple[Path, int, int], Journal] = {}
        """The journals read last, by path, modification time and size."""

    def recorder(self, options: Mapping[str, object]) -> Recorder:
        """A recorder for an agent's runs."""
        return ServedRecorder.into(self._sink_of, options=dict(options))

    def _sink_of(self, run: Run) -> Sink:
        return TellingSink.open(self.directory / f"{run.id}.jsonl")

    def path_of(self, run_id: str) -> Path | None:
        """The path of a run's journal, if there is one; batches and evaluations are searched, too."""
        if not run_id.isalnum():
            return None
        path = self.directory / f"{run_id}.jsonl"
        if path.is_file():
            return path
        homes = (batches_directory(), evals_directory())
        return next((found for home in homes for found in home.glob(f"*/runs/{run_id}.jsonl")), None)

    def find(self, name: str) -> Path | None:
        """The path of the journal whose run id begins with ``name``, if exactly one does."""
        if not name.isalnum():
            return None
        if (path := self.path_of(name)) is not None:
            return path
        found = list(self.directory.glob(f"{name}*.jsonl"))
        return found[0] if len(found) == 1 else None

    def read(self, run_id: str) -> Journal | None:
        """The journal of a run, as far as it has been written."""
        path = self.find(run_id)
        if path is None:
            return None
        try:
            state = path.stat()
            key = (path, state.st_mtime_ns, state.st_size)
            if key not in self._read:
                self._read[key] = read_journal(path)
                while len(self._read) > _KEPT:
                    self._read.pop(next(iter(self._read)), None)
            return self._read[key]
        except (JournalError, OSError, KeyError):
            return None

    def summaries(self) -> Iterator[Summary]:
        """A summary of each run, latest first."""
        return summaries(run_files(self.directory))

    def summary(self, run_id: str) -> Summary | None:
        """A summary of one run, without reading all of its journal."""
        path = self.path_of(run_id)
        return None if path is None else next(summaries([path]), None)

    def interrupted(self, limit: int = 10_000) -> Iterator[Journal]:
        """The unfinished runs of this and earlier servers, latest first."""
        for summary in summaries(run_files(self.directory)[:limit]):
            if summary.header["options"].get(SERVED) and not summary.running and may_go_on(summary.last):
                try:
                    yield read_journal(summary.path)
                except JournalError:
                    continue


def may_go_on(last: Record) -> bool:
    """Whether a run with this last record was interrupted, rather than ending by itself."""
    if last["type"] != "footer":
        return True
    return bool(last["status"] == "failed" and last["error"]["type"] in ("CancelledError", "KeyboardInterrupt"))


def stopped_by_somebody(journal: Journal) -> bool:
    """Whether a run was stopped on purpose, not by an error or the shutdown of the server."""
    for record in reversed(journal.own):
        if record["type"] == "resumed":
            return False
        if record["type"] == "guard" and record["guard"] == "serve":
            return not str(record["detail"]).startswith("the server was stopped")
    return False


async def follow(
    path: Path, after: int, live: Callable[[], Job | None], *, ends: Callable[[], bool], more: Callable[[], bool]
) -> AsyncIterator[tuple[int, str] | None]:
    """Yield a journal's numbered records after ``after`` as they are written, and ``None`` after 15 quiet seconds.

    Args:
        path: The journal; it need not exist yet.
        after: The number of the last record already known; 0 starts at the beginning.
        live: Returns the run while this server is running it.
        ends: Returns whether to stop now.
        more: Returns whether records may follow although the run is not active.
    """
    number, offset, quiet = 0, 0, 0.0
    while True:
        job = live()
        for line in (found := _lines(path, offset)):
            offset += len(line)
            number += 1
            if number > after:
                yield number, line.rstrip(b"\n").decode("utf-8", "replace")
        if ends():
            return
        if found:
            quiet = 0.0
            continue
        if job is None and not more() and _is_over(path):
            return
        woken = await _wait(job)
        quiet = 0.0 if woken else quiet + (15.0 if job is not None else _LOOK_AGAIN)
        if quiet >= 15:
            quiet = 0.0
            yield None


async def _wait(job: Job | None) -> bool:
    if job is not None:
        return await job.recorded.wait(15)
    return await Signal().wait(_LOOK_AGAIN)


def _lines(path: Path, offset: int) -> list[bytes]:
    """The complete lines from ``offset`` on, about a megabyte at most."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return [line for line in file.readlines(1_000_000) if line.endswith(b"\n")]
    except OSError:
        return []


def _is_over(path: Path) -> bool:
    """Whether no process is writing the journal."""
    from react_run.journal.locks import try_lock

    try:
        with path.open("rb") as file:
            return try_lock(file.fileno())
    except OSError:
        return True
