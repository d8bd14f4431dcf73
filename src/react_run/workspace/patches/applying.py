"""Applies a unified diff to the files of a folder: every hunk fits, or nothing is changed."""

from __future__ import annotations

from contextlib import suppress

from react_run.outcome import ToolError
from react_run.support.dataclasses import dataclass
from react_run.support.files import Folder, Version
from react_run.workspace.patches.diff import FilePatch, Hunk, PatchError, lines_of, parse

MAX_FILE = 10 * 1024 * 1024
"""Maximum bytes of a file to patch."""


@dataclass(frozen=True)
class Changed:
    """The change to one file: lines added and removed."""

    path: str
    added: int
    removed: int

    def __str__(self) -> str:
        return f"{self.path} (+{self.added} -{self.removed})"


@dataclass(frozen=True)
class _Step:
    """One file's content before and after, ``None`` if there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    version: Version | None

    def take(self, folder: Folder) -> None:
        if self.after is None:
            folder.remove(self.path)
        else:
            folder.replace(self.path, self.after, self.version)

    def take_back(self, folder: Folder) -> None:
        if self.before is None:
            folder.remove(self.path)
        else:
            folder.replace(self.path, self.before)


def apply_patch(folder: Folder, patch: str) -> list[Changed]:
    """Apply a unified diff to the files in ``folder``, completely or not at all.

    Raises:
        PatchError: The text is not a diff, or does not fit.
        PathRefused: It names a file outside, or one that may not be written.
    """
    files = parse(patch)
    taken: list[_Step] = []
    try:
        for step in [_planned(folder, file) for file in files]:
            step.take(folder)
            taken.append(step)
    except ToolError:
        for step in reversed(taken):
            with suppress(ToolError):
                step.take_back(folder)
        raise
    return [
        Changed(file.path, sum(hunk.added for hunk in file.hunks), sum(hunk.removed for hunk in file.hunks))
        for file in files
    ]


def _planned(folder: Folder, file: FilePatch) -> _Step:
    if file.old is None:
        if folder.exists(file.path):
            raise PatchError(f"{file.path} already exists")
        return _Step(file.path, None, "".join(_patched([], file)).encode(), None)
    data, version = folder.read_version(file.old, MAX_FILE)
    try:
        lines = lines_of(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise PatchError(f"{file.old} is not UTF-8 text") from None
    after = "".join(_patched(lines, file))
    if file.new is None and after:
        raise PatchError(f"{file.old} would be removed, but has more lines than the patch says")
    return _Step(file.path, data, None if file.new is None else after.encode(), version)


def _patched(lines: list[str], file: FilePatch) -> list[str]:
    made: list[str] = []
    position = 0
    for hunk in file.hunks:
        start = _place(lines, hunk, position)
        if start is None:
            raise PatchError(f"line {hunk.start} of {file.path} is not what the patch says")
        made += lines[position:start] + hunk.after
        position = start + len(hunk.before)
    return made + lines[position:]


def _place(lines: list[str], hunk: Hunk, earliest: int) -> int | None:
    """The position where ``hunk`` fits: the stated one, or the only other one."""
    size = len(hunk.before)
    wanted = hunk.start - 1 if size else hunk.start  # a hunk that only adds gives the line before it
    if earliest <= wanted <= len(lines) and lines[wanted : wanted + size] == hunk.before:
        return wanted
    if not size:
        return None
    found = [at for at in range(earliest, len(lines) - size + 1) if lines[at : at + size] == hunk.before]
    return found[0] if len(found) == 1 else None
