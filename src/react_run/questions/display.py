"""Makes the texts of a question trustworthy: no terminal control, nothing invisible, no lookalikes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

from react_run.support.text import printable

SHOWN = 2_000
"""Characters of an argument to show at first; the rest can be viewed on request."""
_BLANKS = re.compile(r" {17,}|(?:\\n){9,}")
_WORD = re.compile(r"\w+")
_LOOK_ALIKE = re.compile("[\u2024\u2044\u2215\u29f8\ua4fa\uff0e\uff0f\uff3c]")
"""Characters that look like a dot or a slash."""
_SCRIPTS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""Scripts with letters that look like Latin ones."""
_POSING = frozenset("аеорсухіјѕһԁԛԝɑοανικραΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХЅІЈ")


def trusted(text: str) -> str:
    """Write out all invisible characters of ``text`` except line ends, because a person decides by it."""
    return printable(text, keep="\n", strict=True)


def on_a_line(text: str) -> str:
    """Like :func:`trusted`, but on one line, so that foreign text cannot add lines that look like ours."""
    return trusted(_BLANKS.sub(_counted, text.replace("\n", "\\n")))


def argument(name: str, value: object, most: int | None = SHOWN) -> str:
    """One argument on one line; a long one is cut to its beginning, its end, and the length of the gap."""
    text = json.dumps(value, ensure_ascii=False, default=str).replace("\n", "\\n")
    text = _BLANKS.sub(_counted, text)
    if most is not None and len(text) > most:
        head, tail = most * 3 // 4, most // 4
        text = f"{text[:head]} [… {len(text) - head - tail:,} more characters …] {text[-tail:]}"
    return f"  {on_a_line(name)}: {trusted(text)}"


def is_cut(value: object) -> bool:
    """Whether :func:`argument` shortens ``value``."""
    return argument("", value) != argument("", value, None)


def warnings(texts: str) -> Iterator[str]:
    """Warnings about lookalike characters in ``texts``, one line per word."""
    if texts.isascii():
        return
    for word in dict.fromkeys(_WORD.findall(texts)):
        if found := _posing(word):
            yield f"Careful: {word!r} has letters that look like other letters: {_named(found)}"
    for mark in dict.fromkeys(_LOOK_ALIKE.findall(texts)):
        yield f"Careful: a character looks like another one: {_named(mark)}"


def _posing(word: str) -> str:
    """The lookalike letters of ``word``, if it also has Latin letters or could be mistaken for a Latin word."""
    foreign = "".join(one for one in word if not one.isascii() and unicodedata.name(one, "").startswith(_SCRIPTS))
    compatible = "".join(one for one in word if not one.isascii() and unicodedata.normalize("NFKC", one).isascii())
    mixed = foreign and any(one.isascii() and one.isalpha() for one in word)
    whole = foreign and all(one in _POSING or not one.isalpha() for one in word)
    return compatible + (foreign if mixed or whole else "")


def _named(letters: str) -> str:
    return ", ".join(f"{one} is {unicodedata.name(one, 'unknown')}" for one in dict.fromkeys(letters[:5]))


def _counted(found: re.Match[str]) -> str:
    lines = found[0].startswith("\\")
    return f"[{len(found[0]) // 2} line ends]" if lines else f"[{len(found[0])} blanks]"
