"""The output of a batch: a line per row, written exactly once, even across crashes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from react_run.errors import ConfigError
from react_run.journal.files import cut_torn_line
from react_run.journal.locks import try_lock

_BLOCK = 1 << 20
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Line(Protocol):
    """What becomes a line: JSON with the ``index`` of its row."""

    def line(self) -> str:
        """The line, without its end."""


class Output(Protocol):
    """Takes results."""

    def write(self, results: Sequence[Line]) -> None:
        """Write a line for each."""

    def close(self) -> None:
        """Write no more."""


class FileOutput:
    """Lines in a file; a torn last line, as a crash leaves it, is cut off.

    Args:
        path: The file.
        known: Whether the batch was begun before, so that the file may hold lines of it.

    Raises:
        ConfigError: It cannot be written, another process writes it, or somebody else's lines are in it.
    """

    def __init__(self, path: Path, *, known: bool) -> None:
        self.path = path
        try:
            self._file = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
        try:
            if not try_lock(self._file):
                raise ConfigError(f"another process writes to {path}")
            if not known and os.fstat(self._file).st_size:
                raise ConfigError(f"{path} exists, but no batch saved here wrote it: move it away, or use --fresh")
            cut_torn_line(self._file)
        except BaseException:
            os.close(self._file)
            raise

    def lines(self) -> int:
        """How many lines it has; they must be those of the first rows.

        Raises:
            ConfigError: They are not.
        """
        number, last, start = 0, b"", 0
        size = os.fstat(self._file).st_size
        while start < size:
            block = self._read(_BLOCK, start)
            number, start = number + block.count(b"\n"), start + len(block)
        if number:
            last = self._last_line(size)
            self._check(last, number, number - 1)
        return number

    def indices(self) -> bytearray:
        """Which rows have their line, where lines come in any order."""
        with open(os.dup(self._file), "rb") as file:
            file.seek(0)
            found = [self._check(line, number) for number, line in enumerate(file, 1)]
        seen = bytearray(max(found, default=-1) + 1)
        for index in found:
            seen[index] = 1
        return seen

    def _read(self, size: int, start: int) -> bytes:
        os.lseek(self._file, start, os.SEEK_SET)  # lines are appended, wherever this leads
        return os.read(self._file, size)

    def _last_line(self, size: int) -> bytes:
        data, start = b"", size
        while start and data.count(b"\n") < 2:
            step = min(start, 65_536)
            start -= step
            data = self._read(step, start) + data
        return data.rstrip(b"\n").rpartition(b"\n")[2]

    def _check(self, line: bytes, number: int, expected: int | None = None) -> int:
        try:
            index = int(json.loads(line)["index"])
        except (ValueError, LookupError, TypeError):
            index = -1
        if index < 0 or (expected is not None and index != expected):
            raise ConfigError(
                f"{self.path}:{number}: this line is not what the batch wrote there: move the file away (the same "
                "command writes it again), or start over with --fresh"
            )
        return index

    def clear(self) -> None:
        """Begin anew: all lines are written again."""
        os.ftruncate(self._file, 0)

    def write(self, results: Sequence[Line]) -> None:
        data = "".join(f"{result.line()}\n" for result in results).encode()
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        os.fsync(self._file)
        os.close(self._file)
