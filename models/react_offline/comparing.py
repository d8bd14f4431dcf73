"""Parses comparisons: ``which is colder, Beijing or Shanghai``, ``is it warmer in Paris than in London``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from react_offline.lexicon import COMPARATIVES, MORE_OR_LESS, NOUNS_FOR, word_set
from react_offline.reading import is_content, written
from react_offline.text import Token, read
from react_run.support import dataclass

_EDGES = word_set(
    "in at of the a an is are it or , : ? . for does do did has have was were there today now currently one"
)
_AUXILIARIES = {"is", "are", "was", "were", "does", "do", "did", "has", "have"}


@dataclass(frozen=True, slots=True)
class Compared:
    """A parsed comparison: the names, the clause to solve for each, and which value wins.

    ``direction`` is 1 if the larger value wins, -1 if the smaller one does; ``word`` is the comparative.
    """

    names: tuple[str, ...]
    clauses: tuple[tuple[Token, ...], ...]
    direction: int
    word: str


def comparison(tokens: Sequence[Token]) -> Compared | None:
    """The comparison in a clause, if it names a property and at least two alternatives."""
    for index, token in enumerate(tokens):
        found = _property(tokens, index) if token.kind == "word" else None
        if not found:
            continue
        noun, direction, end = found
        names, used = _alternatives(tokens, index, end)
        if len(names) >= 2:
            return _compared(tokens, noun, direction, (index, end), names, used)
    return None


def _property(tokens: Sequence[Token], index: int) -> tuple[str, int, int] | None:
    """The noun for the property, the direction, and the index after the comparative."""
    word = tokens[index].low
    if word.endswith("est"):
        word = f"{word.removesuffix('st')}r"
    if word in COMPARATIVES:
        return (*COMPARATIVES[word], index + 1)
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if word not in MORE_OR_LESS or following is None:
        return None
    if following.kind == "word" and (is_content(following) or following.low in NOUNS_FOR):
        return NOUNS_FOR.get(following.low, following.low), MORE_OR_LESS[word], index + 2
    return ("", MORE_OR_LESS[word], index + 1) if following.low == "than" else None


Names = list[tuple[int, int]]


def _alternatives(tokens: Sequence[Token], index: int, end: int) -> tuple[Names, tuple[int, int]]:
    """The positions of the alternatives, and the position of the word between them."""
    than = next((i for i in range(end, len(tokens)) if tokens[i].low == "than"), None)
    if than is not None:
        left = _shrunk(tokens, end, than) or _shrunk(tokens, _after_auxiliary(tokens, index), index)
        right = _shrunk(tokens, than + 1, len(tokens))
        return [part for part in (left, right) if part], (than, than + 1)
    choice = next((i for i, token in enumerate(tokens) if token.low == "or"), None)
    if choice is None:
        return [], (0, 0)
    if choice < index:
        start, stop = _after_auxiliary(tokens, index), index
    else:
        start, stop = end, len(tokens)
    parts = [part for a, b in _pieces(tokens, start, stop) if (part := _shrunk(tokens, a, b))]
    return parts, (choice, choice + 1)


def _pieces(tokens: Sequence[Token], start: int, stop: int) -> list[tuple[int, int]]:
    cuts = [i for i in range(start, stop) if tokens[i].low in (",", "or", ":")]
    edges = [start - 1, *cuts, stop]
    return [(a + 1, b) for a, b in pairwise(edges)]


def _after_auxiliary(tokens: Sequence[Token], index: int) -> int:
    return next((i + 1 for i in range(index) if tokens[i].low in _AUXILIARIES), 0)


def _shrunk(tokens: Sequence[Token], start: int, stop: int) -> tuple[int, int] | None:
    while start < stop and tokens[start].low in _EDGES:
        start += 1
    while stop > start and tokens[stop - 1].low in _EDGES:
        stop -= 1
    return (start, stop) if start < stop else None


def _compared(
    tokens: Sequence[Token], noun: str, direction: int, at: tuple[int, int], names: Names, used: tuple[int, int]
) -> Compared:
    inside = {i for start, stop in (at, used, *names) for i in range(start, stop)}
    rest = [token for i, token in enumerate(tokens) if i not in inside and token.kind != "punct" and is_content(token)]
    lead = read(f"{noun} in") if noun else ()
    clauses = tuple((*rest, *lead, *tokens[start:stop]) for start, stop in names)
    texts = tuple(written(tokens[start:stop]) for start, stop in names)
    return Compared(texts, clauses, direction, written(tokens[at[0] : at[1]]))
