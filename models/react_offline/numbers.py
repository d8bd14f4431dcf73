"""Parses numbers as people write them, in digits or in words, into plain numerals."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from react_offline.text import Token

_SMALL_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: number for number, word in enumerate(_SMALL_WORDS.split())}
_TENS = {word: 10 * number for number, word in enumerate(_TENS_WORDS.split(), start=2)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_HUNDRED = "hundred"
_DOZEN = 12

Found = tuple[str, int]
"""A numeral and the index of the token after it."""


def number_at(tokens: Sequence[Token], index: int) -> Found | None:
    """The unsigned number that starts at ``index``: ``1,250.5``, ``2.5 million``, ``two hundred and five``."""
    if index >= len(tokens):
        return None
    token = tokens[index]
    if token.kind == "number":
        return _scaled(token.text.replace(",", "").replace("_", ""), tokens, index + 1)
    return _in_words(tokens, index) if token.kind == "word" else None


def signed_number_at(tokens: Sequence[Token], index: int) -> Found | None:
    """Like :func:`number_at`, with an optional sign directly before the number, or in words."""
    sign = tokens[index] if index < len(tokens) else None
    if sign is None or sign.low not in ("-", "+", "minus", "negative"):
        return number_at(tokens, index)
    found = number_at(tokens, index + 1)
    joined = found and (sign.kind == "word" or not tokens[index + 1].spaced)
    if not found or not joined:
        return None
    return (found[0] if sign.low == "+" else f"-{found[0]}", found[1])


def _scaled(text: str, tokens: Sequence[Token], index: int) -> Found:
    scale = 1
    while index < len(tokens) and tokens[index].low in _SCALES:
        scale *= _SCALES[tokens[index].low]
        index += 1
    return (plain(Decimal(text) * scale) if scale > 1 else text, index)


def plain(number: Decimal) -> str:
    """``number`` in digits, without an exponent or trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _in_words(tokens: Sequence[Token], index: int) -> Found | None:
    words = _number_words(tokens, index)
    if not words:
        return None
    total = group = 0
    for word in words:
        if word in _SCALES:
            total, group = total + max(group, 1) * _SCALES[word], 0
        elif word == _HUNDRED:
            group = max(group, 1) * 100
        elif word == "dozen":
            group = max(group, 1) * _DOZEN
        elif word not in ("a", "and"):
            group += _value(word)
    decimals, end = _decimals(tokens, index + len(words))
    return f"{total + group}{decimals}", end


def _value(word: str) -> int:
    tens, _, unit = word.partition("-")
    return _TENS.get(tens, _SMALL.get(tens, 0)) + _SMALL.get(unit, 0)


def _is_number_word(word: str) -> bool:
    tens, hyphen, unit = word.partition("-")
    if hyphen:
        return tens in _TENS and unit in _SMALL
    return word in _SMALL or word in _TENS


def _number_words(tokens: Sequence[Token], index: int) -> list[str]:
    """The words of a number; it ends before a word that cannot continue it (``two three``)."""
    words: list[str] = []
    while index < len(tokens):
        word = tokens[index].low
        if not _continues(words, word, tokens[index + 1].low if index + 1 < len(tokens) else ""):
            break
        words.append(word)
        index += 1
    return words


def _continues(words: list[str], word: str, following: str) -> bool:
    last = words[-1] if words else ""
    if word == "a":
        return not words and following in ("hundred", "dozen", *_SCALES)
    if word == "and":
        return last in (_HUNDRED, *_SCALES) and _is_number_word(following)
    if word in (_HUNDRED, "dozen"):
        return last == "a" or (_is_number_word(last) and _value(last) < 20)
    if word in _SCALES:
        return bool(words) and last not in ("and", "dozen")
    if not _is_number_word(word):
        return False
    return not words or last in (_HUNDRED, "and", *_SCALES) or (last in _TENS and 0 < _value(word) < 10)


def _decimals(tokens: Sequence[Token], index: int) -> Found:
    digits = ""
    position = index + 1
    if index < len(tokens) and tokens[index].low == "point":
        while position < len(tokens) and tokens[position].low in _SMALL and _SMALL[tokens[position].low] < 10:
            digits += str(_SMALL[tokens[position].low])
            position += 1
    return (f".{digits}", position) if digits else ("", index)
