"""Opens, reads, lists and replaces files below a directory, using descriptors only.

Every step opens one name relative to the previous directory and follows no link, so neither ``..``, nor a link, nor
swapping a directory for a link in the meantime can lead out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from react_run.support.files.entries import Entry, entries, walk
from react_run.support.files.globs import compiled, fixed_part
from react_run.support.files.names import PathRefused, parts_of, refusal, shown_path, written_parts_of
from react_run.support.files.opening import FILE, open_in, opened
from react_run.support.files.replacing import Version, replace
from react_run.support.own_code import guard_imports, is_own_code


class Folder:
    """The directory ``root`` and what is below it.

    Args:
        root: The directory; it may itself be a link, or be reached through one.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    # -- reading ------------------------------------------------------------------------------------------------------

    def open(self, path: str) -> int:
        """Open the regular file ``path`` for reading, and return its descriptor.

        Raises:
            PathRefused: It does not exist, it is not a regular file, or the path is refused.
        """
        parts = parts_of(path)
        if not parts:
            raise PathRefused(f"{shown_path(path)} is a directory", code="not_a_file")
        with self._directory(parts[:-1], path) as directory:
            file = open_in(directory, parts[-1], FILE, path)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise PathRefused(f"{shown_path(path)} is not a regular file", code="not_a_file")
        return file

    def read(self, path: str, limit: int) -> bytes:
        """The content of the regular file ``path``.

        Args:
            path: Relative to the folder, names separated by ``/``.
            limit: Maximum bytes to read.

        Raises:
            PathRefused: It does not exist, the path is refused, or the file is larger.
        """
        return self.read_version(path, limit)[0]

    def read_version(self, path: str, limit: int) -> tuple[bytes, Version]:
        """The content of the regular file ``path``, and its version; see :meth:`read`."""
        with os.fdopen(self.open(path), "rb") as file:
            version = Version.of(os.fstat(file.fileno()))
            try:
                data = file.read(limit + 1)
            except OSError as error:
                raise refusal(error, path) from None
        if len(data) > limit:
            raise PathRefused(f"{shown_path(path)} has more than {limit:,} bytes", code="too_large")
        return data, version

    def exists(self, path: str) -> bool:
        """Whether there is anything at ``path``, which may be a link.

        Raises:
            PathRefused: The path is refused, or goes through a link.
        """
        parts = parts_of(path)
        try:
            with self._directory(parts[:-1], path) as directory:
                if parts:
                    os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise refusal(error, path) from None
        except PathRefused as error:
            if error.code == "not_found":
                return False
            raise
        return True

    # -- looking around -----------------------------------------------------------------------------------------------

    def entries(self, path: str = ".") -> list[Entry]:
        """The entries of the directory ``path``, by name.

        Raises:
            PathRefused: There is no such directory, or the path is refused.
        """
        parts = parts_of(path)
        with self._directory(parts, path) as directory:
            try:
                return entries(directory, "/".join(parts))
            except OSError as error:
                raise refusal(error, path) from None

    def walk(self, path: str = ".", skipped: frozenset[str] = frozenset(), depth: int = 64) -> Iterator[Entry]:
        """Everything below the directory ``path`` that is not a directory, depth first and by name.

        Args:
            path: Where to start.
            skipped: Names of directories not to enter.
            depth: Maximum depth; a deeper directory is ``closed``, and so is one that cannot be read.

        Raises:
            PathRefused: There is no such directory, or the path is refused.
        """
        parts = parts_of(path)
        with self._directory(parts, path) as directory:
            yield from walk(directory, "/".join(parts), skipped, depth)

    def find(self, pattern: str, skipped: frozenset[str] = frozenset()) -> Iterator[Entry]:
        """The entries that match ``pattern``: without wildcards the entry itself, else all matches except directories.

        Args:
            pattern: Relative to the folder: ``*`` and ``?`` stay within a name, ``**`` is any number of levels.
            skipped: Names of directories that wildcards do not enter. A directory that cannot be read is returned as
                ``closed``.

        Raises:
            PathRefused: The pattern is absolute, leads out, is not valid, or leads through a file.
        """
        parts = parts_of(pattern)
        matches = compiled(pattern, parts)
        fixed = fixed_part(parts)
        if len(fixed) < len(parts):
            for entry in self.walk("/".join(fixed) or ".", skipped):
                if entry.kind == "closed" or matches.fullmatch(entry.path):
                    yield entry
        elif not parts:
            yield Entry(".", "directory")
        elif self.exists(pattern):
            yield from (entry for entry in self.entries("/".join(parts[:-1]) or ".") if matches.fullmatch(entry.path))

    # -- writing ------------------------------------------------------------------------------------------------------

    def replace(self, path: str, data: bytes, version: Version | None = None) -> None:
        """Replace the content of the file ``path`` with ``data`` atomically; it keeps its mode. Missing directories are
        created.

        Args:
            path: Relative to the folder.
            data: The complete new content.
            version: The version that ``data`` is based on; if the file has changed since, nothing is written.

        Raises:
            PathRefused: The path is refused, is not a file, or the file may not be written.
        """
        *folders, name = self._written_parts(path)
        with self._directory(folders, path, make=True) as directory:
            try:
                replace(directory, name, data, version, path)
            except OSError as error:
                raise refusal(error, path) from None

    def remove(self, path: str) -> None:
        """Remove the regular file ``path``.

        Raises:
            PathRefused: It does not exist, or the path is refused.
        """
        *folders, name = self._written_parts(path)
        os.close(self.open(path))
        with self._directory(folders, path) as directory:
            try:
                os.unlink(name, dir_fd=directory)
            except OSError as error:
                raise refusal(error, path) from None

    def _written_parts(self, path: str) -> list[str]:
        """The names in the path of a file to write, checked not to be part of the running code."""
        parts = written_parts_of(path)
        if is_own_code(self.root, parts):
            text = f"{shown_path(path)}: nothing is written to the code of react-run, or to a virtual environment"
            raise PathRefused(text, code="not_permitted")
        guard_imports(self.root)
        return parts

    def _directory(self, parts: Sequence[str], path: str, *, make: bool = False) -> AbstractContextManager[int]:
        """A descriptor of the directory at ``parts``; messages call it ``path``."""
        return opened(self.root, parts, path, make=0o777 if make else None)
