"""The cache and functions: one file for many processes, and never the answer of another function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rows import ROWS, rows
from tests.fired import Fired

from react_run import ReActAgent, RunResult, tool
from react_run.testing import calls, says

(SOURCE,) = (row["input"]["source"] for row in ROWS if row["kind"] == "plugins.cache")


def asked(
    folder: Path,
    source: str = SOURCE,
    *others: object,
    toolsets: list[Any] | None = None,
    **arguments: str,
) -> RunResult:
    """A new agent, with the functions of a file, asks for a price."""
    (folder / "prices.py").write_text(source)
    agent = ReActAgent(
        {
            "model": {"kind": "scripted", "replies": [calls(("price", {"item": "pen", **arguments})), says("done")]},
            "plugins": [{"kind": "cache", "path": str(folder / "c.db")}],
        },
        toolsets=toolsets or [{"kind": "functions", "path": str(folder / "prices.py")}],
        plugins=others,
    )
    return agent.run_sync("go")


def times(folder: Path) -> int:
    """How often the function ran."""
    log = folder / "ran"
    return len(log.read_text()) if log.exists() else 0


@pytest.mark.parametrize("row", rows("plugins.cache"))
def test_a_function_is_asked_once_by_many_agents(row: Mapping[str, Any], tmp_path: Path) -> None:
    for _ in range(row["input"]["runs"]):
        assert asked(tmp_path, row["input"]["source"]).steps[0].observation == "pen: 5 EUR"
    assert times(tmp_path) == row["expected"]["executed"]


def test_an_edited_function_is_another_one(tmp_path: Path) -> None:
    for amount in ("5", "60"):
        folder = tmp_path / amount
        folder.mkdir()
        (folder / "c.db").symlink_to(tmp_path / "c.db")
        assert asked(folder, SOURCE.replace("5", amount)).steps[0].observation == f"pen: {amount} EUR"


def test_a_file_that_was_edited_after_it_was_loaded_is_not_shared(tmp_path: Path) -> None:
    asked(tmp_path)
    fired = Fired()
    (tmp_path / "c.db").unlink()
    asked(tmp_path, SOURCE.replace("5", "60"), fired)  # this process still runs what it loaded
    assert "cached for this process only" in fired.of("cache")[0]


def test_a_default_that_is_spelled_out_makes_no_other_call(tmp_path: Path) -> None:
    asked(tmp_path)
    asked(tmp_path, currency="EUR")
    assert times(tmp_path) == 1
    asked(tmp_path, currency="USD")
    assert times(tmp_path) == 2


RAN: list[str] = []


@tool(read_only=True)
def price(item: str) -> str:
    """The price of an item."""
    RAN.append(item)
    return f"{item}: 7"


def test_a_function_of_a_program_is_kept_by_its_file(tmp_path: Path) -> None:
    RAN.clear()
    for _ in range(2):
        asked(tmp_path, toolsets=[price])
    assert RAN == ["pen"]


def test_a_closure_is_known_in_its_own_process_only_and_says_so(tmp_path: Path) -> None:
    def priced(amount: int) -> Any:
        @tool(read_only=True, name="price")
        def closure(item: str) -> str:
            """The price of an item."""
            return f"{item}: {amount}"

        return closure

    fired = Fired()
    assert asked(tmp_path, toolsets=[priced(1)]).steps[0].observation == "pen: 1"
    assert asked(tmp_path, SOURCE, fired, toolsets=[priced(2)]).steps[0].observation == "pen: 2"
    assert "cached for this process only" in fired.of("cache")[0]
