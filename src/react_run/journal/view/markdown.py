"""Renders answers from Markdown to HTML without images, scripts or foreign markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from react_run.journal.view.markup import LONGEST, block, escaped, visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_DEEP = re.compile(r"^(?:[ \t]*[>*+-]){20}", re.MULTILINE)
"""Quotes and lists nested so deeply that the parser would drop their content."""
_PROTOCOLS = ("http://", "https://", "mailto:")


def markdown(text: str) -> str:
    """Render ``text`` as HTML; if it is very long or cannot be parsed, as plain text."""
    if len(text) > LONGEST or _DEEP.search(text):
        return block(text)
    try:
        return f'<div class="md">{_reader().render(visible(text))}</div>'
    except (RecursionError, ValueError):
        return block(text)


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20}).enable(
        ["table", "strikethrough"]
    )
    reader.disable(
        ["image", "html_block", "html_inline", "reference", "entity"]
    )  # the page loads nothing from other servers
    reader.validateLink = lambda url: url.lower().startswith(_PROTOCOLS)  # type: ignore[method-assign]  # meant to be replaced
    rules: dict[str, Any] = {
        "heading_open": lambda *_: '<p class="heading">',  # the page has headings of its own
        "heading_close": lambda *_: "</p>\n",
        "fence": _code,
        "code_block": _code,
        "table_open": lambda *_: '<div class="scroll" tabindex="0"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
        "link_open": _link,
    }
    reader.renderer.rules.update(rules)  # type: ignore[attr-defined]  # of the HTML renderer
    return reader


def _code(tokens: Sequence[Token], index: int, *_: object) -> str:
    return block(tokens[index].content.rstrip("\n"))


def _link(tokens: Sequence[Token], index: int, *_: object) -> str:
    address = str(tokens[index].attrs.get("href", ""))
    return f'<a href="{escaped(address)}" rel="noopener noreferrer nofollow">'
