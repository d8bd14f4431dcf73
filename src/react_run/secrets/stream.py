"""Masks text that arrives in pieces: the possible beginning of a secret is held back (J2)."""

from __future__ import annotations

from react_run.secrets import Masker

_MORE = 4
"""A text that could not be cut is checked again after it has grown by a quarter, so that the total cost stays low."""


class StreamMasker:
    """Holds back streamed text until it can be masked safely.

    Args:
        masker: The masker with the secrets.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._text = ""
        self._enough = 0

    def add(self, piece: str) -> str:
        """Take the next piece, and return the masked text that can be passed on now."""
        self._text += piece
        certain = len(self._text) - self._masker.longest
        if certain <= 0 or len(self._text) < self._enough:
            return ""
        mask = self._masker.mask
        masked = mask(self._text)
        for cut in (certain, self._masker.cut(self._text, certain)):
            before, behind = mask(self._text[:cut]), self._text[cut:]
            if cut and before + mask(behind) == masked:
                self._text, self._enough = behind, 0
                return before
        self._enough = len(self._text) + len(self._text) // _MORE  # every cut would split a secret
        return ""

    def rest(self) -> str:
        """All text held back, masked; nothing more follows."""
        text, self._text = self._masker.mask(self._text), ""
        return text
