"""Splits text into tokens with their positions, and the stems by which words are compared."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from react_offline.lexicon import PHRASES
from react_run.support import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text.

    ``kind`` is one of quote, url, email, datetime, date, clock, number, word, op, money, punct. ``text`` is as written
    (for a quote, without the marks), ``low`` is case-folded, ``stem`` is for comparing words. ``spaced`` says
    whether there is white space before it.
    """

    kind: str
    text: str
    low: str
    stem: str
    start: int
    end: int
    spaced: bool = True

    @property
    def capital(self) -> bool:
        """Whether it is written like a name."""
        return self.kind == "word" and self.text[0].isupper()


_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4}"
_OFFSET = r"(?:\s*[Zz]\b|\s?[+-]\d{2}(?::?\d{2})?(?!\d))?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s*[ap]\.?m\b\.?)?|\d{1,2}\s*[ap]\.?m\b\.?"
_WORD = r"[^\W\d_](?:[\w²³])*(?:[-'./_](?=[^\W\d])\w+|[-_]\d+)*"
_SIGNS = {"\u2212": "-", "\u2013": "-", "\u2014": "-", "\u00d7": "*", "\u00f7": "/", "\u00b7": "*", "x": "*", "X": "*"}
"""The usual operators for typographic ones, and for the ``x`` between numbers."""
_TOKEN = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in (
            ("url", r"https?://[^\s<>\"')]+"),
            ("email", r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+"),
            (
                "quote",
                r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»|`[^`]*`|\u2018[^\u2018\u2019]*\u2019|(?<![\w)])'[^']*(?:(?<=\w)'(?=\w)[^']*)*'(?!\w)",
            ),
            ("datetime", rf"\d{{4}}-\d{{2}}-\d{{2}}(?:[Tt]|\s+)\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?{_OFFSET}"),
            ("date", rf"(?<![\d.])(?:{_DATE})(?![\d/-]|\.\d)"),
            ("clock", _CLOCK),
            (
                "number",
                r"0[xX][0-9a-fA-F]+|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+",
            ),
            ("times", r"(?<=[\d) ])[xX](?=[\d( ])"),
            ("word", _WORD),
            ("money", r"[$€£¥]"),
            ("op", rf"\*\*|//|->|→|[-+*/^!%√²³½()={''.join(sign for sign in _SIGNS if not sign.isalpha())}]"),
            ("degree", r"[°º℃℉]\s?[CFK]?(?!\w)"),
            ("punct", r"\.\.\.|[^\s\w]|_"),
        )
    )
)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


def read(text: str) -> tuple[Token, ...]:
    """The tokens of ``text``, with multi-word terms of the lexicon joined into one."""
    text = text.translate(_APOSTROPHES)
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        tokens.extend(_tokens(match, spaced=match.start() > end or not tokens))
        end = match.end()
    return _joined(tokens)


def _tokens(match: re.Match[str], *, spaced: bool) -> list[Token]:
    kind, text, start, end = match.lastgroup or "", match.group(), match.start(), match.end()
    if kind in ("times", "op"):
        kind, text = "op", _SIGNS.get(text, text)
    elif kind == "degree":
        kind, text = "word", text.replace(" ", "")
    elif kind == "quote":
        return [Token(kind, text[1:-1], text[1:-1].casefold(), "", start, end, spaced)]
    elif kind == "word" and len(text) > 2 and text[-2:] in ("'s", "'S"):
        return [_token(kind, text[:-2], start, end - 2, spaced), _token(kind, text[-2:], end - 2, end, False)]
    elif kind == "word" and text.endswith("s'"):
        text = text[:-1]
    return [_token(kind, text, start, end, spaced)]


def _token(kind: str, text: str, start: int, end: int, spaced: bool) -> Token:
    low = text.casefold()
    return Token(kind, text, low, stem(low) if kind == "word" else low, start, end, spaced)


def _joined(tokens: list[Token]) -> tuple[Token, ...]:
    joined: list[Token] = []
    index = 0
    while index < len(tokens):
        length, term = _term(tokens, index)
        token = tokens[index]
        if length:
            last = tokens[index + length - 1]
            text = " ".join(one.text for one in tokens[index : index + length])
            token = replace(token, text=text, low=term, stem=stem(term), end=last.end)
        joined.append(token)
        index += length or 1
    return tuple(joined)


def _term(tokens: list[Token], index: int) -> tuple[int, str]:
    best = 0, ""
    for words, term in PHRASES.get(tokens[index].low, ()):
        found = tokens[index : index + len(words)]
        if len(words) > best[0] and [token.low for token in found] == words and found[0].kind == "word":
            best = len(words), term
    return best


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A simple stem, equal for the forms of a regular word: ``cities`` and ``city``, ``counted`` and ``count``."""
    word = word.casefold()
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 3 and any(vowel in root for vowel in "aeiouy"):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "ls" else root
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def words_of_name(name: str) -> list[str]:
    """The words of an identifier: ``get_weather``, ``getWeather`` and ``get-weather`` give get, weather."""
    return [piece.casefold() for piece in _PIECE.findall(name)]


def stems(text: str) -> list[str]:
    """The stems of the words in ``text``."""
    return [token.stem for token in read(text) if token.kind == "word"]
