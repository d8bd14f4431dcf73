"""Arithmetic with another tool's result: ``twice the price of …``, ``the distance … rounded to 1 decimal``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from react_offline.arithmetic import expression_at
from react_offline.lexicon import word_set
from react_offline.plan import Part, Step
from react_offline.reading import Reading, is_content
from react_offline.slots import Kind
from react_offline.text import Token, read

if TYPE_CHECKING:
    from react_offline.choosing import Chooser

_BEFORE = word_set(
    "multiply divide double triple halve square to from of twice plus minus times by off round half + - * /"
)
_AFTER = word_set("by plus minus times divided multiplied over rounded squared cubed to and , + - * /")
_SIGNS = frozenset({"+", "-", "plus", "minus"})
(_THAT,) = read("that")


def nested_steps(chooser: Chooser, tokens: tuple[Token, ...]) -> list[Part] | None:
    """Both steps for arithmetic by one tool with a noun phrase that another one answers, or ``None``."""
    for start, end in _phrases(tokens):
        outer = (*tokens[:start], _THAT, *tokens[end:])
        if not _is_arithmetic(outer) or any(token.low in _SIGNS and token.spaced for token in tokens[start + 1 : end]):
            continue  # it is unclear where the brackets go: ``10% of 5 km + 3 km``
        inner, _ = chooser.part(Reading(tokens[start:end]))
        if not isinstance(inner, Step) or inner.card is None or Kind.EXPRESSION in inner.card.kinds:
            continue
        whole, _ = chooser.after(inner).part(Reading(outer, continued=True))
        if isinstance(whole, Step):
            return [inner, whole]
    return None


def _phrases(tokens: tuple[Token, ...]) -> Iterator[tuple[int, int]]:
    """The possible positions of such a phrase, longest first from each start."""
    lead = next((i for i, token in enumerate(tokens) if is_content(token) or token.low == "the"), 0)
    starts = sorted({lead, *(i + 1 for i, token in enumerate(tokens) if token.low in _BEFORE)})
    ends = [len(tokens), *(i for i in range(len(tokens) - 1, 0, -1) if tokens[i].low in _AFTER)]
    return ((start, end) for start in starts for end in ends if start + 1 < end and end - start < len(tokens))


def _is_arithmetic(tokens: tuple[Token, ...]) -> bool:
    """Whether the clause contains only an expression with ``that``."""
    for index in range(len(tokens)):
        found = expression_at(tokens, index)
        if found:
            rest = [*tokens[:index], *tokens[found[1] :]]
            return found[0].refers and not any(is_content(token) and token.kind != "punct" for token in rest)
    return False
