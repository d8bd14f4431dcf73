"""Makes foreign text safe for people: nothing in it can control a terminal, or hide."""

from __future__ import annotations

import re
import unicodedata

KEPT = "\n\t\u200c\u200d"
"""Characters that :func:`printable` keeps; the last two join letters and emoji, and occur in ordinary text."""
_HIDDEN = ("Cc", "Cf", "Cs")
"""Control characters, bidirectional and invisible marks, and surrogates."""
_SHAPELESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
"""Invisible letters and marks, which Python considers printable."""


def printable(text: str, *, keep: str = KEPT, strict: bool = False) -> str:
    """Write out invisible characters of ``text``, as in ``\\x1b``, so that nothing in it can control a terminal.

    Args:
        text: Text from a model, a tool, or a stranger.
        keep: Characters to keep: ``"\\n"`` for several lines, ``""`` for a single line.
        strict: Whether a decision such as an approval depends on it: then all invisible characters are written out,
            including those in ordinary text of some languages.
    """
    if not text.isprintable():
        text = "".join(one if one in keep else _visible(one, strict) for one in text)
    if strict and not text.isascii():
        text = _SHAPELESS.sub(lambda found: _escaped(found[0]), text)
    return text


def is_hidden(character: str) -> bool:
    """Whether :func:`printable` writes out ``character`` by default."""
    return character not in KEPT and not character.isprintable() and unicodedata.category(character) in _HIDDEN


def _visible(character: str, strict: bool) -> str:
    if character.isprintable() or (not strict and unicodedata.category(character) not in _HIDDEN):
        return character
    return _escaped(character)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
