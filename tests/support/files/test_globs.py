"""Patterns for paths: what they match, and that none takes for ever."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from fnmatch import translate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_run.support.files.globs import compiled

NAMES = st.text("ab.", min_size=1, max_size=4)
PATTERNS = st.text("ab.*?", min_size=1, max_size=5).filter(lambda name: name.strip(".") and name != "**")


def matches(names: Sequence[str], parts: Sequence[str]) -> bool:
    """What a path of ``names`` means to match, found by trying everything."""
    if not parts:
        return not names
    if parts[0] == "**":
        if len(parts) == 1:
            return bool(names)
        return any(matches(names[at:], parts[1:]) for at in range(len(names) + 1))
    return bool(names) and bool(re.match(translate(parts[0]), names[0])) and matches(names[1:], parts[1:])


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(PATTERNS | st.just("**"), min_size=1, max_size=5))
def test_a_pattern_matches_what_trying_everything_finds(names: list[str], parts: list[str]) -> None:
    found = compiled("/".join(parts), parts).fullmatch("/".join(names))
    assert bool(found) == matches(names, parts)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "*b", "a" * 250),
        ("**/a/" * 12 + "b", "a/" * 60 + "a"),
        ("**/*a*a*a*b/" * 6 + "b", ("a" * 60 + "/") * 30 + "a"),
        ("**/" * 60 + "b", "a/" * 60 + "a"),
        ("?*" * 60 + "b", "a" * 250),
    ],
)
def test_no_pattern_takes_for_ever(pattern: str, path: str) -> None:
    started = time.process_time()
    assert compiled(pattern, pattern.split("/")).fullmatch(path) is None
    assert time.process_time() - started < 1
