"""Shows a streamed reply while it arrives, without the thinking at its beginning (behaviour S5)."""

from __future__ import annotations

import re

from react_run.support.thinking import LONE, OPEN, OPENING, Block, split_thinking

_MAY_OPEN = re.compile(
    r"\s*(?:[<\[◁][\w:]{0,20}(?:\s[^<>]{0,200})?|<\|[\w|]{0,20}(?:>[a-z]{0,8}(?:<[\w|]{0,9})?)?)?\Z", re.IGNORECASE
)
_MAY_CLOSE = re.compile(r"</|\[/|◁/")
_LONGEST_END = 32
_WINDOW = 256
"""The maximum length of a marker, blanks included, in a streamed reply."""


class VisibleDraft:
    """Filters a streamed reply: everything except the thinking at its beginning is shown.

    Each piece is examined only once, with a few characters before it, so the total time is linear.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._recent = _Recent()
        self._blanks: list[str] = []
        self._undecided = ""
        self._block: Block | None = None
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
            self._blanks, self._undecided, self._block = [], "", None
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
            if self._block is None:
                begin = text.lstrip()
                self._blanks.append(text[: len(text) - len(begin)])
                text, opened = begin, OPEN.match(begin)
                if opened is None:
                    break
                self._block, text = Block(opened), text[opened.end() :]
            end = self._block.end(text, more=True)
            if not end:
                self._undecided = self._block.undecided(text, _WINDOW)
                return ""
            self._block, text, self._thought = None, text[end:], True
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
        opened = OPENING.search(self._text, near)
        lone = LONE.search(self._text, self._start) if _MAY_CLOSE.search(self._text, near) else None
        if opened and (lone is None or opened.start() < lone.start()):
            self._has_opened = opened.end() < len(self._text)  # otherwise it may be the beginning of another word
            return None
        return self._text[lone.end() :] if lone else None
