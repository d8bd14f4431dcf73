"""Rows from files: what is read, and what is said of a row that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_run import ConfigError
from react_run.batch import Row, read_rows


def rows(path: Path, content: str | bytes, **options: object) -> list[Row]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_rows(path, **options))  # type: ignore[arg-type]  # as the caller says


def test_a_line_is_a_text_or_an_object_with_a_prompt(tmp_path: Path) -> None:
    content = '"one"\n\n{"prompt": "two", "id": 7}\n{"prompt": "Hello {name}", "vars": {"name": "Ada"}}\n'
    found = rows(tmp_path / "in.jsonl", content)
    assert [(row.index, row.prompt, row.id, row.place) for row in found] == [
        (0, "one", None, "in.jsonl:1"),
        (1, "two", "7", "in.jsonl:3"),
        (2, "Hello Ada", None, "in.jsonl:4"),
    ]


def test_a_conversation_may_come_before_the_prompt(tmp_path: Path) -> None:
    (row,) = rows(tmp_path / "in.jsonl", '{"messages": [{"role": "user", "content": "hi"}]}')
    assert (row.problem, row.prompt, len(row.messages)) == ("", "", 1)


def test_csv_has_quotes_newlines_a_mark_and_large_cells(tmp_path: Path) -> None:
    large = "x" * 1_000_000
    content = b'\xef\xbb\xbfid,text\r\na,"say ""hi"",\r\nplease"\r\nb,' + large.encode() + b"\r\n"
    first, second = rows(tmp_path / "in.csv", content, prompt="Read: {text}")
    assert (first.id, first.prompt, first.place) == ("a", 'Read: say "hi",\r\nplease', "in.csv:2")
    assert (second.prompt, second.place) == (f"Read: {large}", "in.csv:4")


def test_tabs_and_plain_lines_are_read_too(tmp_path: Path) -> None:
    assert [row.prompt for row in rows(tmp_path / "in.tsv", "prompt\tid\none\ta\n")] == ["one"]
    assert [row.prompt for row in rows(tmp_path / "in.txt", '"one"\ntwo {x}\n')] == ['"one"', "two {x}"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{broken", "is not JSON"),
        (b"3", "must be a text or an object with 'prompt', not a number"),
        (b'{"text": "x"}', "has no 'prompt' (it has 'text'); --prompt makes one of its fields"),
        (b'{"prompt": "  "}', "its prompt is empty"),
        (b'{"prompt": ["x"]}', "'prompt' must be a text, not a list"),
        (b'{"prompt": "x", "id": {}}', "'id' must be a text or a number, not an object"),
        (b'{"prompt": "x", "messages": 3}', "'messages' must be a list"),
        (b'{"prompt": "x {y}", "vars": {"z": 1}}', "has no field 'y'"),
        (b'"\xff"', "is not UTF-8"),
        (b"[" * 100_000, "is n"),
    ],
)
def test_a_row_that_cannot_be_run_says_where_it_is_and_why(tmp_path: Path, line: bytes, problem: str) -> None:
    good, bad, after = rows(tmp_path / "in.jsonl", b'"good"\n' + line + b'\n"after"\n')
    assert (good.problem, after.problem) == ("", "")
    assert bad.problem.startswith("in.jsonl:2: ")
    assert problem in bad.problem


def test_a_template_names_the_missing_field_and_those_there_are(tmp_path: Path) -> None:
    (row,) = rows(tmp_path / "in.csv", "text\nx\n", prompt="{txt} {{kept}}")
    assert row.problem == "in.csv:2: has no field 'txt' (it has 'text')"


def test_a_line_of_csv_with_too_many_cells_is_that_rows_problem(tmp_path: Path) -> None:
    bad, good = rows(tmp_path / "in.csv", "prompt\none,two\nthree\n")
    assert bad.problem == "in.csv:2: has 2 cells, and the header has 1"
    assert good.prompt == "three"


@pytest.mark.parametrize(("content", "problem"), [("", "begins with a line"), ("a,a\n", "'a' twice")])
def test_a_header_that_names_nothing_or_twice_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        rows(tmp_path / "in.csv", content)


def test_a_row_is_what_its_position_prompt_and_id_are() -> None:
    one, same, other = Row(index=0, prompt="x"), Row(index=0, prompt="x", place="moved"), Row(index=0, prompt="y")
    assert one.digest == same.digest != other.digest
    assert one.run_id("batch") == same.run_id("batch") != Row(index=1, prompt="x").run_id("batch")
    assert Row.from_payload(0, Row(index=0, prompt="\ud800", id="a").payload).prompt == "\ud800"
