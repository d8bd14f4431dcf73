"""A draft of one tool call for one clause: bound parameters, used words, missing parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Protocol

from react_offline.arithmetic import Expression
from react_offline.lexicon import CONTENT_AFTER_ALL, HINTS, word_set
from react_offline.plan import Found, Step, Value, Want
from react_offline.reading import Reading, Span, T, is_content
from react_offline.slots import Card, Kind, Slot
from react_offline.text import Token, stem, words_of_name

_HINTS = {stem(word): frozenset(stem(other) for other in others.split()) for word, others in HINTS.items()}
_SILENT = frozenset("?.,;:…()[]\"'-`=") | {"...", "'s"}
_LEADING_TO = frozenset({"until", "till", "since"})
_EXISTING = frozenset({"is", "are", "was", "were", "be", "hi", "hey", "hello"})
_RELATING = frozenset({"between", "before", "after"})
_BACKWARDS = frozenset({"subtract", "minus", "earlier", "ago", "prior", "deduct", "back"})
"""Words that negate an amount of time: binding must use them, or the tool does not fit."""
_FUTURE = frozenset({"will", "'ll", "would", "shall"})


class Helper(Protocol):
    """Finds values that are not in the question with the help of other tools."""

    previous: Step | None

    def phrase(self, reading: Reading) -> Step | None:
        """A step that finds the value of a noun phrase (``the capital of France``)."""

    def computed(self, expression: Expression) -> Found | None:
        """The value of an arithmetic expression."""

    def total(self, expression: Value) -> Found | None:
        """The value of an expression, which may contain another tool's result."""

    def now(self, want: Want, zone: Value | None = None) -> Found | None:
        """The current date, or date and time."""

    def shifted(self, base: Value, amounts: Mapping[str, str | Found]) -> Found | None:
        """A date some years, months, weeks or days after ``base``."""


