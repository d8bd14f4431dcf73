"""Every row is driven by a test: a kind that nobody drives would be a table that nobody reads."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.field_reports.rows import ROWS


def driven() -> set[str]:
    """The rows that the tests beside this one take as parameters."""
    found = set()
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for test in vars(import_module(f"tests.field_reports.{file.stem}")).values():
            for mark in getattr(test, "pytestmark", []):
                if mark.name == "parametrize":
                    found |= {getattr(parameters, "id", None) for parameters in mark.args[1]}
    return {name for name in found if isinstance(name, str)}


def test_every_row_is_driven_by_a_test() -> None:
    assert [row["id"] for row in ROWS if row["id"] not in driven()] == []


def test_no_row_is_there_twice() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 95


def test_every_row_says_what_must_come_of_it() -> None:
    assert [row["id"] for row in ROWS if not row.get("expected")] == []
