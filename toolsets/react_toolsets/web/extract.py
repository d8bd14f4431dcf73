"""Converts a page to text for the model: HTML to Markdown, PDF to plain text; other text is kept."""

from __future__ import annotations

import logging
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING

from react_run.support import dataclass
from react_toolsets.http import RequestFailed
from react_toolsets.web.charset import codec_of, decoded, guessed
from react_toolsets.web.markup import LEFT_OUT, parsed, take_tables
from react_toolsets.web.refused import Refused

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]  # lxml ships no types

    from react_toolsets.web.fetch import Document

MAX_PDF_PAGES = 300
MAX_LINKS = 100
SHORT = 200
"""A page with a shorter main text, such as a list of links or a start page, is read in another way."""
MAX_WALL = 1000
"""A page that mentions robot checks and is not longer counts as a wall, not as an article about walls."""
_WALL_TITLE = re.compile(
    r"^\s*(just a moment|attention required|access denied|are you a robot|robot check|pardon our interruption"
    r"|verif(y|ying) you are human|security check|please wait|ddos-guard|one moment, please)\b",
    re.IGNORECASE,
)
_WALL = re.compile(
    r"enable javascript and cookies to continue|checking (if the site connection is secure|your browser before)"
    r"|verif(y|ying) (that )?you are (a )?(human|not a robot)|complete the security check|solve (this|the) captcha"
    r"|unusual traffic from your (computer )?network|needs to review the security of your connection",
    re.IGNORECASE,
)
_HTML = ("text/html", "application/xhtml+xml")
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\U000e0000-\U000e007f]")
"""Control characters, and tag characters, which can hide text from people but not from models."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page as text for the model."""

    url: str
    title: str
    media_type: str
    text: str


def extract(document: Document) -> Page:
    """Convert a document to text. This may take seconds, so call it in a thread.

    Raises:
        Refused: The body does not match its type, or has no text.
        RequestFailed: ``missing_extra``: the HTML library is not installed.
    """
    title, text = _read(document)
    text = _UNSEEN.sub("", text.replace("\r\n", "\n")).strip()
    title = " ".join(_UNSEEN.sub("", title).split())[:200]
    if not text:
        raise Refused("empty", f"{document.url[:200]} has no readable text. Use another source.")
    return Page(url=document.url, title=title, media_type=document.media_type or "text/html", text=text)


def _read(document: Document) -> tuple[str, str]:
    body, media_type = document.body, document.media_type
    start = body[:1024].lstrip()
    if media_type == "application/pdf" or start.startswith(b"%PDF-"):
        return _pdf(document)
    is_wide = body.startswith((BOM_UTF16_BE, BOM_UTF16_LE)) or codec_of(document.charset).startswith("utf-16")
    if b"\0" in start and not is_wide:
        raise Refused("type", f"{document.url[:200]} is binary, not text. Use another source.")
    if media_type in _HTML or (not media_type and start[:200].lower().startswith((b"<!doctype html", b"<html"))):
        return _html(document)
    return "", _text(document)


def _text(document: Document) -> str:
    text = decoded(document.body, document.charset)
    return guessed(document.body) if text is None else text


def _html(document: Document) -> tuple[str, str]:
    try:
        import trafilatura
    except ModuleNotFoundError:
        raise missing_extra("trafilatura") from None
    _quiet("trafilatura")
    tree, is_whole = parsed(_source(document.body, document.charset), document.url)
    if tree is None:
        return "", ""
    title = tree.findtext(".//head/title") or tree.findtext(".//h1") or ""
    _check_wall(title, tree, document.url)
    text = trafilatura.extract(
        tree, url=document.url, output_format="markdown", include_links=True, include_comments=False
    )
    parts = [text] if len(text or "") >= SHORT else _short(text, tree, document.url)
    return title, "\n\n".join(filter(None, [*parts, "" if is_whole else LEFT_OUT]))


def _short(text: str | None, tree: HtmlElement, url: str) -> list[str | None]:
    """The parts of a page with hardly any main text: its plain text, tables and links."""
    from trafilatura import html2txt

    links, tables = _links(tree, url), "" if "|" in (text or "") else take_tables(tree)
    return [html2txt(tree) if tables or not text else text, tables, links]


def _source(body: bytes, label: str) -> str:
    """The decoded source of a page; without a declaration, the library detects the encoding."""
    from trafilatura.utils import detect_encoding

    text = decoded(body, label)
    for codec in [] if text is not None else detect_encoding(body):
        try:
            return body.decode(codec)
        except (LookupError, UnicodeDecodeError):
            continue
    return guessed(body) if text is None else text


def _check_wall(title: str, tree: HtmlElement, url: str) -> None:
    """Refuse a robot check that a site shows instead of the page."""
    text = " ".join(tree.text_content().split())
    if len(text) < MAX_WALL and (_WALL_TITLE.search(title) or _WALL.search(text)):
        raise Refused("wall", f"{url[:200]} shows a robot check instead of the page. Use another source.")


def _links(tree: HtmlElement, here: str) -> str:
    """The links of a page as a Markdown list, each once."""
    found: dict[str, str] = {}
    for link in tree.iterfind(".//a[@href]"):
        text, url = " ".join(link.text_content().split())[:200], link.get("href", "").partition("#")[0]
        if text and url.startswith(("http://", "https://")) and url != here:
            found.setdefault(url, text)
    return "\n".join(f"- [{text}]({url})" for url, text in islice(found.items(), MAX_LINKS))


def _pdf(document: Document) -> tuple[str, str]:
    try:
        import pypdf
    except ModuleNotFoundError:
        raise Refused("type", 'Reading PDF needs an extra: pip install "react-run[pdf]". Use another source.') from None
    _quiet("pypdf")
    try:
        reader = pypdf.PdfReader(BytesIO(document.body))
        title = (reader.metadata and reader.metadata.title) or ""
        pages = [page.extract_text() for page in islice(reader.pages, MAX_PDF_PAGES)]
    except Exception as error:  # the library raises all kinds of errors for broken files
        raise Refused(
            "type", f"{document.url[:200]} cannot be read as PDF ({type(error).__name__}). Use another source."
        ) from error
    return str(title), "\n\n".join(pages)


def _quiet(library: str) -> None:
    """Keep a library's warnings about broken input off the terminal, unless its logger has a handler."""
    logger = logging.getLogger(library)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def missing_extra(library: str) -> RequestFailed:
    """The failure for a library that is not installed, with the command that installs it."""
    return RequestFailed(
        "missing_extra", f'This tool needs {library}, which is not installed. Run: pip install "react-run[web]"'
    )
