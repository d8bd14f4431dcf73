"""Finds thinking in the text of a model: servers without a reasoning parser leave it there (behaviour S5).

It is the thought of a reply: it stays in the messages, but is neither an answer nor a call.
"""

from __future__ import annotations

import re
from bisect import bisect_left

_NAMES = r"(?:[a-z]+:)?(?:think|thinking|thought|thoughts|reasoning|reason|reflection)"
_SPECIAL = {
    "square": (r"\[THINK(?:ING)?\]", r"\[/THINK(?:ING)?\]"),
    "other": ("◁think▷", "◁/think▷"),
    "pipe": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "channel": (r"<\|channel\|>analysis<\|message\|>", r"<\|channel\|>final<\|message\|>"),
}
"""How thinking begins and ends where no tag marks it; in the last form it ends where the answer begins."""
_BEGINS = "|".join(f"(?P<{kind}>{begin})" for kind, (begin, _) in _SPECIAL.items())
_ENDS = "|".join(f"(?P<{kind}>{end})" for kind, (_, end) in _SPECIAL.items())
_END = rf"(?:</{_NAMES}>|\[/THINK(?:ING)?\]|◁/think▷)"
_OPEN = re.compile(rf"\s*(?:<(?P<tag>{_NAMES})(?:\s[^<>]*)?>|{_BEGINS})", re.IGNORECASE)
_BLOCK = re.compile(rf"<(?P<tag>{_NAMES})>|{_BEGINS}", re.IGNORECASE)
_BLOCK_END = re.compile(rf"</(?P<tag>{_NAMES})\s*+>|{_ENDS}", re.IGNORECASE)
_LONE = re.compile(rf"(?:\A|\n)[ \t]*{_END}|(?<![`'\"]){_END}(?=[ \t]*[\n{{\[])", re.IGNORECASE)
"""The end of thinking whose beginning the server removed: at the end or the beginning of a line, or before JSON."""
_LONE_AT_END = re.compile(rf"(?<![`'\"]){_END}\s*\Z", re.IGNORECASE)
_MAY_OPEN = re.compile(
    r"\s*(?:[<\[◁][\w:]{0,20}(?:\s[^<>]{0,200})?|<\|[\w|]{0,20}(?:>[a-z]{0,8}(?:<[\w|]{0,9})?)?)?\Z", re.IGNORECASE
)
_MAY_CLOSE = re.compile(r"</|\[/|◁/")
_OPENING = re.compile(rf"<{_NAMES}\b|\[THINK|◁think▷", re.IGNORECASE)
_LONGEST_END = 32
_WINDOW = 256
"""The maximum length of an end marker, blanks included, in a streamed reply."""
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


def _end_of_blocks(text: str) -> int:
    """The end of the thinking blocks at the beginning of ``text``; 0 if there are none."""
    end = 0
    while opened := _OPEN.match(text, end):
        closing = _closing(opened).search(text, opened.end())
        if closing is None:
            return len(text)
        end = closing.end()
    return end


def _closing(opened: re.Match[str]) -> re.Pattern[str]:
    if opened["tag"]:
        return re.compile(rf"</{re.escape(opened['tag'])}\s*>", re.IGNORECASE)
    return re.compile(_SPECIAL[opened.lastgroup or ""][1], re.IGNORECASE)


def _lone_end(text: str) -> int:
    """The end of thinking without an opening tag in a complete text; 0 if there is none."""
    if "</" not in text and "[/" not in text and "◁/" not in text:
        return 0
    found = _LONE.search(text) or _LONE_AT_END.search(text)
    opened = _OPENING.search(text[: found.start()]) if found else None
    return found.end() if found and not opened else 0


def blanked(text: str) -> str:
    """Replace every block of thinking in ``text`` with blanks of the same length."""
    thinking, _ = split_thinking(text)
    ends: dict[str, list[int]] = {}
    for closing in _BLOCK_END.finditer(text):
        ends.setdefault(_kind(closing), []).append(closing.end())
    pieces, at = [" " * len(thinking)], len(thinking)
    for opened in _BLOCK.finditer(text, at):
        known = ends.get(_kind(opened), [])
        following = bisect_left(known, opened.end())
        if opened.start() >= at and following < len(known):
            pieces += [text[at : opened.start()], " " * (known[following] - opened.start())]
            at = known[following]
    return "".join([*pieces, text[at:]])


def _kind(found: re.Match[str]) -> str:
    """The key that the beginning and the end of a block share."""
    return (found["tag"] or "").lower() or found.lastgroup or ""


class VisibleDraft:
    """Filters a streamed reply: everything except the thinking at its beginning is shown.

    Each piece is examined only once, with a few characters before it, so the total time is linear.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._recent = _Recent()
        self._blanks: list[str] = []
        self._undecided = ""
        self._closing: re.Pattern[str] | None = None
        self._open = False
        self._thought = False

    def feed(self, piece: str) -> tuple[bool, str]:
        """Take a piece of the reply.

        Returns:
            Whether the text shown so far turned out to be thinking, and the text to show now.
        """
        self._pieces.append(piece)
        behind = None if self._thought else self._recent.behind_lone_end(piece)
        if behind is not None:
            was_shown, self._thought, self._open = self._open, True, False
            self._blanks, self._undecided, self._closing = [], "", None
            return was_shown, self._begun(behind)
        return False, piece if self._open else self._begun(piece)

    def end(self) -> tuple[bool, str]:
        """The reply is complete: as :meth:`feed`, with text that was held back and is not thinking after all."""
        thinking, rest = split_thinking("".join(self._pieces))
        if thinking and not self._thought:
            return self._open, rest
        return False, rest if not self._open else ""

    def _begun(self, piece: str) -> str:
        """The beginning of the answer, once it is certain."""
        text, self._undecided = self._undecided + piece, ""
        while True:
            if self._closing is None:
                begin = text.lstrip()
                self._blanks.append(text[: len(text) - len(begin)])
                text, opened = begin, _OPEN.match(begin)
                if opened is None:
                    break
                self._closing, text = _closing(opened), text[opened.end() :]
            closed = self._closing.search(text)
            if closed is None:
                self._undecided = text[-_WINDOW:]
                return ""
            self._closing, text, self._thought = None, text[closed.end() :], True
        if _MAY_OPEN.fullmatch(text):  # another block may follow
            self._undecided = text
            return ""
        self._open = True
        return text if self._thought else "".join([*self._blanks, text])


class _Recent:
    """The last characters of a growing text, where thinking without a beginning may end."""

    def __init__(self) -> None:
        self._text = ""
        self._start = 0
        self._has_opened = False

    def behind_lone_end(self, piece: str) -> str | None:
        """The text after such an end, if ``piece`` completes one; else ``None``."""
        if self._has_opened:
            return None
        if len(self._text) > _WINDOW:
            self._text, self._start = self._text[-_WINDOW:], 1  # its beginning is not the beginning of the text
        self._text += piece
        near = max(0, len(self._text) - len(piece) - _LONGEST_END)
        opened = _OPENING.search(self._text, near)
        lone = _LONE.search(self._text, self._start) if _MAY_CLOSE.search(self._text, near) else None
        if opened and (lone is None or opened.start() < lone.start()):
            self._has_opened = opened.end() < len(self._text)  # otherwise it may be the beginning of another word
            return None
        return self._text[lone.end() :] if lone else None
