"""From a question and the offered tools to a plan, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from react_offline.choosing import Chooser
from react_offline.clauses import clauses
from react_offline.comparing import comparison
from react_offline.draft import Draft
from react_offline.lexicon import COURTESY
from react_offline.moments import days_of_period, weekday_from_today
from react_offline.nesting import nested_steps
from react_offline.plan import Comparison, Declined, Part, Step
from react_offline.reading import Reading
from react_offline.slots import Card
from react_offline.text import Token, read, words_of_name
from react_run.support import dataclass

_SEPARATORS = {"and", ",", "&"}
_MOST_PARTS = 12
LONGEST = 1_000
"""The most characters of a question, because the cost of reading grows faster than the length."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A part with its tokens and its draft."""

    part: Part
    tokens: tuple[Token, ...]
    draft: Draft | None = None


@lru_cache(maxsize=128)
def understand(
    question: str, cards: tuple[Card, ...], allow_changes: bool, earlier: str | None = None
) -> tuple[Part, ...]:
    """The parts of a question in order; each may use the result of the previous one.

    Args:
        question: The user's text.
        cards: The offered tools.
        allow_changes: Whether tools that change things may be called.
        earlier: The last result of the previous turn, which ``that`` can refer to.
    """
    if len(question) > LONGEST:
        because = f"it is longer than the {LONGEST} characters that I read; ask for less at once."
        return (Declined(f"{question[:60].strip()}…", because=because),)
    try:
        return _understood(question, cards, allow_changes, earlier)
    except RecursionError:
        return (Declined(f"{question[:60].strip()}…", because="it is nested too deeply."),)


def _understood(question: str, cards: tuple[Card, ...], allow_changes: bool, earlier: str | None) -> tuple[Part, ...]:
    previous = None if earlier is None else Step(None, {}, frozenset(), "the turn before", seen=earlier)
    verbs = frozenset(word for card in cards if (words := words_of_name(card.name)) for word in words[:1])
    parts: list[Part] = []
    said = clauses(read(question), verbs)
    for clause in ([clause for clause in said if not _is_courtesy(clause)] or said)[:_MOST_PARTS]:
        chooser = Chooser(cards, allow_changes=allow_changes, previous=previous)
        found = _clause(chooser, tuple(clause))
        parts += found
        previous = next((part for part in reversed(found) if isinstance(part, Step)), previous)
    return tuple(parts) or (Declined(question),)


def _is_courtesy(clause: Sequence[Token]) -> bool:
    """Whether a clause only greets or thanks."""
    return all(token.kind == "punct" or token.low in COURTESY for token in clause)


def _clause(chooser: Chooser, tokens: tuple[Token, ...]) -> list[Part]:
    compared = _comparison(chooser, tokens)
    if compared:
        return [compared]
    whole = _solve(chooser, tokens)
    if not isinstance(whole.part, Declined):
        return [whole.part]
    period = _solve(chooser, tuple(read(days_of_period(tokens))))
    if isinstance(period.part, Step):
        return [period.part]
    weekday = weekday_from_today(tokens)
    if weekday and (steps := chooser.weekday(*weekday)):
        return steps
    nested = nested_steps(chooser, tokens)
    if nested:
        return nested
    several = _several(chooser, tokens)
    return [solved.part for solved in several] if several else [whole.part]


def _solve(chooser: Chooser, tokens: tuple[Token, ...], *, listed: bool = False) -> Solved:
    part, draft = chooser.part(Reading(tokens, continued=chooser.previous is not None, listed=listed))
    return Solved(part, tokens, draft)


def _comparison(chooser: Chooser, tokens: tuple[Token, ...]) -> Part | None:
    compared = comparison(tokens)
    if not compared:
        return None
    steps = [solved.part for clause in compared.clauses if isinstance((solved := _solve(chooser, clause)).part, Step)]
    steps = [step for step in steps if isinstance(step, Step)]
    cards = {step.card.name: step.card for step in steps if step.card}
    if len(steps) != len(compared.names) or len(cards) != 1 or any(card.general for card in cards.values()):
        return None
    return Comparison(compared.names, steps, compared.direction, compared.word)


def _several(chooser: Chooser, tokens: tuple[Token, ...]) -> list[Solved] | None:
    """Split a clause: into two clauses, or into one question about several things."""
    for cut in range(len(tokens) - 2, 0, -1):
        if tokens[cut].low not in _SEPARATORS or tokens[cut].kind == "quote" or _is_between(tokens, cut):
            continue
        left, right = _without_comma(tokens[:cut]), tokens[cut + 1 :]
        before = _steps(chooser, left)
        if not before:
            continue
        after = _solve(chooser, right)
        if not isinstance(after.part, Step) or after.draft is None or not after.draft.hits() | after.draft.wanted():
            after = _again(chooser, before[-1], right) or after
        if isinstance(after.part, Step):
            return [*before, after]
    return None


def _is_between(tokens: tuple[Token, ...], cut: int) -> bool:
    """Whether this ``and`` is part of ``between … and …``."""
    words = [token.low for token in tokens[:cut]]
    return "between" in words and "and" not in words[len(words) - words[::-1].index("between") :]


def _steps(chooser: Chooser, tokens: tuple[Token, ...]) -> list[Solved] | None:
    whole = _solve(chooser, tokens, listed=True)
    return [whole] if isinstance(whole.part, Step) else _several(chooser, tokens)


def _without_comma(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return tokens[:-1] if tokens and tokens[-1].low in (",", "and") else tokens


def _again(chooser: Chooser, first: Solved, right: tuple[Token, ...]) -> Solved | None:
    """The clause of ``first`` asked about ``right``: ``the time in London`` and ``New York``."""
    if first.draft is None:
        return None
    starts = {start for start, end in first.draft.ranges if end == len(first.tokens)}
    starts |= {start - 1 for start in starts if start and first.tokens[start - 1].low == right[0].low}
    for start in sorted(starts):
        again = _solve(chooser, (*first.tokens[:start], *right))
        if isinstance(again.part, Step) and again.draft and _same_call(first, again):
            return again
    return None


def _same_call(first: Solved, second: Solved) -> bool:
    a, b = first.part, second.part
    return isinstance(a, Step) and isinstance(b, Step) and a.card is b.card and a.arguments.keys() == b.arguments.keys()
