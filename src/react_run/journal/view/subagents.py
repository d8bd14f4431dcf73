"""Which calls of a run started which subagents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.journal.iterations import ToolUse
    from react_run.journal.reading import Journal


class Subagents:
    """The subagents of a run, and theirs, by the call that started them.

    Args:
        journal: The run at the top.
    """

    def __init__(self, journal: Journal) -> None:
        self._started: dict[tuple[object, ...], list[Journal]] = defaultdict(list)
        self._of: dict[object, list[Journal]] = defaultdict(list)
        for child in _all_below(journal):
            parent = child.header.get("parent")
            self._started[parent, *child.header.get("within", ())].append(child)
            self._of[parent].append(child)

    def by(self, journal: Journal, use: ToolUse) -> list[Journal]:
        """Those that a call of ``journal`` started."""
        return self._started.get((journal.run_id, use.iteration, use.position), [])

    def others(self, journal: Journal) -> list[Journal]:
        """Those that ``journal`` started outside its recorded calls, from a plugin for example."""
        uses = [use for iteration in journal.iterations for use in iteration.tools]
        shown = {child.run_id for use in uses for child in self.by(journal, use)}
        return [child for child in self._of[journal.run_id] if child.run_id not in shown]


def _all_below(journal: Journal) -> Iterator[Journal]:
    for child in journal.below:
        yield child
        yield from _all_below(child)
