"""A clause of the question with its typed parts: arithmetic, numbers, dates, durations, quotes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from react_offline.arithmetic import Expression, expression_at
from react_offline.lexicon import CONTENT_AFTER_ALL, FUNCTION
from react_offline.moments import RELATIVE, Duration, Moment, duration_at, moment_at
from react_offline.numbers import signed_number_at
from react_offline.text import Token, stem
from react_offline.units import unit_at
from react_run.support import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A value parsed from the tokens ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    value: T


class Reading:
    """A clause.

    ``continued`` says whether there is an earlier part that ``that`` and ``it`` can refer to, and ``listed`` whether
    commas in it separate items of a list.
    """

    def __init__(self, tokens: Sequence[Token], *, continued: bool = False, listed: bool = False) -> None:
        self.tokens = tuple(tokens)
        self.continued = continued
        self.listed = listed

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def text(self) -> str:
        """The clause on one line, approximately as it was written."""
        return written(self.tokens)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words that carry a topic."""
        return frozenset(token.stem for token in self.tokens if token.kind == "word" and is_content(token))

    @cached_property
    def topic_words(self) -> list[str]:
        """Its words that carry a topic, as written."""
        return [token.low for token in self.tokens if token.kind == "word" and is_content(token)]

    @cached_property
    def expressions(self) -> list[Span[Expression]]:
        """The arithmetic expressions in it."""
        return self._spans(lambda tokens, index: expression_at(tokens, index, continued=self.continued))

    @cached_property
    def numbers(self) -> list[Span[str]]:
        """Its numbers, as numerals."""
        return self._spans(self._number)

    @cached_property
    def moments(self) -> list[Span[Moment]]:
        """Its dates, datetimes and times of day; ``today`` and the like are ``relative``, with the days from now."""
        return self._spans(_moment)

    @cached_property
    def durations(self) -> list[Span[Duration]]:
        """Its amounts of time."""
        return self._spans(duration_at)

    @cached_property
    def names_units(self) -> bool:
        """Whether there is a number, or ``a`` for one, before a unit."""
        ends = [span.end for span in self.numbers] + [
            i + 1 for i, token in enumerate(self.tokens) if token.low in ("a", "an")
        ]
        return any(end < len(self) and unit_at(self.tokens, end) for end in ends)

    def word(self, index: int) -> str:
        """The case-folded word at ``index``, or "" outside the clause."""
        return self.tokens[index].low if 0 <= index < len(self.tokens) else ""

    def before(self, index: int) -> str:
        """The word before ``index`` without articles, such as a preposition."""
        return self.word(self.place_before(index))

    def place_before(self, index: int) -> int:
        """The index of the word before ``index`` without articles; -1 if there is none."""
        index -= 1
        while self.word(index) in ("the", "a", "an"):
            index -= 1
        return index

    def _number(self, tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
        sign = tokens[index].low in ("-", "minus", "negative", "+")
        if sign and index and tokens[index - 1].kind == "number":
            return None
        return signed_number_at(tokens, index)

    def _spans(self, read: Callable[[Sequence[Token], int], tuple[T, int] | None]) -> list[Span[T]]:
        spans: list[Span[T]] = []
        index = 0
        while index < len(self.tokens):
            found = read(self.tokens, index)
            if found:
                spans.append(Span(index, found[1], found[0]))
            index = found[1] if found else index + 1
        return spans


def _moment(tokens: Sequence[Token], index: int) -> tuple[Moment, int] | None:
    days = RELATIVE.get(tokens[index].low) if tokens[index].kind == "word" else None
    if days is not None:
        return Moment("relative", str(days)), index + 1
    return moment_at(tokens, index)


def is_content(token: Token) -> bool:
    """Whether a word carries a topic. ``US`` is a country, ``us`` a pronoun."""
    if token.low in CONTENT_AFTER_ALL or token.text == "US":
        return True
    return token.low not in FUNCTION and (len(token.low) < _SHORT or token.stem not in _FUNCTION_STEMS)


_SHORT = 5
_FUNCTION_STEMS = frozenset(stem(word) for word in FUNCTION)


def written(tokens: Sequence[Token]) -> str:
    """Tokens converted back to text."""
    pieces = []
    for position, token in enumerate(tokens):
        text = f'"{token.text}"' if token.kind == "quote" else token.text
        pieces.append(f" {text}" if token.spaced and position else text)
    return "".join(pieces).strip(" ,;")
