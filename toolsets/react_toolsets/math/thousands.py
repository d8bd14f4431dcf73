"""Interprets commas: they separate thousands or arguments, or are ambiguous (``sum(1,000, 2,000)``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from react_run.support import dataclass
from react_toolsets.answers import Refusal
from react_toolsets.math.lexer import Token

Arities = Mapping[str, tuple[int, int]]
"""The minimum and maximum number of arguments of each function."""

_BEFORE = re.compile(r"[1-9][0-9]{0,2}|[0-9]{3}")
_AFTER = re.compile(r"[0-9]{3}(?:\.[0-9]*)?")


@dataclass(slots=True)
class _Level:
    """The content of a pair of parentheses: the function they belong to, and the positions of commas."""

    function: str = ""
    commas: list[int] = field(default_factory=list)


def join_thousands(tokens: Sequence[Token], arities: Arities) -> list[Token]:
    """``tokens`` with each number that has thousands separators joined into one token.

    Raises:
        Refusal: ``ambiguous_number``: a comma may separate thousands, arguments or decimals.
    """
    joints = {comma for level in _levels(tokens) for comma in _joints(level, tokens, arities)}
    return list(_joined(tokens, joints)) if joints else list(tokens)


def _levels(tokens: Sequence[Token]) -> Iterator[_Level]:
    open_ = [_Level()]
    for at, token in enumerate(tokens):
        if token.text == "(":
            called = at and tokens[at - 1].kind == "name"
            open_.append(_Level(tokens[at - 1].text.lower() if called else ""))
        elif token.text == ")" and len(open_) > 1:
            yield open_.pop()
        elif token.text == ",":
            open_[-1].commas.append(at)
    yield from open_


def _joints(level: _Level, tokens: Sequence[Token], arities: Arities) -> list[int]:
    """The positions of commas in a level that separate thousands."""
    glued = [comma for comma in level.commas if _is_glued(comma, tokens)]
    possible = [comma for comma in glued if _may_be_thousands(comma, tokens)]
    if not level.function:
        if len(possible) < len(glued):
            raise _no_number(_chain(glued[0], tokens))
        return possible
    if not possible or level.function not in arities:
        return []
    fewest, most = arities[level.function]
    arguments = len(level.commas) + 1
    readings = [joined for joined in range(len(possible) + 1) if fewest <= arguments - joined <= most]
    if readings in ([], [0]):
        return []
    if readings == [len(possible)]:
        return possible
    raise _two_readings(level.function, [_chain(comma, tokens) for comma in possible])


def _is_glued(comma: int, tokens: Sequence[Token]) -> bool:
    """Whether the comma is between two numbers, without spaces."""
    before, after = tokens[comma - 1], tokens[comma + 1]
    return comma > 0 and before.kind == after.kind == "number" and tokens[comma].glued and after.glued


def _may_be_thousands(comma: int, tokens: Sequence[Token]) -> bool:
    return bool(_BEFORE.fullmatch(tokens[comma - 1].text) and _AFTER.fullmatch(tokens[comma + 1].text))


def _chain(comma: int, tokens: Sequence[Token]) -> str:
    """The text of all numbers and commas around a comma without spaces between them."""
    first, last = comma - 1, comma + 1
    while first > 1 and tokens[first - 1].text == "," and _is_glued(first - 1, tokens):
        first -= 2
    while tokens[last + 1].text == "," and _is_glued(last + 1, tokens):
        last += 2
    return "".join(token.text for token in tokens[first : last + 1])[:80]


def _no_number(text: str) -> Refusal:
    if "." in text or text.count(",") > 1:
        ways = "Write each number with one decimal point at most and no separators, such as 1000.5."
    else:
        ways = (
            f"Write a decimal point, such as {text.replace(',', '.')}, "
            f"or the number without separators, such as {text.replace(',', '')}."
        )
    return Refusal("ambiguous_number", f"{text} can be read in several ways. {ways}")


def _two_readings(function: str, chains: Sequence[str]) -> Refusal:
    chains = list(dict.fromkeys(chains))[:3]
    numbers = ", ".join(chain.replace(",", "") for chain in chains)
    arguments = ", ".join(chain.replace(",", ", ") for chain in chains)
    return Refusal(
        "ambiguous_number",
        f"Inside {function}(…) the commas of {' and '.join(chains)} can separate thousands or arguments. "
        f"Write {numbers} for the one, or {arguments} (with a space after each comma) for the other.",
        readings=[numbers, arguments],
    )


def _joined(tokens: Sequence[Token], joints: set[int]) -> Iterator[Token]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        while at + 1 in joints:
            token = replace(token, text=token.text + tokens[at + 2].text)
            at += 2
        yield token
        at += 1
