"""The tools that read saved results: ``read_result`` and ``search_result`` (behaviour T4)."""

from __future__ import annotations

import re
from functools import cache

from react_run.outcome import ToolError
from react_run.policies.spill import Spill
from react_run.run import Run
from react_run.support.preview import head
from react_run.support.regex import Pattern, SlowPattern
from react_run.support.threads import in_thread
from react_run.tools.tool import Tool

SEARCH_SECONDS = 10.0
"""Time limit for a regular expression, in seconds."""
SHOWN = 120
"""Characters shown on either side of a match."""


@cache
def reading_tools() -> tuple[Tool, ...]:
    """Both tools, created once."""
    return (
        Tool.from_function(read_result, read_only=True, bookkeeping=True),
        Tool.from_function(search_result, read_only=True, bookkeeping=True),
    )


class ReadingTrouble(ToolError):
    """A wrong request for a saved result: not a reason to doubt an answer (behaviour F5)."""

    opaque = True


def read_result(run: Run, name: str, offset: int = 0, limit: int = 8_000) -> str:
    """Read on in a result that was too long to show.

    Args:
        name: The name of the saved result, as its preview says.
        offset: The character to start at, counting from 0.
        limit: How many characters to read at most.
    """
    text = _text(run, name)
    if offset < 0 or limit < 1:
        raise ReadingTrouble("offset must be 0 or more, and limit 1 or more", code="out_of_range")
    room = run.agent.config.limits.max_result_bytes - 256
    shown = head(text[offset : offset + limit], room)
    end = offset + len(shown)
    if not shown:
        return f"[{name} has {len(text)} characters; there is nothing at offset {offset}]"
    more = f"read on at offset {end}" if end < len(text) else "this is the end"
    return f"{shown}\n[characters {offset} to {end} of {len(text)}; {more}]"


async def search_result(run: Run, name: str, pattern: str, limit: int = 20) -> str:
    """Search a result that was too long to show.

    Args:
        name: The name of the saved result, as its preview says.
        pattern: A regular expression (Python syntax).
        limit: How many matches to show at most.
    """
    text = _text(run, name)
    try:
        compiled = Pattern(pattern, seconds=SEARCH_SECONDS, multiline=True)
    except ValueError as error:
        reason = str(error).removeprefix("this is not a regular expression: ")
        raise ReadingTrouble(f"the pattern is not a regular expression: {reason}", code="invalid_pattern") from error
    limit = max(1, min(limit, 50))
    if re.escape(pattern) == pattern:
        found = [(match.start(), match.end()) for match in re.finditer(pattern, text)]
        total, found = len(found), found[:limit]
    else:
        total, found = await _search(text, compiled, limit)
    if not total:
        return f"[no match in {name}, {len(text)} characters]"
    lines = [_shown(text, start, end) for start, end in found]
    return "\n".join([f"[{total} matches in {name}; {len(found)} shown, each with its offset]", *lines])


def _shown(text: str, start: int, end: int) -> str:
    end = min(end, start + SHOWN)
    around = text[max(0, start - SHOWN) : end + SHOWN]
    return f"{start}: {' '.join(around.split())}"


def _text(run: Run, name: str) -> str:
    spill = run.state(Spill)
    try:
        return spill.read(run.workspace, name.rpartition("/")[2])
    except KeyError:
        known = ", ".join(spill.names) or "none"
        raise ReadingTrouble(
            f"no saved result is named {name[:80]!r}; there are: {known}", code="unknown_result"
        ) from None
    except OSError as error:
        raise ReadingTrouble(f"{name} can no longer be read: {error.strerror}", code="unreadable_result") from error


async def _search(text: str, pattern: Pattern, limit: int) -> tuple[int, list[tuple[int, int]]]:
    """Count the matches of ``pattern``, and find the first ones; runs in a thread with a timeout."""

    def search() -> tuple[int, list[tuple[int, int]]]:
        total, found = 0, []
        for total, span in enumerate(pattern.spans(text), 1):
            if total <= limit:
                found.append(span)
        return total, found

    try:
        return await in_thread(search)
    except SlowPattern as error:
        raise ReadingTrouble(f"the search took too long: {error}", code="timeout") from None
