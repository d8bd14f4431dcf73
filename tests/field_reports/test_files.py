"""Files as editors leave them: mixed line ends, control characters, blanks of other kinds, pasted line numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rows import rows

from react_run import ReActStep
from react_run.testing import agent_with, calls, says
from react_toolsets.files import FilesToolset


def step(root: Path, tool: str, **arguments: object) -> ReActStep:
    agent = agent_with([calls((tool, {"path": "t", **arguments})), says("x")], toolsets=[FilesToolset(read_only=False)])
    agent.workspace = root
    return agent.run_sync("go").steps[0]


@pytest.fixture
def edit(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Edits a file, and gives what it holds then, and what the model was told."""

    def edited(before: str, old: str, new: str, **more: object) -> tuple[str, str]:
        (tmp_path / "t").write_bytes(before.encode())
        taken = step(tmp_path, "edit_file", old_text=old, new_text=new, **more)
        return (tmp_path / "t").read_bytes().decode(), taken.observation

    return edited


@pytest.mark.parametrize("row", rows("files.edit"))
def test_a_reported_edit_is_made_or_told_how(row: Mapping[str, Any], edit: Callable[..., tuple[str, str]]) -> None:
    given, expected = row["input"], row["expected"]
    after, said = edit(given["file"], given["old_text"], given["new_text"])
    assert after == expected.get("file", given["file"])
    assert expected.get("said", "Edited t at line 1") in said


@pytest.mark.parametrize("row", rows("files.read"))
def test_a_reported_file_is_shown_without_its_line_ends(row: Mapping[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(row["input"]["file"].encode())
    assert step(tmp_path, "read_file").observation.split("\n")[-1] == row["expected"]


@pytest.mark.parametrize("row", rows("files.write"))
def test_line_ends_that_are_kept_are_mentioned_with_the_way_out(row: Mapping[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(row["input"]["file"].encode())
    kept = step(tmp_path, "write_file", content=row["input"]["content"])
    assert row["expected"]["said"] in kept.observation
    assert (tmp_path / "t").read_bytes().decode() == row["expected"]["kept"]
    changed = step(tmp_path, "write_file", content=row["input"]["content"], line_ends="lf")
    assert "CRLF" not in changed.observation
    assert (tmp_path / "t").read_bytes().decode() == row["input"]["content"]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\nb\r\nc\n", "a\nb\nc", "a\nB\nc", "a\nB\r\nc\n"),
        ("a\r\nb\r\nc", "b\nc", "B\nc", "a\r\nB\r\nc"),
        ("a\r\nb\nc\r\nd\n", "b\nc", "b\nx\ny\nc", "a\r\nb\nx\ny\nc\r\nd\n"),
        ("a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nd\n", "a\r\nd\n"),
        ("a\nb\r\n", "b\r\n", "c\n", "a\nc\n"),
        ("a\r\na\n", "a\r\n", "b\r\n", "b\r\na\n"),
        ("a\nb\rc\nd\r\n", "b\\x0dc", "b\\x0dC", "a\nb\rC\nd\r\n"),
        ("x\x0by", "x\\x0by", "x\\x0bz", "x\x0bz"),
        ("x\x85y", "x\\x85y", "", ""),
        ("a\\x1bb", "a\\x1bb", "a\\x1bc", "a\\x1bc"),  # the four characters, which no control character was shown as
    ],
)
def test_what_was_shown_can_be_sent_back(
    before: str, old: str, new: str, after: str, edit: Callable[..., tuple[str, str]]
) -> None:
    assert edit(before, old, new)[0] == after


def test_every_place_keeps_its_own_line_ends(edit: Callable[..., tuple[str, str]]) -> None:
    assert edit("a\r\nb\n-\na\nb\r\n", "a\nb", "a\nB", everywhere=True)[0] == "a\r\nB\n-\na\nB\r\n"


def test_half_of_what_one_character_is_shown_as_is_not_in_the_file(edit: Callable[..., tuple[str, str]]) -> None:
    after, said = edit("a\x1bb", "1b", "c")
    assert (after, "is not in" in said) == ("a\x1bb", True)


def test_an_escape_that_may_mean_two_things_is_refused(edit: Callable[..., tuple[str, str]]) -> None:
    before = "\x1b = '\\x1b'"
    after, said = edit(before, "\\x1b = '\\x1b'", "\\x1b")
    assert (after, "unclear which" in said) == (before, True)


@pytest.mark.parametrize(
    ("before", "old", "said"),
    [
        ("a  b\n", "a b", 'it is "a  b", and old_text has "a b"'),
        ("\tif x:\n\t\ty\n", "\tif x:\n        y", r'Line 2 differs from it in white space only: it is "\t\ty"'),
        ("a\u2009b", "a b", r'it is "a\u2009b"'),
        ("a\u3000b", "a b", r'it is "a\u3000b"'),
        ("a", "a\n", "other line breaks around it"),
    ],
)
def test_blanks_that_differ_are_shown(before: str, old: str, said: str, edit: Callable[..., tuple[str, str]]) -> None:
    assert said in edit(before, old, "c")[1]


@pytest.mark.parametrize("form", ["{}: {}", "{}\t{}", "{:6}\t{}", "{:4}→{}", "{:>3} {}".replace(" ", "| ", 1)])
def test_pasted_line_numbers_are_pointed_out(form: str, edit: Callable[..., tuple[str, str]]) -> None:
    pasted = "\n".join(form.format(number, line) for number, line in enumerate(("one", "two"), 1))
    assert "without the line numbers" in edit("one\ntwo\n", pasted, "x")[1]


def test_numbers_that_belong_to_the_text_are_no_line_numbers(edit: Callable[..., tuple[str, str]]) -> None:
    assert "line numbers" not in edit("a\n", "1: one\n2: two", "x")[1]
