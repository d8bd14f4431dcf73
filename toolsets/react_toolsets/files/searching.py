"""Searches the lines of files with a regular expression, which may be hostile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from react_run import Folder, Pattern, SlowPattern, ToolError
from react_run.support import dataclass, in_thread
from react_toolsets.files.trouble import FileTrouble
from react_toolsets.texts import decode

SECONDS = 20.0
"""Time limit for a search."""
LARGEST = 5 * 1024 * 1024
"""The most bytes of a file that is searched; larger files are only counted."""
SHOWN = 300
"""The most characters of a line that are shown."""
NOTHING = "[no match]"
"""The start of the result if nothing was found."""


async def search(
    root: Path, pattern: str, files: str, *, ignore_case: bool, context: int, limit: int, skipped: frozenset[str]
) -> str:
    """The lines below ``root`` that match, as ``path:number: line``.

    The search runs in a thread, which ends after :data:`SECONDS`, or soon after the caller has stopped waiting.

    Raises:
        FileTrouble: The pattern is invalid, the files cannot be read, or the search takes too long.
    """
    try:
        compiled = Pattern(f"(?i:{pattern})" if ignore_case else pattern)
    except ValueError as error:
        reason = str(error).removeprefix("this is not a regular expression: ")
        raise FileTrouble(f"the pattern is not a regular expression: {reason}", code="invalid_pattern") from error
    wanted = _Wanted(Folder(root), compiled, files, context, limit, skipped)
    try:
        found = await in_thread(wanted.find)
    except SlowPattern as error:
        text = f"the search took too long: {error}, or name fewer files"
        raise FileTrouble(text, code="timeout") from error
    except ToolError as error:
        raise FileTrouble(str(error), code="search_failed") from error
    finally:
        wanted.stopped.set()
    return found.to_text(limit)


@dataclass
class _Found:
    lines: list[str] = field(default_factory=list)
    matches: int = 0
    files: int = 0
    unread: int = 0

    def to_text(self, limit: int) -> str:
        matches = f"{self.matches} match{'' if self.matches == 1 else 'es'}"
        notes = [f"[{matches} in {self.files} files]" if self.matches else NOTHING]
        if self.matches > limit:
            notes.append(f"[only the first {limit} are shown: use a more exact pattern, or name fewer files]")
        if self.unread:
            notes.append(f"[{self.unread} files or directories could not be searched: too large, or not readable]")
        return "\n".join([*self.lines, *notes])


@dataclass
class _Wanted:
    """A search, which ends early when ``stopped`` is set."""

    folder: Folder
    pattern: Pattern
    files: str
    context: int
    limit: int
    skipped: frozenset[str]
    stopped: threading.Event = field(default_factory=threading.Event)

    def find(self) -> _Found:
        """Search file by file.

        Raises:
            SlowPattern: The search takes too long.
        """
        found, self._end = _Found(), time.monotonic() + SECONDS
        for entry in self.folder.find(self.files, self.skipped):
            self._go_on()
            if entry.kind != "file":
                found.unread += entry.kind == "closed"
                continue
            try:
                text, _ = decode(self.folder.read(entry.path, LARGEST), entry.path)
            except ToolError as error:
                found.unread += error.code != "binary_file"
                continue
            self._look_at(entry.path, text.removesuffix("\n").split("\n") if text else [], found)
        return found

    def _look_at(self, path: str, lines: list[str], found: _Found) -> None:
        numbers = []
        for number, line in enumerate(lines):
            if number % 256 == 0:
                self._go_on()
            if self.pattern.search(line):
                numbers.append(number)
        found.files += bool(numbers)
        room = max(0, self.limit - found.matches)
        found.matches += len(numbers)
        found.lines += _shown(path, lines, numbers[:room], self.context)

    def _go_on(self) -> None:
        if self.stopped.is_set() or time.monotonic() > self._end:
            raise SlowPattern(f"it takes more than {SECONDS:g} s; use a simpler pattern")


def _shown(path: str, lines: list[str], numbers: list[int], context: int) -> Iterator[str]:
    matches = set(numbers)
    around = sorted({at for n in numbers for at in range(n - context, n + context + 1) if 0 <= at < len(lines)})
    before = None
    for at in around:
        if context and before is not None and at > before + 1:
            yield "--"
        sign = ":" if at in matches else "-"
        yield f"{path}{sign}{at + 1}{sign} {lines[at][:SHOWN]}".rstrip()
        before = at
