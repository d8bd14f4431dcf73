"""How the time of reading a text grows with the text: attacks on a pattern, and the exponent of what they cost.

CPU time is measured, the least of several runs, and a suspicion is looked into at several sizes: a machine that is busy
makes nothing quadratic.
"""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from re import _constants as codes  # type: ignore[attr-defined]  # the parser of patterns, which has no public name
from re import _parser as parser  # type: ignore[attr-defined]  # as above
from typing import Any

EXPONENT = 1.6
"""A little above linear, for noise and for logarithms; quadratic is 2."""
LETTERS = "a1 \n:=(-/.\"'<{[,@*éA"
"""What the attacks are made of: from each kind of repetition they take every letter of these that it matches."""
_SHORT = 0.0015
"""Seconds below which a size is too small to say anything."""
UNITS = [
    *"a1 \n:=(-/.\"'<&{[,;@`\\?%",
    *("a ", "a.", "a:", 'a="', "1,", "1 ", "<a ", "<!--", "```", "\\n", "://", "a@", "${", " \n", "a(", 'File "', "e1"),
]
_MANY = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_OFTEN = 8
"""A repetition that may be longer than this is attacked."""
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: lambda one: one.isdecimal(),
    codes.CATEGORY_NOT_DIGIT: lambda one: not one.isdecimal(),
    codes.CATEGORY_SPACE: lambda one: one.isspace(),
    codes.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
    codes.CATEGORY_WORD: lambda one: one.isalnum() or one == "_",
    codes.CATEGORY_NOT_WORD: lambda one: not (one.isalnum() or one == "_"),
}

Attack = tuple[str, str, str]
"""What a text begins with, what it repeats, and what it ends with."""


def text_of(attack: Attack, size: int) -> str:
    """The attack with ``size`` characters of what it repeats."""
    begin, unit, end = attack
    return begin + unit * max(1, size // len(unit)) + end


def exponent(run: Callable[[str], object], attack: Attack, *, size: int) -> float:
    """With which power of its length the time of reading the attack grows; 0 where it is too short to matter.

    Args:
        run: Reads a text.
        attack: What it reads.
        size: Characters at which what is quadratic takes several milliseconds.
    """
    for most in (16, 20, 24, size // 8):  # what is worse than quadratic must not be run at full size
        if seconds(run, text_of(attack, most)) > 0.02:
            return _grown(run, attack, most // 4, most)
    short = seconds(run, text_of(attack, size), runs=2)
    if short < _SHORT and attack[0]:
        return 0.0
    long = seconds(run, text_of(attack, 4 * size))  # what begins again and again is fast where it looks for one letter
    if long < _SHORT or long < short * 4**EXPONENT:
        return 0.0
    return _grown(run, attack, size, 4 * size)


def _grown(run: Callable[[str], object], attack: Attack, small: int, large: int) -> float:
    """The exponent between two sizes, and again between larger ones: a step is no growth, and noise does not last."""
    found = []
    for times in (1, 1, 4):
        sizes = small * times, large * times
        short, long = (seconds(run, text_of(attack, it), runs=3) for it in sizes)
        found.append(math.log(long / max(short, 1e-6)) / math.log(large / small))
        if found[-1] <= EXPONENT or (found[-1] > 3 and long > 0.01) or long > 0.05:
            break
    return min(found)


def seconds(run: Callable[[str], object], text: str, runs: int = 1) -> float:
    """The least CPU time of ``runs`` runs."""
    least = math.inf
    for _ in range(runs):
        started = time.process_time()
        run(text)
        least = min(least, time.process_time() - started)
    return least


def matching(pattern: re.Pattern[Any], methods: Collection[str]) -> Callable[[str], None]:
    """Uses ``pattern`` as our code does: ``match``, ``fullmatch``, or looking for all matches for any other method."""

    def run(text: str) -> None:
        data = text.encode() if isinstance(pattern.pattern, bytes) else text
        if "match" in methods:
            pattern.match(data)
        if "fullmatch" in methods:
            pattern.fullmatch(data)
        if set(methods) - {"match", "fullmatch"}:
            deque(pattern.finditer(data), 0)

    return run


def attacks_on(pattern: re.Pattern[Any]) -> set[Attack]:
    """Texts that repeat what a repetition of ``pattern`` matches, behind what leads there, and end otherwise."""
    source = pattern.pattern.decode("latin1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = parser.parse(source, pattern.flags & ~re.DEBUG)
    found = {("", unit, end) for unit in UNITS for end in ("", "!")}
    for letter in LETTERS:
        found.update(_attacks(list(tree), [], letter))
    return found


def _attacks(items: list[Any], before: list[Any], letter: str) -> Iterator[Attack]:
    for at, (kind, value) in enumerate(items):
        leads = before + items[:at]
        if kind in _MANY:
            _, most, body = value
            lead, unit = _sample(leads, letter), _sample(body, letter)
            if most > _OFTEN and unit:
                for end in ("", "!", "\0"):
                    yield lead, unit, end
                yield "", lead + unit, "\0"
        for inner in _inside(kind, value):
            yield from _attacks(list(inner), leads, letter)
    if whole := _sample(before + items, letter):
        yield "", whole, ""


def _inside(kind: Any, value: Any) -> list[Any]:
    if kind in _MANY or kind is codes.SUBPATTERN:
        return [value[-1]]
    if kind is codes.ATOMIC_GROUP:
        return [value]
    return list(value[1]) if kind is codes.BRANCH else []


def _sample(items: Any, letter: str) -> str:
    """A text that ``items`` match, made of ``letter`` where that is possible."""
    text = ""
    for kind, value in items:
        if kind is codes.LITERAL:
            text += chr(value)
        elif kind in (codes.NOT_LITERAL, codes.IN, codes.ANY):
            text += next((one for one in letter + LETTERS if _is_in(kind, value, one)), _first(kind, value))
        elif kind in _MANY:
            text += _sample(value[2], letter) * max(value[0], 1)
        elif kind is codes.BRANCH:
            text += _sample(value[1][ord(letter) % len(value[1])], letter)
        else:
            text += "".join(_sample(inner, letter) for inner in _inside(kind, value))
    return text


def _is_in(kind: Any, value: Any, one: str) -> bool:
    if kind is codes.ANY:
        return one != "\n"
    if kind in (codes.LITERAL, codes.NOT_LITERAL):
        return bool(ord(one) == value) is (kind is codes.LITERAL)
    if kind is codes.RANGE:
        return bool(value[0] <= ord(one) <= value[1])
    if kind is codes.CATEGORY:
        return bool(_CATEGORIES[value](one))
    found = any(_is_in(inner, what, one) for inner, what in value if inner is not codes.NEGATE)
    return found is not (value[0][0] is codes.NEGATE)


def _first(kind: Any, value: Any) -> str:
    """Some letter of a set in which none of ours is."""
    for item, inner in value if kind is codes.IN else ():
        if item in (codes.LITERAL, codes.RANGE):
            return chr(inner if item is codes.LITERAL else inner[0])
    return "a"
