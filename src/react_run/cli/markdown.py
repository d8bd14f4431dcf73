"""Renders answers as Markdown on a terminal; rich is imported only for answers that contain Markdown."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from react_run.cli.terminal import width
from react_run.support.text import printable

if TYPE_CHECKING:
    from markdown_it.token import Token

_ITEM = r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\S"
_BLOCKS = re.compile(
    rf"^[ ]{{0,3}}\#{{1,6}}[ ]\S|^[ ]{{0,3}}(?:```|~~~)|^[ ]{{0,3}}>[ ]\S|{_ITEM}[^\n]*\n(?:[^\n]*\n)*?{_ITEM}"
    r"|^[^|\n]*\|[^\n]*\n[ ]{0,3}\|?[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*+\|?[ \t]*+$",
    re.MULTILINE | re.VERBOSE,
)
"""A heading, a fence, a quotation, at least two items of a list (one alone may be a sum), or a table."""
_INLINE = re.compile(
    r"(?<![\w*])\*\*(?=[^\s*])[^\n]{1,200}?(?<=[^\s*])\*\*(?![\w*])|(?<!`)`[^`\n]{1,200}`(?!`)"
    r"|\[[^\[\]\n]{1,200}\]\([^)\s]{1,500}\)"
)
"""Bold text, code, a link."""


def has_markdown(text: str) -> bool:
    """Whether ``text`` would look different as Markdown; plain prose and numbers would not."""
    return bool(_BLOCKS.search(text) or _INLINE.search(text))


def show(text: str) -> None:
    """Write ``text`` to the terminal as Markdown."""
    from markdown_it import MarkdownIt
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Heading, Markdown

    class LeftHeading(Heading):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            yield self.text

    class Answer(Markdown):
        elements: ClassVar = {**Markdown.elements, "heading_open": LeftHeading}

    # HTML tags stay text, because the library would drop them. A line of dashes does not turn a number into a heading.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable("lheading")
    answer = Answer("", hyperlinks=False, code_theme="ansi_dark")
    answer.parsed = _faithful(parser.parse(printable(text)))
    console = Console(file=sys.stdout, width=width(), highlight=False, markup=False, emoji=False)
    console.print(answer)


def _faithful(tokens: Sequence[Token]) -> list[Token]:
    """Change the tokens so that nothing is lost: line breaks, addresses, asterisks between letters (``2**3**4``)."""
    for token in tokens:
        children = token.children or []
        for before, child, after in zip([None, *children], children, [*children[1:], None], strict=False):
            if child.type == "softbreak":
                child.type = "hardbreak"
            elif child.type == "image":
                _become_text(child, f"{child.content} ({child.attrs.get('src', '')})".strip())
            elif child.type in ("em_open", "strong_open") and _joins(before, after):
                _become_text(_partner(children, child), child.markup)
                _become_text(child, child.markup)
            elif child.type == "link_open" and after is not None and after.content == child.attrs.get("href"):
                _become_text(_partner(children, child), "")
                _become_text(child, "")
    return list(tokens)


def _joins(before: Token | None, after: Token | None) -> bool:
    """Whether a mark stands between two letters or digits."""
    if before is None or after is None or before.type != "text" or after.type != "text":
        return False
    return before.content[-1:].isalnum() and after.content[:1].isalnum()


def _partner(tokens: Sequence[Token], opening: Token) -> Token:
    """The token that closes ``opening``."""
    kind, depth = opening.type.removesuffix("_open"), 0
    for token in tokens[next(at for at, each in enumerate(tokens) if each is opening) :]:
        depth += {f"{kind}_open": 1, f"{kind}_close": -1}.get(token.type, 0)
        if depth == 0:
            return token
    return opening


def _become_text(token: Token, text: str) -> None:
    token.type, token.tag, token.nesting, token.content, token.children = "text", "", 0, text, None
