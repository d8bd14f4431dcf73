"""What a call or an objection is about."""

from __future__ import annotations

import pytest

from react_run.engine.subjects import file_of


@pytest.mark.parametrize(
    ("location", "file"),
    [
        ("calc.py", "calc.py"),
        ("calc.py:3:1", "calc.py"),
        (" ./src/../calc.py:3: ", "calc.py"),
        (":3", ""),
        (" ", ""),
    ],
)
def test_the_file_of_a_location_is_without_lines_and_empty_if_none_is_named(location: str, file: str) -> None:
    assert file_of(location) == file
