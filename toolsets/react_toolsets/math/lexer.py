"""Splits text into tokens: unifies spellings, and refuses what is not arithmetic with the form to use instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from react_run.support import dataclass
from react_toolsets.math.complaints import invalid, stray_character, unsupported
from react_toolsets.math.spellings import SUPERSCRIPTS, lowered, plain_fractions, plain_signs

MAX_TOKENS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token; ``glued`` means that there is no space before it. A ``power`` is a superscript."""

    kind: Literal["number", "name", "operator", "power", "end"]
    text: str
    glued: bool = False


_GREEK = str.maketrans({"π": " pi ", "τ": " tau "})
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<number>0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[bB][01]+(?:_[01]+)*|0[oO][0-7]+(?:_[0-7]+)*
                |(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<power>[{SUPERSCRIPTS}]+)
    | (?P<operator>\*\*|//|[-+*/%^(),√]|!(?!=))
    )""",
    re.VERBOSE,
)
_UNFINISHED = re.compile(r"[eE][0-9_]*")


def tokenise(text: str) -> list[Token]:
    """The tokens of ``text``; the last has the kind ``end``.

    Raises:
        Refusal: A character is not supported (``unsupported_syntax``), or there are more than 256 tokens.
    """
    tokens: list[Token] = []
    for token in _scan(plain_signs(plain_fractions(text)).translate(_GREEK).rstrip()):
        if len(tokens) == MAX_TOKENS:
            raise invalid(f"There are more than {MAX_TOKENS} numbers, names and signs. Split the expression.")
        if tokens and _is_unfinished(tokens[-1], token):
            raise unsupported(f"{tokens[-1].text}{token.text} is not a number", "write an exponent such as 1e6, or 2*e")
        tokens.append(token)
    return [*tokens, Token(kind="end", text="")]


def _is_unfinished(number: Token, token: Token) -> bool:
    return number.kind == "number" and token.glued and bool(_UNFINISHED.fullmatch(token.text))


def _scan(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise stray_character(text[at:].lstrip()[0])
        yield _token(match.lastgroup, match[match.lastgroup], glued=match.start(match.lastgroup) == at)
        at = match.end()


def _token(kind: str, text: str, *, glued: bool) -> Token:
    match kind:
        case "number" | "name":
            return Token(kind=kind, text=text, glued=glued)
        case "power":
            return Token(kind="power", text=lowered(text), glued=glued)
        case _:
            return Token(kind="operator", text="**" if text == "^" else text, glued=glued)
