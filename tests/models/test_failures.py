"""What providers say about failures, without keys (behaviour J2)."""

from __future__ import annotations

import pytest

from react_run.models.failures import mask


@pytest.mark.parametrize(
    "key", ["sk-abcdef0123", "sk-abcdefgh/ijkl+mnop=", "key_0123456789~!.x", "ghp_abcdefABCDEF0123"]
)
@pytest.mark.parametrize("text", ["bad key {}", "'{}' is wrong", "see https://x.test/?k={}&a=b, please"])
def test_of_what_looks_like_a_key_no_tail_is_left(key: str, text: str) -> None:
    assert mask(text.format(key)) == text.format("***")
