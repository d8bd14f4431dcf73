"""Results saved whole beside a run: files that no name, id or link can lead astray (behaviour T4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from react_run.support.run_files import OURS, run_folders, safe_name

_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
CHUNK = 1 << 18
"""Characters that are written at a time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A result on disk: the name it is read by, and its path as the model sees it, relative to the workspace."""

    name: str
    path: str
    text: str
    """What is in the file; not kept beyond the iteration."""


class Spill:
    """The saved results of one run, in the order in which they were saved."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        """Path by name."""
        self.known: dict[tuple[int, str], str] = {}
        """Name by length and samples of the text, so that a result is saved once."""
        self.count = 0

    def save(self, workspace: Path, run_id: str, tool: str, text: str, *, structured: bool = False) -> Saved:
        """Save ``text``, a result of ``tool``.

        Raises:
            OSError: It cannot be saved; nothing is left behind.
        """
        body = one_per_line(text) if structured else None
        suffix = "txt" if body is None else "json"
        body = text if body is None else body
        name = self._found(workspace, body)
        if name is None:
            folders = (*run_folders(run_id), "spill")
            name = self._write(workspace, folders, f"{safe_name(tool)}.{suffix}", body)
            self.known[sample(body)] = name
            self.names[name] = "/".join((*folders, name))
        return Saved(name=name, path=self.names[name], text=body)

    def _found(self, workspace: Path, body: str) -> str | None:
        """The name under which ``body`` was saved before."""
        name = self.known.get(sample(body))
        if name is None:
            return None
        try:
            return name if self.read(workspace, name) == body else None
        except OSError:  # somebody removed it
            return None

    def _write(self, workspace: Path, folders: Sequence[str], ending: str, text: str) -> str:
        while True:
            self.count += 1
            name = f"{self.count}-{ending}"
            try:
                write_new(workspace, folders, name, text)
            except FileExistsError:  # a resumed run saves what it saved before
                if not _holds(workspace, folders, name, text):
                    continue
            return name

    def read(self, workspace: Path, name: str) -> str:
        """The whole of a saved result.

        Raises:
            KeyError: No result of this run has that name.
            OSError: It cannot be read any more.
        """
        *folders, leaf = self.names[name].split("/")
        return read(workspace, folders, leaf).decode(errors="replace")


def sample(text: str) -> tuple[int, str]:
    """What tells most texts apart, and takes no time for long ones."""
    middle = len(text) // 2
    return len(text), text[:256] + text[middle : middle + 256] + text[-256:]


def one_per_line(text: str) -> str | None:
    """JSON with one element, or one member, per line; ``None`` when ``text`` does not begin with an array or object."""
    import json

    from pydantic_core import to_json

    if not text.startswith(("[", "{")):
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text)
        if isinstance(value, list):
            lines = [to_json(item) for item in value]
        else:
            lines = [to_json({key: item})[1:-1] for key, item in value.items()]
    except (ValueError, RecursionError):
        return None
    body = b",\n".join(lines).decode()
    return f"{text[0]}\n{body}\n{text[end - 1]}{text[end:]}"


@contextmanager
def _opened(root: Path, folders: Sequence[str], *, make: bool) -> Iterator[int]:
    if os.open not in os.supports_dir_fd:
        raise OSError("this system cannot open files relative to a directory")
    descriptor = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700, dir_fd=descriptor)
            inner = os.open(folder, os.O_RDONLY | _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
            if make and folder == OURS:
                _keep_out_of_version_control(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def _keep_out_of_version_control(directory: int) -> None:
    """Have git pass over the directory: what is saved there is no part of the project it lies in."""
    with suppress(OSError):  # there is one already, as a rule
        file = os.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=directory)
        with os.fdopen(file, "wb") as stream:
            stream.write(b"*\n")


def write_new(root: Path, folders: Sequence[str], name: str, text: str | bytes) -> None:
    """Write ``text`` as a file that does not exist yet, below ``root``, following no link.

    Raises:
        OSError: It exists, a link is in the way, or it cannot be written; then nothing is left of it.
    """
    with _opened(root, folders, make=True) as folder:
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=folder)
        try:
            with os.fdopen(file, "wb") as stream:
                for start in range(0, len(text), CHUNK):  # a second copy of a long text would cost more than this
                    piece = text[start : start + CHUNK]
                    stream.write(piece if isinstance(piece, bytes) else piece.encode(errors="replace"))
        except OSError:
            os.unlink(name, dir_fd=folder)
            raise


def read(root: Path, folders: Sequence[str], name: str) -> bytes:
    """The content of a file below ``root``, following no link.

    Raises:
        OSError: It is not there, or a link is in the way.
    """
    with _opened(root, folders, make=False) as folder:
        file = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
        with os.fdopen(file, "rb") as stream:
            return stream.read()


def _holds(root: Path, folders: Sequence[str], name: str, text: str) -> bool:
    try:
        return read(root, folders, name) == text.encode(errors="replace")
    except OSError:
        return False
