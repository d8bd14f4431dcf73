"""Writes records to an append-only file, one write per record (behaviour J1)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import sleep

from react_run.errors import JournalBusy, JournalError
from react_run.journal.lines import as_bytes
from react_run.journal.locks import try_lock
from react_run.journal.values import Record
from react_run.support.threads import in_thread

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_BLOCK = 65_536
_PATIENCE = 5


class FileSink:
    """Appends to a file, creating it if necessary. A torn last line, left by a crash, is cut off first.

    Args:
        path: The file. Its directory is created, too.
        write: Writes bytes to a descriptor.
        fsync: Makes written bytes durable.
        patience: How often to retry, every 20 ms, while another process holds the lock, perhaps only to read.

    Raises:
        JournalBusy: Another run is writing to the file.
        JournalError: The file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        write: Callable[[int, bytes], int] = os.write,
        fsync: Callable[[int], None] = os.fsync,
        patience: int = _PATIENCE,
    ) -> None:
        self.path = path
        self._write, self._fsync = write, fsync
        self._syncing: asyncio.Task[None] | None = None
        self._problem: JournalError | None = None
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(path, _FLAGS, 0o600)
        except OSError as error:
            raise _cannot("open", path, error) from error
        try:
            if not _lock(self._file, patience):
                raise JournalBusy(f"another run is writing to {path}; give a directory, for a file per run")
            self._size = self._durable = cut_torn_line(self._file)
        except BaseException as error:
            os.close(self._file)
            if isinstance(error, OSError):  # a pipe or a terminal, which cannot be read back
                raise _cannot("open", path, error) from error
            raise

    def write(self, record: Record, text: str) -> None:
        """Append one line. If it does not fit, take back what was written of it."""
        if self._problem is not None:
            raise self._problem
        line = as_bytes(text) + b"\n"
        size = len(line)
        try:
            written = self._write(self._file, line)
            while written < size:
                written += self._write(self._file, line[written:])
        except OSError as error:
            with suppress(OSError):  # a reader drops the torn line
                os.ftruncate(self._file, self._size)
            raise self._failed(error) from error
        self._size += size

    def attach(self, name: str, data: bytes) -> bool:
        """Store an attachment next to the file, durably, under a name derived from its content."""
        from react_run.journal.attachments import folder_of

        path = folder_of(self.path) / name
        if path.exists():
            return True
        part = path.with_name(f".{name}.{os.getpid()}")
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                self._fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise self._failed(error) from error
        return True

    async def sync(self) -> None:
        """Make all written records durable; concurrent callers share one fsync, which runs in a thread."""
        wanted = self._size
        while self._durable < wanted and self._problem is None:
            if self._syncing is None:
                self._syncing = asyncio.ensure_future(self._sync_once())
            await asyncio.shield(self._syncing)
        if self._problem is not None:
            raise self._problem

    async def _sync_once(self) -> None:
        size = self._size
        try:
            await in_thread(partial(self._fsync, self._file))
            self._durable = size
        except OSError as error:
            self._failed(error)
        finally:
            self._syncing = None

    def close(self) -> None:
        """Close the file, after any fsync still in flight for a cancelled call."""
        if self._closed:
            return
        self._closed = True  # the descriptor may soon belong to another file
        self._problem = self._problem or JournalError(f"the journal {self.path} was closed")
        if self._syncing is None:
            os.close(self._file)
        else:
            self._syncing.add_done_callback(lambda _: os.close(self._file))

    def _failed(self, error: OSError) -> JournalError:
        self._problem = _cannot("write", self.path, error)
        return self._problem


def _cannot(do: str, path: Path, error: OSError) -> JournalError:
    return JournalError(f"cannot {do} the journal {path}: {error.strerror or error}")


def _lock(descriptor: int, patience: int) -> bool:
    """Lock the file, retrying because a process that only checks the lock releases it at once."""
    for _ in range(patience):
        if try_lock(descriptor):
            return True
        sleep(0.02)
    return try_lock(descriptor)


def cut_torn_line(descriptor: int) -> int:
    """Cut off everything after the last newline, and return the remaining size."""
    size = end = os.lseek(descriptor, 0, os.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        os.lseek(descriptor, start, os.SEEK_SET)
        found = os.read(descriptor, end - start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
    return end
