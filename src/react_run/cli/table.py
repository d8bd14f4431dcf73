"""A table for people: drawn on a terminal; aligned columns, never cut, anywhere else."""

from __future__ import annotations

import sys

ROOM = {"role": 60, "description": 32, "distribution": 60, "version": 60, "seconds": 110, "tokens": 110, "cost": 110}
"""The terminal width from which optional columns are shown."""
WHOLE = ("name", "file", "run", "started")
"""Columns with values that people copy or compare, which are never cut."""


def show_table(entries: list[dict[str, str]], columns: tuple[str, ...]) -> None:
    """Print ``entries``, without the columns that are empty in all of them.

    Args:
        entries: The rows, each with all ``columns``.
        columns: The names of the columns, in order.
    """
    from react_run.cli.terminal import is_dumb, is_terminal, width
    from react_run.support.text import printable

    columns = tuple(column for column in columns if any(entry[column] for entry in entries))
    if is_terminal(sys.stdout) and not is_dumb():
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        columns = tuple(column for column in columns if width() >= ROOM.get(column, 0))
        while len(columns) > 1 and 1 + sum(_least(column, entries) for column in columns) > width():
            columns = columns[:-1]
        table = Table(*columns, box=box.SIMPLE, header_style="bold")
        for column in table.columns:
            if column.header in WHOLE:
                column.no_wrap, column.overflow = True, "ignore"
        for entry in entries:
            table.add_row(*(Text(printable(entry[column])) for column in columns))
        Console().print(table)
        return
    widths = [_widest(column, entries) for column in columns]
    for row in entries:
        cells = [printable(row[column]).ljust(width) for column, width in zip(columns, widths, strict=True)]
        print("  ".join(cells).rstrip())


def _widest(column: str, entries: list[dict[str, str]]) -> int:
    return max(len(column), *(len(entry[column]) for entry in entries))


def _least(column: str, entries: list[dict[str, str]]) -> int:
    """The minimum width of a column on a terminal, including its separator."""
    widest = _widest(column, entries)
    return 3 + (widest if column in WHOLE else min(widest, 8))
