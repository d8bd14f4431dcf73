"""Text that arrives in pieces, handed on without secrets: what may be the beginning of one is held back (J2)."""

from __future__ import annotations

from react_run.secrets import Masker

_MORE = 4
"""After a quarter more has arrived, a text that could not be cut is looked at again: so its whole costs a few looks."""


class StreamMasker:
    """What has arrived and was not handed on yet.

    Args:
        masker: Knows the secrets.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._text = ""
        self._enough = 0

    def add(self, piece: str) -> str:
        """Take the next piece; what can be handed on now, masked."""
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
        self._enough = len(self._text) + len(self._text) // _MORE  # every cut would go through a secret
        return ""

    def rest(self) -> str:
        """All that was held back, masked: nothing follows that could make more of it."""
        text, self._text = self._masker.mask(self._text), ""
        return text
