"""Parses unified diffs strictly: a text that cannot be applied exactly is not a patch."""

from __future__ import annotations

import re
from dataclasses import field

from react_run.outcome import ToolError
from react_run.support.dataclasses import dataclass

NOTHING = "/dev/null"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_UNSUPPORTED = ("rename ", "copy ", "GIT binary patch", "Binary files ", "old mode ", "new mode ")


class PatchError(ToolError):
    """A patch is not a unified diff, or does not fit the files."""

    default_code = "patch"


@dataclass
class Hunk:
    """One change: the lines that must be there, and their replacement, with line ends."""

    start: int
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    added: int = 0
    removed: int = 0

    def add(self, sign: str, text: str) -> None:
        """Add one line, which begins with ``sign``."""
        if sign != "+":
            self.before.append(text)
        if sign != "-":
            self.after.append(text)
        self.added += sign == "+"
        self.removed += sign == "-"


@dataclass
class FilePatch:
    """The changes of one file; ``old`` is ``None`` if it is created, ``new`` is ``None`` if it is removed."""

    old: str | None
    new: str | None
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The file, relative to the workspace."""
        return self.new or self.old or NOTHING


def lines_of(text: str) -> list[str]:
    """The lines of ``text`` with their ends; only a line feed ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def parse(patch: str) -> list[FilePatch]:
    """The changes that a unified diff describes.

    Raises:
        PatchError: The text is not a diff, or has unsupported changes: renames, modes, binary files.
    """
    lines = lines_of(patch if patch.endswith("\n") else f"{patch}\n")
    files: list[FilePatch] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(_UNSUPPORTED):
            raise PatchError(f"a patch can only change the text of files, unlike: {line.strip()[:80]}")
        if line.startswith("--- "):
            files.append(_file(line, lines[at + 1] if at + 1 < len(lines) else ""))
            at += 1
        elif line.startswith("@@ ") and files:
            hunk, at = _hunk(lines, at)
            files[-1].hunks.append(hunk)
            continue
        at += 1
    if not files or not all(file.hunks for file in files):
        raise PatchError("the patch is not a unified diff: it needs --- and +++ lines, then hunks that begin with @@")
    if len({file.path for file in files}) < len(files):
        raise PatchError("the patch names a file twice")
    return files


def _file(first: str, second: str) -> FilePatch:
    if not second.startswith("+++ "):
        raise PatchError("the line after --- must begin with +++")
    names = [line[4:].rstrip("\r\n").partition("\t")[0] for line in (first, second)]
    prefixed = all(name == NOTHING or name.startswith(prefix) for name, prefix in zip(names, ("a/", "b/"), strict=True))
    old, new = (None if name == NOTHING else name[2:] if prefixed else name for name in names)
    if old is not None and new is not None and old != new:
        raise PatchError(f"a patch cannot rename {old} to {new}")
    return FilePatch(old, new)


def _hunk(lines: list[str], at: int) -> tuple[Hunk, int]:
    """The hunk that begins at line ``at``, and the line after it."""
    match = _HUNK.match(lines[at])
    if match is None:
        raise PatchError(f"no hunk begins like this: {lines[at].strip()[:80]}")
    old, new = int(match[2] or 1), int(match[4] or 1)
    hunk, sign = Hunk(int(match[1])), ""
    at += 1
    while at < len(lines):
        line = lines[at]
        if line.startswith("\\"):  # "No newline at end of file", about the line before
            _cut_newline(hunk, sign)
        elif len(hunk.before) >= old and len(hunk.after) >= new:
            break
        else:
            empty = not line.strip("\r\n")  # some tools drop the space of an empty line
            sign = " " if empty else line[0]
            if sign not in " +-":
                raise PatchError(f"a line in a hunk begins with a space, + or -, unlike: {line.strip()[:80]}")
            hunk.add(sign, line if empty else line[1:])
        at += 1
    if (len(hunk.before), len(hunk.after)) != (old, new):
        raise PatchError("a hunk has more or fewer lines than its first line says")
    return hunk, at


def _cut_newline(hunk: Hunk, sign: str) -> None:
    for part, spared in ((hunk.before, "+"), (hunk.after, "-")):
        if sign != spared and part:
            part[-1] = part[-1].removesuffix("\n")
