"""Text of others that people read: nothing in it steers a terminal, or hides."""

from __future__ import annotations

import re
import unicodedata

KEPT = "\n\t\u200c\u200d"
"""What :func:`printable` leaves alone; the last two join letters and emoji, and are written in ordinary text."""
_HIDDEN = ("Cc", "Cf", "Cs")
"""Controls; marks that turn text around or hide in it; halves of characters."""
_SHAPELESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
"""Letters and marks without a shape, which Python takes for printable."""


def printable(text: str, *, keep: str = KEPT, strict: bool = False) -> str:
    """``text`` with what cannot be seen written out, such as ``\\x1b``, so that nothing in it steers a terminal.

    Args:
        text: What comes from a model, a tool, or a stranger.
        keep: Characters to leave as they are: ``"\\n"`` for a text of several lines, ``""`` for a line.
        strict: Whether a decision depends on it, such as an approval: everything without a shape of its own is written
            out then, also what appears in ordinary text of some languages.
    """
    if not text.isprintable():
        text = "".join(one if one in keep else _visible(one, strict) for one in text)
    if strict and not text.isascii():
        text = _SHAPELESS.sub(lambda found: _escaped(found[0]), text)
    return text


def is_hidden(character: str) -> bool:
    """Whether :func:`printable` writes ``character`` out where it is not told otherwise."""
    return character not in KEPT and not character.isprintable() and unicodedata.category(character) in _HIDDEN


def _visible(character: str, strict: bool) -> str:
    if character.isprintable() or (not strict and unicodedata.category(character) not in _HIDDEN):
        return character
    return _escaped(character)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
