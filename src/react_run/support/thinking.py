"""Finds thinking in the text of a model: servers without a reasoning parser leave it there (behaviour S5).

It is the thought of a reply: it stays in the messages, but is neither an answer nor a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

_NAMES = r"(?:[a-z]+:)?(?:think|thinking|thought|thoughts|reasoning|reason|reflection)"
_SPECIAL = {
    "square": (r"\[THINK(?:ING)?\]", r"\[/THINK(?:ING)?\]"),
    "other": ("◁think▷", "◁/think▷"),
    "pipe": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "channel": (r"<\|channel\|>analysis<\|message\|>", r"<\|channel\|>final<\|message\|>"),
}
"""How thinking begins and ends where no tag marks it; in the last form it ends where the answer begins."""
_FLAT = frozenset({"channel"})
"""Forms of which a second beginning continues the first, however much stands between them."""
_BEGINS = "|".join(f"(?P<{kind}>{begin})" for kind, (begin, _) in _SPECIAL.items())
_ENDS = "|".join(f"(?P<{kind}_end>{end})" for kind, (_, end) in _SPECIAL.items())
_BEGIN = rf"(?:<(?P<tag>{_NAMES})(?:\s[^<>]*)?>|{_BEGINS})"
_END = rf"(?:</{_NAMES}>|\[/THINK(?:ING)?\]|◁/think▷)"
OPEN = re.compile(rf"\s*{_BEGIN}", re.IGNORECASE)
"""A beginning of thinking, where a reply begins."""
_MARK = re.compile(rf"{_BEGIN}|</(?P<tag_end>{_NAMES})\s*>|{_ENDS}|(?P<value>[{{\[])", re.IGNORECASE)
LONE = re.compile(rf"(?:\A|\n)[ \t]*{_END}|(?<![`'\"]){_END}(?=[ \t]*[\n{{\[])", re.IGNORECASE)
"""The end of thinking whose beginning the server removed: at the end or the beginning of a line, or before JSON."""
_LONE_AT_END = re.compile(rf"(?<![`'\"]){_END}\s*\Z", re.IGNORECASE)
OPENING = re.compile(rf"<{_NAMES}\b|\[THINK|◁think▷", re.IGNORECASE)
"""Enough of a beginning to tell that an end later in the text is not a lone one."""
_ANY_TAG = re.compile(
    rf"</?{_NAMES}(?:\s[^<>]*)?>|<\|start\|>assistant|<\|end\|>|{'|'.join(map('|'.join, _SPECIAL.values()))}",
    re.IGNORECASE,
)


def split_thinking(text: str) -> tuple[str, str]:
    """Split ``text`` into the thinking at its beginning, including tags, and the rest.

    If thinking never ends, it is the whole text. Without an opening tag, a closing tag ends it.
    """
    if "<" not in text and "[" not in text and "◁" not in text:
        return "", text
    end = _end_of_blocks(text)
    if end == 0 and (lone := _lone_end(text)):
        end = lone + _end_of_blocks(text[lone:])
    if not end:
        return "", text
    rest = text[end:].lstrip()
    return text[: len(text) - len(rest)], rest


def without_tags(thinking: str) -> str:
    """The text inside the thinking that :func:`split_thinking` found."""
    return _ANY_TAG.sub("", thinking).strip()


class Block:
    """A block of thinking whose text arrives in pieces. Blocks inside it end with their own end, not with its end.

    Args:
        opened: The match of :data:`OPEN`.
    """

    def __init__(self, opened: re.Match[str]) -> None:
        self._marks = _marks(_kind(opened))
        self._depth = 1
        self._just_opened = True
        self.read = 0
        """How much of the last text is decided: up to its last mark."""
        self.last_end = 0
        """Where the last end mark in the last text ends; if the block never does, a beginning was a mention."""

    def end(self, text: str, start: int = 0, *, more: bool = False) -> int:
        """Find the position in ``text``, from ``start``, where the block ends; 0 if it goes on.

        Args:
            text: The text behind the beginning of the block, or behind what was ``read`` of it before.
            start: Where to begin.
            more: Whether more text may follow.
        """
        self.read = start
        for mark in self._marks.finditer(text, start):
            if mark["end"] is not None:
                self._depth -= 1
                self.last_end = mark.end()
            elif more and mark.end() == len(text):
                break  # whether it is quoted depends on the next character
            elif self._nests(text, mark):
                self._depth += 1
            self._just_opened, self.read = mark["end"] is None, mark.end()
            if not self._depth:
                return self.read
        return 0

    def undecided(self, text: str, window: int) -> str:
        """The part of the last ``text`` in which a mark may still begin: at most its last ``window`` characters."""
        start = max(self.read, len(text) - window)
        self._just_opened = self._just_opened and not text[self.read : start].strip()
        return text[start:]

    def _nests(self, text: str, mark: re.Match[str]) -> bool:
        """Two beginnings in a row are one: the server wrote one of them, the model the other."""
        repeated = self._just_opened and not text[self.read : mark.start()].strip()
        return not repeated and not _is_quoted(text, mark)


@cache
def _marks(kind: str) -> re.Pattern[str]:
    """The beginnings and ends of blocks of one kind."""
    begin, end = _SPECIAL.get(kind, (rf"<{re.escape(kind)}(?:\s[^<>]*)?>", rf"</{re.escape(kind)}\s*>"))
    return re.compile(f"(?P<end>{end})" if kind in _FLAT else f"(?P<end>{end})|{begin}", re.IGNORECASE)


def _kind(found: re.Match[str]) -> str:
    """The key that the beginning and the end of a block share."""
    name = found.lastgroup or ""
    return found[name].lower() if name in ("tag", "tag_end") else name.removesuffix("_end")


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark is only mentioned: it stands between quotes."""
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return before == after and before in ("`", "'", '"')


