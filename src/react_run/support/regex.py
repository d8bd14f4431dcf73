"""Foreign regular expressions: every search ends, whatever the pattern and the text.

Python's own ``re`` cannot be stopped, and some patterns take forever on some texts. The ``regex`` library can be: it
has the same syntax, and checks for timeouts and Ctrl-C while it searches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

SECONDS = 1.0
"""Default time limit for one search, in seconds."""
_LONG = 1_000
"""In texts of at least this many characters, other threads may run during a search."""


class SlowPattern(Exception):
    """A pattern took too long on a text."""


class Pattern:
    """A regular expression in Python's syntax.

    Args:
        text: The pattern.
        seconds: How long one search may take.
        multiline: Whether ``^`` and ``$`` match at every line.
        extended: Whether it may use what only the ``regex`` library knows, such as ``\\p{L}``.

    Raises:
        ValueError: It is not a regular expression.
    """

    def __init__(self, text: str, *, seconds: float = SECONDS, multiline: bool = False, extended: bool = False) -> None:
        self.text, self.seconds, self._multiline = text, seconds, multiline
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            if not extended or not self._is_known():
                raise ValueError(f"this is not a regular expression: {error}") from None

    @cached_property
    def _compiled(self) -> regex.Pattern[str]:
        import regex  # slow to import, and few agents have patterns

        try:
            return regex.compile(self.text, regex.MULTILINE if self._multiline else 0)
        except regex.error as error:
            raise SlowPattern(f"the pattern {self.text!r} cannot be searched for: {error}") from None

    def _is_known(self) -> bool:
        """Whether the ``regex`` library can search for it."""
        try:
            return bool(self._compiled)
        except SlowPattern:
            return False

    def search(self, text: str) -> bool:
        """Whether it matches somewhere in ``text``.

        Raises:
            SlowPattern: It takes too long.
        """
        try:
            return self._compiled.search(text, timeout=self.seconds, concurrent=len(text) > _LONG) is not None
        except (TimeoutError, MemoryError):
            raise self._slow() from None

    def fullmatch(self, text: str) -> bool:
        """Whether it matches ``text`` as a whole; raises as :meth:`search`."""
        try:
            return self._compiled.fullmatch(text, timeout=self.seconds, concurrent=len(text) > _LONG) is not None
        except (TimeoutError, MemoryError):
            raise self._slow() from None

    def sub(self, replacement: str, text: str) -> str:
        """``text`` with all matches replaced by the literal ``replacement``; raises as :meth:`search`."""
        try:
            return self._compiled.sub(lambda _: replacement, text, timeout=self.seconds)
        except (TimeoutError, MemoryError):
            raise self._slow() from None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """All matches, in order, within the time limit of one search; raises as :meth:`search`."""
        try:
            for match in self._compiled.finditer(text, timeout=self.seconds, concurrent=True):
                yield match.span()
        except (TimeoutError, MemoryError):
            raise self._slow() from None

    def _slow(self) -> SlowPattern:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:80]}…"
        return SlowPattern(f"the pattern {shown!r} takes more than {self.seconds:g} s on this text; use a simpler one")
