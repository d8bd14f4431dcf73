"""The head and tail of a long text, cut by bytes at character boundaries."""

from __future__ import annotations

import pytest

from react_run.support.preview import HEAD, TAIL, head, parts, size_of, tail


@pytest.mark.parametrize("size", [4 * 1024, 24 * 1024, 1024 * 1024])
def test_a_preview_has_3_kib_of_head_and_1_kib_of_tail_however_much_room_there_is(size: int) -> None:
    text = "a" * 100_000 + "b" * 100_000
    assert parts(text, size) == ("a" * 3 * 1024, "b" * 1024)


@pytest.mark.parametrize("size", [512, 1_000, 4 * 1024 - 4])
def test_with_less_room_the_head_gets_three_quarters_and_the_tail_one(size: int) -> None:
    beginning, end = parts("a" * 100_000 + "b" * 100_000, size)
    assert (len(beginning), len(end)) == (size * 3 // 4, size // 4)


@pytest.mark.parametrize("size", [*range(12), 1_000, HEAD + TAIL, 1024 * 1024])
@pytest.mark.parametrize("letter", ["a", "é", "漢", "👩"])
def test_no_character_is_cut_in_half_and_no_room_is_left_for_another(letter: str, size: int) -> None:
    text = letter * 2_000
    for cut in (head(text, size), tail(text, size)):
        assert set(cut) <= {letter}
        assert size - size_of(letter) < size_of(cut) <= size or cut == text


def test_half_a_surrogate_pair_counts_as_it_is_shown() -> None:
    assert size_of("a\ud800") == 2
    assert head("a\ud800b", 2) == "a?"
    assert tail("a\ud800b", 2) == "?b"
