"""Searches files with a regular expression, in a process that can be stopped; run as a program by ``search_files``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

SHOWN = 300
"""Characters of a line that are shown."""


CPU_SECONDS = 30
"""After this it is ended by the system, even when whoever started it was killed and cannot."""


def main() -> None:
    """Read a query from the first argument; write matches as lines, then a note on what was not searched, as JSON."""
    with suppress(ImportError):  # no such thing on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    query = json.loads(sys.argv[1])
    sys.path[:] = query["sys_path"]
    print(json.dumps(search(**query["options"])))


def search(
    root: str, pattern: str, files: str, skipped: list[str], context: int, limit: int, largest: int
) -> dict[str, Any]:
    """The lines that match, with ``context`` lines around each, and how many files could not be searched.

    Args:
        root: The directory.
        pattern: The regular expression.
        files: Which files, as a pattern.
        skipped: Names of directories that are left out.
        context: Lines shown before and after.
        limit: Matches shown at most.
        largest: Bytes of a file that is searched at most.
    """
    from react_run import Folder, ToolError
    from react_toolsets.texts import decode

    compiled = re.compile(pattern)
    folder = Folder(Path(root))
    lines: list[str] = []
    found = matching = unread = 0
    for entry in folder.find(files, frozenset(skipped)):
        if entry.kind != "file":
            unread += entry.kind == "closed"
            continue
        try:
            text, _ = decode(folder.read(entry.path, largest), entry.path)
        except ToolError as error:
            unread += error.code != "binary_file"
            continue
        own = text.removesuffix("\n").split("\n") if text else []
        numbers = [number for number, line in enumerate(own) if compiled.search(line)]
        matching += bool(numbers)
        room = max(0, limit - found)
        found += len(numbers)
        lines += _shown(entry.path, own, numbers[:room], context)
    return {"lines": lines, "found": found, "files": matching, "unread": unread}


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


if __name__ == "__main__":
    main()
