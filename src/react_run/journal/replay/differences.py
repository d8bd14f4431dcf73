"""Describes how a replay differs from its recording: the iteration, expected and actual values, and the position."""

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
"""The mask that stands for a secret in a journal (behaviour J2); it matches any text."""
_WIDTH = 160
"""How many characters of a value are shown."""
_BEFORE = 50
"""How many characters before the first difference are shown."""
_DIFF_LINES = 16


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first difference between a replay and its recording."""

    iteration: int
    what: str
    expected: object
    got: object

    def error(self) -> ReplayMismatch:
        """The difference as an error."""
        return ReplayMismatch(str(self))

    def __str__(self) -> str:
        expected, got = _text(self.expected), _text(self.got)
        start = max(0, _first_difference(expected, got) - _BEFORE)
        lines = [
            f"iteration {self.iteration}: {self.what} differs from the recording",
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
    """Whether two values are equal; a mask in the expected one matches anything."""
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
    """Find the first message that differs from the recording: its index, the expected and the actual message.

    Args:
        expected: The recorded messages.
        got: The messages about to be sent.
        run_ids: The ids of the recorded and of the current run.
        start: How many messages at the start are known to be equal.
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