def _end_of_blocks(text: str) -> int:
    """The end of the thinking blocks at the beginning of ``text``; 0 if there are none."""
    end = 0
    while opened := OPEN.match(text, end):
        block = Block(opened)
        end = block.end(text, opened.end()) or block.last_end
        if not end:
            return len(text)
    return end


def _lone_end(text: str) -> int:
    """The end of thinking without an opening tag in a complete text; 0 if there is none."""
    if "</" not in text and "[/" not in text and "◁/" not in text:
        return 0
    found = LONE.search(text) or _LONE_AT_END.search(text)
    opened = OPENING.search(text[: found.start()]) if found else None
    return found.end() if found and not opened else 0


class Heard(NamedTuple):
    """A reply without its thinking, for those who look for calls."""

    text: str
    """The reply, with every character that may be thinking replaced with a blank."""
    certain: bool
    """Whether all thinking begins and ends; otherwise some of the blanked text may have been meant for us."""


def heard(text: str, value_end: Callable[[str, int], int]) -> Heard:
    """Blank the thinking in a reply, wherever it is; calls in it must not run.

    In doubt it is thinking: after a beginning without an end, and before an end without a beginning.

    Args:
        text: The reply.
        value_end: Where the JSON value that begins at a position ends, or 0; tags in such a value are data.
    """
    spans: list[tuple[int, int]] = []
    inside: list[str] = []
    begun = passed = skipped = 0
    certain = True
    for mark in _MARK.finditer(text):
        if mark.start() < skipped or _is_quoted(text, mark):
            continue
        kind = _kind(mark)
        if kind == "value":
            skipped = skipped if inside else value_end(text, mark.start())
            continue
        if mark.lastgroup == "tag" or kind == mark.lastgroup:
            begun = begun if inside else mark.start()
            if not _continues(inside, kind, text[passed : mark.start()]):
                inside.append(kind)
        elif kind in inside:
            while inside.pop() != kind:  # what began inside it ends with it
                pass
            spans += [] if inside else [(begun, mark.end())]
        elif not inside and kind not in _FLAT:
            spans, certain = [(0, mark.end())], False
        passed = mark.end()
    if inside:
        spans, certain = [*spans, (begun, len(text))], False
    return Heard(_blanked(text, spans), certain)


def _continues(inside: list[str], kind: str, between: str) -> bool:
    """Whether a beginning only repeats the one before it."""
    return kind in inside and (kind in _FLAT or (inside[-1] == kind and not between.strip()))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])
