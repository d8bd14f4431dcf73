"""Splits the question into clauses: sentences, and parts joined by ``and``, ``then`` or a comma."""

from __future__ import annotations

from collections.abc import Sequence

from react_offline.lexicon import word_set
from react_offline.reading import Reading
from react_offline.text import Token

_STARTERS = word_set(
    """
    what which who whom when where whatday weekday howmany howmuch howfar howold howlong howtall howbig howhot howis
    how is are was were does do did can could will convert calculate compute multiply divide add subtract double halve
    triple round tell give show find search lookup translate count get list take increase decrease reduce raise split
    express write compose summarise summarize explain describe
    """
)
_JOINING = {",", "and", "then", "also", "afterwards", "finally", ";", "&"}
_SENTENCE_ENDS = {".", "?", "!", ";", "...", "…"}
_CONDITIONS = {"if", "when", "assuming", "given", "suppose"}
_NEAR = 5


def clauses(tokens: Sequence[Token], verbs: frozenset[str] = frozenset()) -> list[list[Token]]:
    """The clauses of a question.

    Args:
        tokens: The whole question.
        verbs: More words that begin a clause after ``and``: the first words of tool names.
    """
    found: list[list[Token]] = []
    current: list[Token] = []
    index = 0
    tokens = _unconditional(tokens)
    while index < len(tokens):
        after = _boundary(tokens, index, verbs) if current else index
        if after > index:
            found.append(current)
            current = []
            index = after
        else:
            current.append(tokens[index])
            index += 1
    found.append(current)
    return [clause for clause in map(_trimmed, found) if clause]


def _boundary(tokens: Sequence[Token], index: int, verbs: frozenset[str]) -> int:
    """The index where the next clause begins; ``index`` if none begins here."""
    if _ends_sentence(tokens, index):
        return index + 1
    after = index
    while after < len(tokens) and tokens[after].low in _JOINING and tokens[after].kind != "quote":
        after += 1
    starts = after > index and after < len(tokens) and _starts(tokens, after, verbs)
    return after if starts else index


def _starts(tokens: Sequence[Token], index: int, verbs: frozenset[str]) -> bool:
    word = tokens[index].low
    if tokens[index].kind != "word" or (word not in _STARTERS and word not in verbs and word not in ("square", "cube")):
        return False
    return not (word in ("square", "cube") and index + 1 < len(tokens) and tokens[index + 1].low == "root")


def _ends_sentence(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    if token.low not in _SENTENCE_ENDS or token.kind == "quote":
        return False
    return not (token.low == "!" and index and (tokens[index - 1].kind == "number" or tokens[index - 1].low == ")"))


def _unconditional(tokens: Sequence[Token]) -> list[Token]:
    """``If it is 3pm in London, what time is it in Tokyo?`` is one clause: the condition only gives the moment."""
    kept: list[Token] = []
    comma = -1
    for index, token in enumerate(tokens):
        if token.low in _CONDITIONS and _gives_moment(tokens, index):
            if not kept:
                comma = next((i for i in range(index, len(tokens)) if tokens[i].low == ","), -1)
            continue
        if index == comma and index + 1 < len(tokens) and tokens[index + 1].low in _STARTERS:
            continue
        kept.append(token)
    return kept


def _gives_moment(tokens: Sequence[Token], index: int) -> bool:
    spans = Reading(tokens[index:]).moments
    return any(span.start < _NEAR and span.value.kind != "relative" for span in spans)


def _trimmed(clause: list[Token]) -> list[Token]:
    while clause and clause[0].low in _JOINING | {"so", "well", "ok", "okay"}:
        clause = clause[1:]
    while clause and clause[-1].low in _JOINING | _SENTENCE_ENDS | {"="}:
        if clause[-1].low == "!" and not _ends_sentence(clause, len(clause) - 1):
            break  # a factorial
        clause = clause[:-1]
    return clause
