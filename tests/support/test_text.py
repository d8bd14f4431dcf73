"""Text that people read: nothing in it steers a terminal, or hides."""

from __future__ import annotations

import pytest

from react_run.support import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcödé 漢字 👩\u200d💻", "plain ünïcödé 漢字 👩\u200d💻"),
        ("a\nb\tc", "a\nb\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("over\rwritten", "over\\rwritten"),
        ("ab\u202ecd", "ab\\u202ecd"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_line_keeps_no_line_end() -> None:
    assert printable("a\nb\tc", keep="") == "a\\nb\\tc"


@pytest.mark.parametrize("letter", ["\u3164", "\u115f", "\ufe0f", "\U000e0100"])
def test_letters_without_a_shape_are_written_out_where_a_person_decides(letter: str) -> None:
    assert printable(f"a{letter}b") == f"a{letter}b"
    assert printable(f"a{letter}b", strict=True) == f"a{letter.encode('unicode_escape').decode()}b"
