"""SECURITY.md says exactly what the code promises, and names a test for each promise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.faults import KINDS
from tests.config.test_fences import ASKED_THERE

from react_toolsets.programs.promises import PROMISES

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
PROMISED, _, NOT_PROMISED = TEXT.partition("## What is promised")[2].partition("## What this does not protect from")


def rows(text: str) -> list[list[str]]:
    """The rows of the table in ``text``, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_every_promise_about_programs_is_in_the_table() -> None:
    names = [row[0] for row in rows(PROMISED)]
    assert [promise.name for promise in PROMISES] == names[: len(PROMISES)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", rows(PROMISED), ids=lambda row: row[0])
def test_every_promise_names_how_where_and_a_test(row: list[str]) -> None:
    name, how, where, test = row
    assert all((name, how, where))
    path = test.strip("`")
    assert (ROOT / path).is_file()
    assert re.search(r"^def test_", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("option", sorted(ASKED_THERE))
def test_every_option_that_names_a_host_is_said_to_be_open(option: str) -> None:
    if option != "web.deny_hosts":  # it closes hosts
        assert f"`{option.partition('.')[2]}`" in NOT_PROMISED


def test_the_page_of_attempts_names_every_kind_and_nothing_broke_in() -> None:
    found = {row[0]: row for row in rows((ROOT / "docs" / "fence.md").read_text(encoding="utf-8"))}
    assert list(found) == list(KINDS)
    for kind, (_, attempts, held, broke, _, test) in found.items():
        assert int(attempts) == int(held) > 0, kind
        assert (broke, test) == ("0", f"`{KINDS[kind]}`")


def test_everything_that_is_not_promised_says_what_to_do() -> None:
    assert len(rows(NOT_PROMISED)) >= 10
    for row in rows(NOT_PROMISED):
        assert len(row) == 2
        assert all(row)