class Draft:
    """The arguments of ``card`` that ``reading`` gives.

    ``evidence`` counts bound values that few tools take (arithmetic, a quantity with a target unit, a marked form);
    ``moments`` counts dates, durations and zones: one alone is weak evidence, two together are enough.
    """

    def __init__(self, card: Card, reading: Reading) -> None:
        self.card = card
        self.reading = reading
        self.arguments: dict[str, Value] = {}
        self.questions: list[str] = []
        self.evidence = 0
        self.moments = 0
        self.ranges: list[tuple[int, int]] = []
        self._taken = [False] * len(reading)

    def put(self, slot: Slot, value: Value) -> None:
        """Bind a parameter."""
        self.arguments[slot.name] = value

    def open(self, *kinds: Kind, required: bool | None = None) -> list[Slot]:
        """The unbound slots of these kinds."""
        return [
            slot
            for slot in self.card.slots
            if slot.kind in kinds and slot.name not in self.arguments and required in (None, slot.required)
        ]

    def take(self, start: int, end: int | None = None) -> None:
        """Mark tokens as accounted for."""
        end = start + 1 if end is None else end
        self.ranges.append((start, end))
        for index in range(start, end):
            self._taken[index] = True

    def free(self, start: int, end: int | None = None) -> bool:
        """Whether all these tokens are unused."""
        return not any(self._taken[start : start + 1 if end is None else end])

    def unused(self, spans: list[Span[T]]) -> list[Span[T]]:
        """The spans in which all tokens are unused."""
        return [span for span in spans if self.free(span.start, span.end)]

    def says(self, *words: str) -> bool:
        """Whether the clause contains one of the case-folded words."""
        return any(token.low in words for token in self.reading.tokens if token.kind == "word")

    def explains(self, token: Token) -> bool:
        """Whether the tool's description accounts for a word of the question."""
        if token.low in CONTENT_AFTER_ALL or (token.low in _BACKWARDS and self.reading.durations):
            return False
        if token.stem in _OPERATIONS and token.stem not in self.card.own and self._computes():
            return False  # an operation on numbers has to be part of the expression
        return token.stem in self.card.vocabulary or bool(hinted(token.stem) & self.card.vocabulary)

    def _computes(self) -> bool:
        """Whether arithmetic was bound."""
        return any(slot.name in self.arguments for slot in self.card.of_kind(Kind.EXPRESSION))

    def leftover(self) -> list[Token]:
        """The tokens that are not accounted for; with any of them, the tool does not fit the question."""
        return [token for i, token in self._untaken() if not self._silent(i, token) and not self.explains(token)]

    def hits(self) -> frozenset[str]:
        """The stems of the question that name the tool's topic."""
        return frozenset(
            token.stem
            for _, token in self._untaken()
            if token.kind == "word"
            and is_content(token)
            and (token.stem in self.card.topic or hinted(token.stem) & self.card.topic)
        )

    @cached_property
    def missing(self) -> list[Slot]:
        """The required slots that the clause does not fill; cached, so read it last."""
        return [slot for slot in self.card.slots if slot.required and slot.name not in self.arguments]

    def qualified(self) -> bool:
        """Whether the question has every narrowing word of the tool's name (``business`` days, ``delete`` a note)."""
        return self.card.qualifiers <= said_stems(self.reading)

    def fits(self) -> bool:
        """Whether the tool fits the clause, even if a parameter is still missing."""
        if not (self.hits() or self.evidence or self.moments > 1):
            return False
        return self.qualified() and not self.leftover() and not self._reversed() and not self._idle()

    def _idle(self) -> bool:
        """Whether the tool takes several amounts of time or time zones, and none of them is bound."""
        choices = (self.card.of_kind(kind) for kind in (Kind.AMOUNT_OF_TIME, Kind.ZONE))
        return any(len(slots) > 1 and not any(slot.name in self.arguments for slot in slots) for slots in choices)

    def _reversed(self) -> bool:
        """Whether the tool converts the other way: ``celsius_to_fahrenheit`` for ``20 fahrenheit to celsius``."""
        name = [stem(word) for word in words_of_name(self.card.name)]
        if "to" not in name[:-1]:
            return False
        place = name.index("to")
        origin, target = name[place - 1] if place else "", name[place + 1]
        words = [token.stem for token in self.reading.tokens]
        positions = {word: words.index(word) for word in (origin, target) if word in words}
        if len(positions) == 2 and positions[origin] > positions[target]:
            return True
        return target in positions and self.reading.before(positions[target]) == "from"

    def is_named(self) -> bool:
        """Whether the clause refers to this tool by name, so that it makes sense to ask for a missing parameter."""
        said_here = self.hits() | frozenset[str]().union(*(hinted(word) for word in self.hits()))
        return bool(said_here & self.card.own) or self.evidence > 0 or bool(self.questions)

    def wanted(self) -> frozenset[str]:
        """The stems of the words that say which part of the result is wanted."""
        return frozenset(token.stem for _, token in self._untaken() if token.kind == "word" and is_content(token))

    def score(self) -> int:
        """How well the tool fits: words of its name count most, and unused words of its name count against it."""
        hits = self.hits()
        named = sum(1 for word in hits if word in self.card.own or hinted(word) & self.card.own)
        unsaid = sum(1 for word in self.card.own if word not in hits and not any(word in hinted(hit) for hit in hits))
        return (
            4 * named
            + 2 * (len(hits) - named)
            + 3 * (self.evidence + self.moments)
            + len(self.arguments)
            - unsaid
            - 8 * self.indirect
        )

    @property
    def indirect(self) -> int:
        """The number of arguments that other tools have to find first."""
        return sum(1 for value in self.arguments.values() if isinstance(value, Found))

    def _untaken(self) -> Iterator[tuple[int, Token]]:
        return ((index, token) for index, token in enumerate(self.reading.tokens) if not self._taken[index])

    def _is_counted(self, index: int) -> bool:
        """Whether the noun after ``how many``, at ``index``, was bound or is the topic of the tool."""
        counted = self.reading.tokens[index : index + 2]
        if not counted or not self.free(index) or self.evidence:
            return True
        own = self.card.own | (self.card.topic & frozenset(token.stem for token in counted))
        return any(({token.stem} | hinted(token.stem)) & own for token in counted) or bool(_COUNTING & self.card.topic)

    def _silent(self, index: int, token: Token) -> bool:
        if token.low == "howmany":
            return self._is_counted(index + 1)
        if token.low in _LEADING_TO:
            return False
        if token.low == "there" and self.reading.word(index - 1) not in _EXISTING:
            return False  # refers to a place
        if token.low in _RELATING and any(
            self.reading.before(span.start) == token.low for span in self.reading.moments
        ):
            return False  # "until a date" asks for more than the date
        if token.low in _FUTURE:
            return self.evidence + self.moments > 0 or bool(self.card.vocabulary & _FORETELLING)
        return token.low in _SILENT or (token.kind == "word" and not is_content(token))


def may_fit(card: Card, reading: Reading) -> bool:
    """Whether to try a draft: the clause has a word of the tool's topic, or a value of a kind that it takes."""
    if card.topic & said_stems(reading) or card.looks_up:
        return True
    kinds = card.kinds
    return (
        bool(kinds & _MARKED)
        or bool(kinds & _NUMERIC and reading.expressions)
        or bool(kinds & _MEASURED and (reading.continued or reading.numbers or reading.names_units))
        or bool(Kind.AMOUNT_OF_TIME in kinds and reading.durations)
        or bool(kinds & _DATED and reading.moments)
    )


_MARKED = frozenset({Kind.PATTERN, Kind.URL, Kind.EMAIL, Kind.PATH})
_NUMERIC = frozenset({Kind.EXPRESSION, Kind.NUMBER})
_MEASURED = frozenset({Kind.UNIT, Kind.CURRENCY})
_DATED = frozenset({Kind.DATE, Kind.DATETIME, Kind.CLOCK})


def said_stems(reading: Reading) -> frozenset[str]:
    """The stems of a clause's words, and of their hints."""
    return reading.stems.union(*map(hinted, reading.stems))


def hinted(word: str) -> frozenset[str]:
    """The stems that tools may use for a word, given by its stem."""
    return _HINTS.get(word, frozenset())


_OPERATIONS = frozenset(
    stem(word)
    for word in word_set(
        "sum sums product products power powers percentage percentages percent root roots average averages mean median "
        "rounding rounded round quotient remainder difference factorial logarithm log square cube minimum maximum"
    )
)
"""Words that name operations on numbers."""
_COUNTING = frozenset(stem(word) for word in ("count", "number", "population", "quantity"))
_FORETELLING = frozenset({stem("forecast"), stem("future"), stem("predict")})
