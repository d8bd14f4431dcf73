"""Text as HTML: nothing that comes from a run can be more than text."""

from __future__ import annotations

from html import escape as escape_html
from typing import TYPE_CHECKING

from react_run.support.render import escape

if TYPE_CHECKING:
    from react_run.journal.iterations import ModelCall, ToolUse
    from react_run.journal.reading import Journal

LONGEST = 20_000
"""Characters of one text that a page shows."""
_SHORT, _FEW_LINES = 300, 10
"""Characters and lines up to which a text is shown without scrolling, also on a small screen."""
_DIRECTIONS = {
    code: f"\\u{code:04x}" for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Characters that turn the direction of what follows: text must not be able to look like another text."""


def escaped(text: str) -> str:
    """``text`` for HTML, in content and in quoted attributes; what would act unseen is made visible."""
    return escape_html(visible(text), quote=True)


def visible(text: str) -> str:
    """``text`` with everything made visible that would act unseen; it is not HTML yet."""
    text = escape(text)
    return text if text.isascii() else text.translate(_DIRECTIONS)


def block(text: str) -> str:
    """A text with its lines as they are; of a very long one, the beginning and the end."""
    if len(text) > LONGEST:
        left_out = len(text) - LONGEST
        note = f"\n\n[… {left_out:,} characters are not shown here; `react-run trace --json` has them …]\n\n"
        text = text[: LONGEST * 3 // 4] + note + text[-LONGEST // 4 :]
    scrolls = len(text) > _SHORT or text.count("\n") > _FEW_LINES  # what scrolls has to be reachable by keyboard
    return f"<pre{' tabindex=0' if scrolls else ''}>{escaped(text)}</pre>"


def details(kind: str, summary: str, inner: str, *, anchor: str = "", opened: bool = False) -> str:
    """Something that can be opened; ``summary`` and ``inner`` are HTML."""
    place = f' id="{escaped(anchor)}"' if anchor else ""
    return f'<details class="{kind}"{place}{" open" if opened else ""}><summary>{summary}</summary>{inner}</details>\n'


class Anchors:
    """The places on a page that the calls of one run have."""

    def __init__(self, journal: Journal) -> None:
        self._prefix = journal.run_id[:12]
        self.attachment = journal.attachment

    def of_call(self, call: ModelCall) -> str:
        """The place of a model call; one that was made again after an interruption stands in another iteration."""
        return f"{self._prefix}-call-{call.iteration}-{call.number}"

    def of_tool(self, use: ToolUse) -> str:
        """The place of a tool call."""
        return f"{self._prefix}-tool-{use.iteration}-{use.position}"
