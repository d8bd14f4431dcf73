"""Text that arrives in pieces, handed on without secrets: what may be the beginning of one is held back (J2)."""

from __future__ import annotations

from react_run.secrets import Masker


class StreamMasker:
    """What has arrived and was not handed on yet.

    Args:
        masker: Knows the secrets.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._text = ""

    def add(self, piece: str) -> str:
        """Take the next piece; what can be handed on now, masked."""
        self._text += piece
        certain = len(self._text) - self._masker.longest
        if certain <= 0:
            return ""
        mask = self._masker.mask
        before, behind = mask(self._text[:certain]), self._text[certain:]
        if before + mask(behind) != mask(self._text):
            return ""  # the cut would go through a secret
        self._text = behind
        return before

    def rest(self) -> str:
        """All that was held back, masked: nothing follows that could make more of it."""
        text, self._text = self._masker.mask(self._text), ""
        return text
