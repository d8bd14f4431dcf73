"""Describes how a replay differs from its recording: the iteration, expected and actual values, and the exact place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from react_run.errors import ReplayMismatch
from react_run.journal.canonical import anonymous
from react_run.journal.lines import to_json
from react_run.journal.values import message_to_data
from react_run.support.dataclasses import dataclass
from react_run.support.render import escape

if TYPE_CHECKING:
    from react_run.messages import Message

MASK = "***"
"""What stands in a journal where a secret was (behaviour J2); anything may have been there."""
_WIDTH = 160
"""Characters of a value that are shown."""
_BEFORE = 50
"""Characters that are shown before the first difference."""
_DIFF_LINES = 16


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first difference of a replay; its text is for people."""

    iteration: int
    what: str
    expected: object
    got: object

    def error(self) -> ReplayMismatch:
        """It as an error."""
        return ReplayMismatch(str(self))

    def __str__(self) -> str:
        expected, got = _text(self.expected), _text(self.got)
        start = max(0, _first_difference(expected, got) - _BEFORE)
        lines = [
            f"iteration {self.iteration}: {self.what} is not as recorded",
            f"  expected: {_excerpt(expected, start)}",
            f"  got:      {_excerpt(got, start)}",
        ]
        if "\n" in expected or "\n" in got:
            lines += [f"    {escape(line)}" for line in _diff(expected, got)]
        return "\n".join(lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else to_json(value)


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((position for position, (a, b) in pairs if a != b), min(len(one), len(other)))


def _excerpt(text: str, start: int) -> str:
    if len(text) <= _WIDTH:
        start = 0
    end = start + _WIDTH
    shown = escape(text[start:end]).replace("\n", "\\n").replace("\t", "\\t")
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"


def _diff(expected: str, got: str) -> Iterator[str]:
    lines = list(unified_diff(expected.splitlines(), got.splitlines(), "expected", "got", n=1, lineterm=""))
    yield from (line[:_WIDTH] for line in lines[:_DIFF_LINES])
    if len(lines) > _DIFF_LINES:
        yield f"… and {len(lines) - _DIFF_LINES} more lines"


def same(expected: object, got: object) -> bool:
    """Whether two values are equal, where a mask in the recorded one stands for anything."""
    if expected == got:
        return True
    one, other = to_json(expected), to_json(got)
    if one == other or MASK not in one:
        return one == other
    pattern = ".*?".join(map(re.escape, one.split(MASK)))
    return re.fullmatch(pattern, other, re.DOTALL) is not None


def different_message(
    expected: Sequence[Message], got: Sequence[Message], run_ids: tuple[str, str], start: int = 0
) -> tuple[int, object, object] | None:
    """The first message that is not as recorded: its index, what was recorded, and what there is.

    Args:
        expected: What was recorded.
        got: What is about to be sent.
        run_ids: The id of the recorded run, and of the one that is going on.
        start: How many messages at the beginning are known to be the same.
    """
    for index in range(start, max(len(expected), len(got))):
        if index < min(len(expected), len(got)) and expected[index] == got[index]:
            continue
        one, other = (_data(*pair, index) for pair in zip((expected, got), run_ids, strict=True))
        if not same(one, other):
            return index, one, other
    return None


def _data(messages: Sequence[Message], run_id: str, index: int) -> object:
    return anonymous(message_to_data(messages[index]), run_id) if index < len(messages) else "(no message)"
