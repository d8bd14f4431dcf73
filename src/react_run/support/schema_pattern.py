r"""Patterns of JSON Schemas, which are JavaScript's (ECMA-262), as patterns that we can search with.

What JavaScript or Python knows has the meaning that both agree on; what neither knows is refused, because a guess could
accept wrong values. Where they differ, ``$`` is the very end, as in JavaScript and in pydantic, and ``\d``, ``\w``,
``\s`` and ``\b`` know all of Unicode, as in Python: the tool may do so as well, and can still refuse a value.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from react_run.support.display import Path, dotted, shown_value
from react_run.support.regex import Pattern

_TOKEN = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|\\u\{0*(?P<point>[0-9A-Fa-f]{1,6})\}"
    r"|\\c(?P<control>[A-Za-z])"
    r"|(?P<code>\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|U[0-9A-Fa-f]{8}|N\{[^{}]+\}|0(?![0-9])))"
    r"|(?P<property>\\[pP](?:\{\^?[\w =:.-]+\}|[A-Z]))"
    r"|\\k<(?P<named>[^\W\d]\w*)>"
    r"|\\(?P<number>[1-9][0-9]?)"
    r"|\\(?P<letter>[A-Za-z])"
    r"|\\(?P<escaped>[^A-Za-z0-9])"
    r"|\(\?<(?P<name>[^\W\d]\w*)>"
    r"|(?P<flags>\(\?[aiLmsu]*(?:-[ims]+)?[:)])"
    r"|(?P<group>\(\?(?:<?[=!]|>|P<[^\W\d]\w*>|P=[^\W\d]\w*\)|\([^()]*\))|\((?![?*]))"
    r"|(?P<bounds>\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)\})"
    r"|(?P<any>\[\^\](?!.*\]))|(?P<none>\[\](?!.*\]))"
    r"|(?P<set>\[\^?+(?!\]))"
    r"|(?P<other>[^\\\[(])",
    re.DOTALL,
)
_ANYWHERE = frozenset("dDsSwWfnrtv")
_OUTSIDE_SETS = {"A": r"\A", "B": r"\B", "Z": r"\Z", "b": r"\b", "z": r"\Z"}


def schema_pattern(text: str) -> Pattern:
    """The ``pattern`` of a JSON Schema, ready for searching.

    Raises:
        ValueError: It is not a regular expression, or of a dialect that we cannot read exactly.
    """
    found = _read(text)
    if isinstance(found, str):
        raise ValueError(found)
    return found


def pattern_problem(text: object) -> str:
    """Why values cannot be checked against a ``pattern``; empty if they can."""
    found = _read(text) if isinstance(text, str) else "it is not text"
    return found if isinstance(found, str) else ""


def unread_patterns(schema: object, path: Path = ()) -> Iterator[tuple[str, str, str]]:
    """The patterns of a schema that cannot be read: the property, the pattern, and the reason."""
    if isinstance(schema, Mapping):
        patterns = schema.get("patternProperties")
        for text in (schema.get("pattern"), *(patterns if isinstance(patterns, Mapping) else ())):
            if isinstance(text, str) and (problem := pattern_problem(text)):
                yield dotted(path) or "(all)", text, problem
        for key, part in schema.items():
            names = key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
            for name, inner in part.items() if names and isinstance(part, Mapping) else ():
                yield from unread_patterns(inner, (*path, str(name)) if key == "properties" else path)
            if not names and key not in ("default", "enum", "const", "examples", "example"):
                yield from unread_patterns(part, path)
    elif isinstance(schema, list):
        for part in schema:
            yield from unread_patterns(part, path)


@lru_cache(maxsize=1_024)
def _read(text: str) -> Pattern | str:
    try:
        return Pattern(_Translation(text).text, extended=True)
    except ValueError as error:
        problem = str(error)
    if "[:" in text:
        return problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's opinion of a foreign pattern is not useful here
        try:  # comments, the flag x, "]" as the first member of a set: Python's alone
            return Pattern(text)
        except ValueError:
            return problem


class _Translation:
    """One pattern in the syntax of the ``regex`` library."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        flags = "".join(re.findall(r"\(\?([aiLmsu]*)", pattern))
        self._end = "$" if "m" in flags else r"\Z"
        self.text = "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        while self._at < len(self._pattern):
            token = self._next()
            kind = token.lastgroup or ""
            if kind == "set":
                yield f"{token[0]}{''.join(self._members())}]"
            elif kind in ("any", "none"):  # an empty set: only JavaScript has it
                yield "(?s:.)" if kind == "any" else "(?!)"
            elif kind == "other":
                yield {"$": self._end, "{": r"\{", "}": r"\}", "]": r"\]"}.get(token[0], token[0])
            elif kind == "number":
                yield rf"(?({token['number']})\{token['number']})"  # in JavaScript a group without a match is empty
            elif kind == "named":
                yield rf"(?({token['named']})(?P={token['named']}))"
            elif kind == "name":
                yield rf"(?P<{token['name']}>"
            elif kind == "letter":
                yield self._letter(token["letter"])
            else:
                yield token[0] if kind in ("flags", "group", "bounds") else _character(token, self._refused)

    def _next(self) -> re.Match[str]:
        token = _TOKEN.match(self._pattern, self._at)
        if token is None:
            raise self._refused(self._pattern[self._at : self._at + 4])
        self._at = token.end()
        return token

    def _refused(self, what: str) -> ValueError:
        return ValueError(f"{shown_value(what)} is neither JavaScript's nor Python's")

    def _letter(self, letter: str) -> str:
        if letter in _ANYWHERE:
            return f"\\{letter}"
        if letter in _OUTSIDE_SETS:
            return _OUTSIDE_SETS[letter]
        raise self._refused(f"\\{letter}")

    def _members(self) -> Iterator[str]:
        """The members of a set in brackets."""
        while not self._pattern.startswith("]", self._at):
            if self._pattern.startswith(("[:", "[.", "[="), self._at):  # POSIX, or literally in JavaScript
                raise self._refused(self._pattern[self._at : self._at + 4])
            if not self._pattern.startswith("\\", self._at):
                character = self._pattern[self._at : self._at + 1]
                if not character:
                    raise ValueError("a set in brackets has no end")
                self._at += 1
                yield rf"\{character}" if character in "[&|~" else character
                continue
            token = self._next()
            if (token["letter"] or "") in ("b", *_ANYWHERE):
                yield token[0]
            elif token.lastgroup in ("letter", "number", "named"):
                raise self._refused(token[0])
            else:
                yield _character(token, self._refused)
        self._at += 1


def _character(token: re.Match[str], refused: Callable[[str], ValueError]) -> str:
    """An escape that stands for one character, or for a property of characters."""
    kind = token.lastgroup
    if kind == "low":
        high, low = int(token["high"], 16), int(token["low"], 16)
        return f"\\U{0x10000 + ((high - 0xD800) << 10) + low - 0xDC00:08x}"
    if kind == "point":
        if int(token["point"], 16) > 0x10FFFF:
            raise refused(token[0])
        return f"\\U{int(token['point'], 16):08x}"
    if kind == "control":
        return f"\\x{ord(token['control'].upper()) - 64:02x}"
    if kind == "escaped":
        return re.escape(token["escaped"])
    return r"\x00" if token[0] == r"\0" else token[0]
