"""Text as HTML: text from a run can never act as markup."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as escape_html
from typing import TYPE_CHECKING

from react_run.support.render import escape

if TYPE_CHECKING:
    from react_run.journal.iterations import ModelCall, ToolUse
    from react_run.journal.reading import Journal
    from react_run.journal.view.subagents import Subagents

LONGEST = 20_000
"""The most characters of one text that a page shows."""
_SHORT, _FEW_LINES = 300, 10
"""The most characters and lines of a text that is shown without scrolling, even on a small screen."""
_DIRECTIONS = {
    code: f"\\u{code:04x}" for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Characters that change the text direction, which could make one text look like another."""


def escaped(text: str) -> str:
    """Escape ``text`` for HTML content and quoted attributes; invisible control characters become visible."""
    return escape_html(visible(text), quote=True)


def visible(text: str) -> str:
    """Make invisible control characters in ``text`` visible; the result is not HTML yet."""
    text = escape(text)
    return text if text.isascii() else text.translate(_DIRECTIONS)


def block(text: str) -> str:
    """A block of text with its line breaks; of a very long text, its head and tail."""
    if len(text) > LONGEST:
        left_out = len(text) - LONGEST
        note = f"\n\n[… {left_out:,} characters left out here; see `react-run trace --json` …]\n\n"
        text = text[: LONGEST * 3 // 4] + note + text[-LONGEST // 4 :]
    scrolls = len(text) > _SHORT or text.count("\n") > _FEW_LINES  # scrollable content must be reachable by keyboard
    return f"<pre{' tabindex=0' if scrolls else ''}>{escaped(text)}</pre>"


def details(kind: str, summary: str, inner: str, *, anchor: str = "", opened: bool = False) -> str:
    """A collapsible block; ``summary`` and ``inner`` are HTML."""
    place = f' id="{escaped(anchor)}"' if anchor else ""
    return f'<details class="{kind}"{place}{" open" if opened else ""}><summary>{summary}</summary>{inner}</details>\n'


class Anchors:
    """The anchors of one run's calls on a page.

    Args:
        journal: The run.
        subagents: The subagents of the run at the top of the page, if they are shown below their calls.
    """

    def __init__(self, journal: Journal, subagents: Subagents | None = None) -> None:
        self._prefix = journal.run_id[:12]
        self._journal = journal
        self.subagents = subagents
        self.attachment = journal.attachment

    def started(self, use: ToolUse) -> Sequence[Journal]:
        """The subagents that a call started, if they are shown below their calls."""
        return self.subagents.by(self._journal, use) if self.subagents else ()

    def of_call(self, call: ModelCall) -> str:
        """The anchor of a model call; its iteration keeps repeated calls apart."""
        return f"{self._prefix}-call-{call.iteration}-{call.number}"

    def of_tool(self, use: ToolUse) -> str:
        """The anchor of a tool call."""
        return f"{self._prefix}-tool-{use.iteration}-{use.position}"
