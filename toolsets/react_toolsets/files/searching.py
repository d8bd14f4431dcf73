"""Searching the lines of files with a regular expression that may be a hostile one."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from react_toolsets.files.trouble import FileTrouble
from react_toolsets.programs import run_program

WORKER = Path(__file__).with_name("search_worker.py")
SECONDS = 20.0
"""How long one search may take."""
LARGEST = 5 * 1024 * 1024
"""Bytes of a file that is searched; larger ones are counted."""
NOTHING = "[no match]"
"""How the result of a search begins that found nothing."""
_CEILING = 16 * 1024 * 1024


async def search(
    root: Path, pattern: str, files: str, *, ignore_case: bool, context: int, limit: int, skipped: frozenset[str]
) -> str:
    """The lines below ``root`` that match, as ``path:number: line``.

    It runs in a process of its own: some patterns take for ever, and nothing in this process could stop them.

    Raises:
        FileTrouble: The pattern is none, the files cannot be looked at, or it takes too long.
    """
    pattern = f"(?i:{pattern})" if ignore_case else pattern
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise FileTrouble(f"the pattern is not a regular expression: {error}", code="invalid_pattern") from error
    options = {
        "root": str(root),
        "pattern": pattern,
        "files": files,
        "skipped": sorted(skipped),
        "context": context,
        "limit": limit,
        "largest": LARGEST,
    }
    query = json.dumps({"sys_path": _without(root), "options": options})
    finished = await run_program(
        [sys.executable, "-I", "-S", str(WORKER), query],
        directory=root,
        environment={},
        timeout=SECONDS,
        ceiling=_CEILING,
    )
    if finished.timed_out:
        text = f"the search took more than {SECONDS:g} s; use a simpler pattern, or name fewer files"
        raise FileTrouble(text, code="timeout")
    if finished.status:
        reason = finished.output.strip().rpartition("\n")[2].partition(": ")[2]
        raise FileTrouble(reason or "the search failed", code="search_failed")
    return _told(json.loads(finished.output), limit)


def _without(root: Path) -> list[str]:
    """Where the process may import from: not from where the model can write, though we may have been started there."""
    return [entry for entry in sys.path if Path(entry).resolve() != root.resolve()]


def _told(answer: dict[str, object], limit: int) -> str:
    lines, found = answer["lines"], answer["found"]
    assert isinstance(lines, list)  # the worker says so
    assert isinstance(found, int)  # as above
    notes = [f"[{found} match{'' if found == 1 else 'es'} in {answer['files']} files]" if found else NOTHING]
    if found > limit:
        notes.append(f"[only the first {limit} are shown: use a more exact pattern, or name fewer files]")
    if answer["unread"]:
        notes.append(f"[{answer['unread']} files or directories could not be searched: too large, or not readable]")
    return "\n".join([*lines, *notes])
