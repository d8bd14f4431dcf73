"""Prepares the tree of an HTML page: absolute links, no hidden parts, formulas as text, no deep nesting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]  # lxml ships no types

MAX_DEPTH = 100
"""Deeper nesting is flattened, because tree readers recurse."""
MAX_TABLES = 6
"""Deeper nested tables are flattened, too, because readers process an inner table once per outer table."""
LEFT_OUT = "[This page is nested too deeply to be read completely: the rest is missing.]"

_KEPT = {"a", "p", "table", "tbody", "tr", "td", "th", "li", "pre", "br", "h1", "h2", "h3", "h4", "h5", "h6"}
_OF_TABLES = {"table", "tbody", "tr", "td", "th"}
_IN_LINE = {"a", "abbr", "b", "big", "code", "em", "font", "i", "s", "small", "span", "strong", "sub", "sup", "u"}
_BLOCKS = {"article", "aside", "blockquote", "center", "div", "dl", "fieldset", "form", "main", "ol", "section", "ul"}
_WRAPPERS = re.compile(rf"</?(?:{'|'.join(_BLOCKS | (_IN_LINE - {'a'}))})\b[^<>]*>", re.IGNORECASE)
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9]))", re.IGNORECASE)
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that the parser lets in and a tree refuses when they are set again, in a link for example."""
_REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,8}));?")
_OPERATORS = {"mfrac": "/", "msup": "^", "msub": "_", "munder": "_", "mover": "^"}


def parsed(source: str, url: str) -> tuple[HtmlElement | None, bool]:
    """The tree of the visible page (``None`` if it is empty), and whether it is complete."""
    from lxml.etree import ParserError  # type: ignore[import-untyped]  # ships no types

    try:
        tree, is_whole = _parse(source)
        if not is_whole:  # nested too deeply for the parser: remove wrapper elements
            tree, is_whole = _parse(_WRAPPERS.sub("\n", source))
    except (ParserError, ValueError):
        return None, True
    try:
        tree.make_links_absolute(url, resolve_base_href=True, handle_failures="ignore")
    except ValueError:  # the page has an invalid base URL
        tree.make_links_absolute(url, resolve_base_href=False, handle_failures="ignore")
    for hidden in [element for element in tree.iter() if _is_hidden(element)]:
        if hidden.getparent() is not None:
            hidden.drop_tree()
    for formula in list(_outermost(tree, "math")):
        _replace(formula, f" {_formula(formula)} ")
    _flatten(tree)
    return tree, is_whole


def _parse(source: str) -> tuple[HtmlElement, bool]:
    """The tree of the source, and whether it is complete."""
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    text = _REFERENCE.sub(_fit, _NO_TEXT.sub("", source))
    tree = document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    return tree, not any("depth" in entry.message for entry in parser.error_log)


def _fit(reference: re.Match[str]) -> str:
    """A reference to a character, unless no tree takes the character."""
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    usual = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return reference[0] if usual and not _NO_TEXT.match(chr(number)) else ""


def _is_hidden(element: Any) -> bool:
    """Whether browsers hide the element."""
    return (
        element.tag in ("template", "script", "style")
        or ("hidden" in element.attrib and element.get("hidden") != "until-found")
        or bool(_HIDING.search(element.get("style", "")))
    )


def _outermost(tree: HtmlElement, tag: str) -> Iterator[HtmlElement]:
    """The elements with this tag that are not inside another one."""
    from lxml.etree import iterwalk

    depth = 0
    for event, element in iterwalk(tree, events=("start", "end"), tag=tag):
        if event == "start" and depth == 0:
            yield element
        depth += 1 if event == "start" else -1


def _replace(element: HtmlElement, text: str) -> None:
    element.tail = f"{text}{element.tail or ''}"
    element.drop_tree()


def _formula(element: Any) -> str:
    """A formula on one line: its TeX if the page has it, else its parts joined by ``/``, ``^`` and ``_``."""
    if tex := element.get("alttext") or element.findtext(".//annotation[@encoding='application/x-tex']"):
        return " ".join(tex.split())
    parts = [_formula(child) for child in element if not str(child.tag).startswith("annotation")]
    if element.tag == "msqrt":
        return f"√({''.join(parts)})"
    if operator := _OPERATORS.get(element.tag):
        return operator.join(part if len(part) < 2 or part.isalnum() else f"({part})" for part in parts)
    return "".join([(element.text or "").strip(), *parts])


def _flatten(tree: HtmlElement) -> None:
    """Remove the tags of deeply nested elements; their text stays, for block elements on separate lines."""
    from lxml.etree import iterwalk

    depth, tables, deep = 0, 0, []
    for event, element in iterwalk(tree, events=("start", "end")):
        step = 1 if event == "start" else -1
        depth, tables = depth + step, tables + step * (element.tag == "table")
        too_deep = depth > MAX_DEPTH and element.tag not in _KEPT
        if event == "start" and (too_deep or (tables > MAX_TABLES and element.tag in _OF_TABLES)):
            deep.append(element)
    for element in reversed(deep):  # inner ones first; otherwise outer ones would collect all their children
        if element.tag not in _IN_LINE:
            element.text, element.tail = f"\n{element.text or ''}", f"\n{element.tail or ''}"
        element.drop_tag()


def take_tables(tree: HtmlElement) -> str:
    """Remove data tables (several rows with several cells) from a page, and return them as Markdown."""
    found = []
    for table in list(tree.iter("table")):
        rows = [[" ".join(cell.text_content().split()) for cell in row.iter("td", "th")] for row in table.iter("tr")]
        if sum(len(row) > 1 for row in rows) > 1 and table.find(".//table") is None:
            head, *rest = ("".join(f"| {cell.replace('|', '/')} " for cell in row) + "|" for row in rows)
            found.append("\n".join([head, "|---" * len(rows[0]) + "|", *rest]))
            table.drop_tree()
    return "\n\n".join(found)
