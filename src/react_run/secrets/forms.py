"""Searches for many texts at once, in time independent of their number (J2)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

MIN_LENGTH = 4
"""Shorter values are not masked, because that would hide ordinary text."""


class Forms:
    """Searches for any of ``forms``; of those that begin at the same position it finds the longest.

    One pattern with all of them as alternatives takes a third of a second to compile for thirty secrets, and tries
    thousands of alternatives with the same beginning. This class looks up the text there by its length.

    Args:
        forms: Texts of at least four characters.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        self._forms = frozenset(forms)
        lengths: dict[str, set[int]] = {}
        for form in self._forms:
            lengths.setdefault(form[:MIN_LENGTH], set()).add(len(form))
        self._lengths = {start: sorted(sizes, reverse=True) for start, sizes in lengths.items()}
        self._starts = re.compile("|".join(map(re.escape, sorted(lengths))) or r"(?!)")

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Their positions in ``text``: the start and end of each, in order."""
        at = 0
        while found := self._starts.search(text, at):
            start = found.start()
            ends = (start + size for size in self._lengths[found[0]])
            end = next((end for end in ends if text[start:end] in self._forms), None)
            if end:
                yield start, end
            at = end or start + 1

    def spans_in_lines(self, text: str, between: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Their positions in ``text``, ignoring whatever matches ``between``."""
        squeezed, places, left_out = [], [0], [0]
        at = length = 0
        for found in between.finditer(text):
            squeezed.append(text[at : found.start()])
            length += found.start() - at
            at = found.end()
            places.append(length)
            left_out.append(at - length)
        squeezed.append(text[at:])
        for start, end in self.spans("".join(squeezed)):
            first, last = (place + left_out[bisect_right(places, place) - 1] for place in (start, end - 1))
            yield first, last + 1
