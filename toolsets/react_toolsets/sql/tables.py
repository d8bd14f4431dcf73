"""Formats results as compact tables: one line for the columns, one for each row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal

NULL = "NULL"
LONGEST_CELL = 4_000
"""The most characters of one value."""


class Table:
    """The text of a result, built row by row within limits.

    Args:
        columns: The names of the columns.
        max_rows: The most rows.
        max_bytes: The most bytes of all lines.
    """

    def __init__(self, columns: Sequence[str], *, max_rows: int, max_bytes: int) -> None:
        self.lines = [" | ".join(map(_cell, columns))]
        self.rows = 0
        self.stopped = ""
        """The limit that was reached, if any."""
        self._max_rows, self._left = max_rows, max_bytes - len(self.lines[0])

    def add(self, row: Iterable[object]) -> bool:
        """Add a row; return whether it fits."""
        if self.rows >= self._max_rows:
            self.stopped = f"the limit of {self._max_rows:,} rows"
            return False
        line = " | ".join(map(_cell, row))
        self._left -= len(line.encode("utf-8", "replace")) + 1
        if self._left < 0:
            self.stopped = "the limit on the size of a result"
            return False
        self.lines.append(line)
        self.rows += 1
        return True

    def __str__(self) -> str:
        count = f"[{self.rows:,} row{'' if self.rows == 1 else 's'}]"
        if self.stopped:
            count = f"[the first {self.rows:,} rows; {self.stopped} was reached. Aggregate, or use WHERE and LIMIT]"
        return "\n".join([*self.lines, count])


def _cell(value: object) -> str:
    text = _text(value)
    if len(text) > LONGEST_CELL:
        text = f"{text[:LONGEST_CELL]}… ({len(text):,} characters)"
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("|", "\\|")


def _text(value: object) -> str:
    match value:
        case None:
            return NULL
        case bool():
            return str(value).lower()
        case str():
            return value
        case int() | float() | Decimal():
            return str(value)
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return f"<{len(value):,} bytes>"
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)
