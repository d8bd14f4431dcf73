"""Text that arrives in pieces (behaviours J2, L10): all of it is handed on, and no secret, however it was cut."""

from __future__ import annotations

import time

import pytest
from tests.secrets.test_masker import CANARIES, FORMS

from react_run.secrets import Masker
from react_run.secrets.stream import StreamMasker


def handed_on(masker: Masker, text: str, size: int) -> list[str]:
    held = StreamMasker(masker)
    pieces = [held.add(text[at : at + size]) for at in range(0, len(text), size)]
    return [piece for piece in (*pieces, held.rest()) if piece]


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize("form", FORMS)
def test_no_secret_gets_through_in_pieces_in_any_form(form: str, size: int) -> None:
    masker = Masker(CANARIES[:3])
    text = " and ".join(f"{FORMS[form](canary)}, {'then more ' * 80}" for canary in CANARIES[:3])
    pieces = handed_on(masker, text, size)
    assert "".join(pieces) == masker.mask(text)
    assert "***" in "".join(pieces)
    assert len(pieces) > 1 or size == 4096


def test_what_a_pattern_matches_does_not_get_through_in_pieces_either() -> None:
    masker = Masker(patterns=[r"\d{16}"])
    pieces = handed_on(masker, f"card 1234567812345678{' and more' * 100}", 3)
    assert "".join(pieces) == f"card ***{' and more' * 100}"
    assert len(pieces) > 1


@pytest.mark.parametrize("size", [7, 23])
@pytest.mark.parametrize("form", ["plain", "base64, in lines", "json"])
def test_a_stream_that_is_all_secrets_is_handed_on_in_linear_time(form: str, size: int) -> None:
    masker = Masker(CANARIES)
    once = "".join(map(FORMS[form], CANARIES))

    def seconds(text: str) -> float:
        started = time.process_time()
        pieces = handed_on(masker, text, size)
        taken = time.process_time() - started
        assert "".join(pieces) == masker.mask(text)
        assert len(pieces) > len(text) / 400  # not all at the end
        return taken

    seconds(once)
    assert min(seconds(once * 6) for _ in range(2)) < 18 * min(seconds(once) for _ in range(3)) + 0.05


def test_a_pattern_that_matches_all_of_a_stream_does_not_slow_it_down() -> None:
    masker = Masker(patterns=[r"\d{16,}"])
    started = time.process_time()
    assert handed_on(masker, "7" * 50_000, 1) == ["***"]
    assert time.process_time() - started < 5


def test_without_secrets_every_piece_goes_through_as_it_comes() -> None:
    assert handed_on(Masker(), "one two", 4) == ["one ", "two"]
