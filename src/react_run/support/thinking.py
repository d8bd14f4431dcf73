"""Thinking that a model writes into its text: servers without a reasoning parser leave it there (behaviour S5).

It is the thought of a reply: it stays in the messages, and is neither answer nor call.
"""

from __future__ import annotations

import re

_NAMES = r"(?:[a-z]+:)?(?:think|thinking|thought|thoughts|reasoning|reason|reflection)"
_END = rf"(?:</{_NAMES}>|\[/THINK(?:ING)?\]|◁/think▷)"
_OPEN = re.compile(
    rf"\s*(?:<(?P<tag>{_NAMES})(?:\s[^<>]*)?>|\[(?P<square>THINK|THINKING)\]|◁(?P<other>think)▷)", re.IGNORECASE
)
_LONE = re.compile(rf"(?:\A|\n)[ \t]*{_END}|(?<![`'\"]){_END}(?=[ \t]*[\n{{\[])", re.IGNORECASE)
"""The end of thinking whose beginning the server cut off: at the end or the beginning of a line, or before JSON."""
_LONE_AT_END = re.compile(rf"(?<![`'\"]){_END}\s*\Z", re.IGNORECASE)
_MAY_OPEN = re.compile(r"\s*(?:[<\[◁][\w:]{0,20}(?:\s[^<>]{0,200})?)?\Z")
_MAY_CLOSE = re.compile(r"</|\[/|◁/")
_LONGEST_END = 32
_ANY_TAG = re.compile(rf"</?{_NAMES}(?:\s[^<>]*)?>|\[/?THINK(?:ING)?\]|◁/?think▷", re.IGNORECASE)


def split_thinking(text: str) -> tuple[str, str]:
    """The thinking at the beginning of ``text``, tags and all, and the rest of it.

    Thinking that never ends is all there is. Without an opening tag, a lone closing tag ends it.
    """
    if "<" not in text and "[" not in text and "◁" not in text:
        return "", text
    end = _end_of_blocks(text)
    if end == 0 and (lone := _lone_end(text, whole=True)):
        end = lone + _end_of_blocks(text[lone:])
    if not end:
        return "", text
    rest = text[end:].lstrip()
    return text[: len(text) - len(rest)], rest


def without_tags(thinking: str) -> str:
    """What a model thought, of the thinking that :func:`split_thinking` found."""
    return _ANY_TAG.sub("", thinking).strip()


def _end_of_blocks(text: str) -> int:
    """Where the blocks of thinking that ``text`` begins with end; 0 when it begins with none."""
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
    return re.compile(r"\[/THINK(?:ING)?\]" if opened["square"] else r"◁/think▷", re.IGNORECASE)


def _lone_end(text: str, *, whole: bool) -> int:
    """Where thinking without an opening tag ends; 0 when there is none. ``whole``: nothing comes after ``text``."""
    if "</" not in text and "[/" not in text and "◁/" not in text:
        return 0
    found = _LONE.search(text) or (_LONE_AT_END.search(text) if whole else None)
    opened = re.search(rf"<{_NAMES}\b|\[THINK|◁think▷", text[: found.start()], re.IGNORECASE) if found else None
    return found.end() if found and not opened else 0


def blanked(text: str) -> str:
    """``text`` of the same length with every block of thinking in it made of blanks, wherever it is."""
    blocks = rf"<({_NAMES})>.*?</\1\s*>|\[THINK(?:ING)?\].*?\[/THINK(?:ING)?\]|◁think▷.*?◁/think▷"
    thinking, rest = split_thinking(text)
    rest = re.sub(blocks, lambda block: " " * len(block[0]), rest, flags=re.IGNORECASE | re.DOTALL)
    return " " * len(thinking) + rest


class VisibleDraft:
    """What of a streamed reply a reader may see, as it comes: everything but the thinking at its beginning."""

    def __init__(self) -> None:
        self._text = ""
        self._shown = 0
        self._open = False
        self._thought = False

    def feed(self, piece: str) -> tuple[bool, str]:
        """Take a piece of the reply.

        Returns:
            Whether what was shown so far turned out to be thinking, and what can be shown now.
        """
        self._text += piece
        recent = self._text[max(0, len(self._text) - len(piece) - _LONGEST_END) :]
        closed = not self._thought and _MAY_CLOSE.search(recent) is not None
        if closed and (end := _lone_end(self._text, whole=False)):
            return self._skip(end)
        return False, self._rest() if self._open else self._begin()

    def end(self) -> tuple[bool, str]:
        """The reply is complete: as :meth:`feed`, with what was held back and is not thinking after all."""
        thinking, rest = split_thinking(self._text)
        if thinking and not self._thought:
            return self._open, rest
        return False, rest if not self._open else ""

    def _skip(self, end: int) -> tuple[bool, str]:
        was_shown, self._thought, self._open = self._open, True, False
        self._shown = end
        return was_shown, self._begin()

    def _begin(self) -> str:
        """The beginning of the answer, once it is certain that it is one."""
        rest = self._text[self._shown :]
        end = _end_of_blocks(rest)
        if _MAY_OPEN.fullmatch(rest, end):  # another block may begin, or this one has not ended
            return ""
        self._thought = self._thought or end > 0
        if self._thought:
            self._shown += end + len(rest[end:]) - len(rest[end:].lstrip())
        self._open = True
        return self._rest()

    def _rest(self) -> str:
        shown, self._shown = self._text[self._shown :], len(self._text)
        return shown
