"""From the bytes of a page to the text a model reads: HTML as Markdown, PDF as plain text, the rest as it is."""

from __future__ import annotations

import logging
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, lookup
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING

from react_toolsets.http import RequestFailed
from react_toolsets.web.refused import Refused

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]  # lxml ships no types

    from react_toolsets.web.fetch import Document

MAX_PDF_PAGES = 300
MAX_LINKS = 100
SHORT = 200
"""Characters below which the main text of a page is not taken for all it says: a list of links, a start page."""
_HTML = ("text/html", "application/xhtml+xml")
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\U000e0000-\U000e007f]")
"""Control characters, and the tag characters that hide text from people but not from models."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page as a model reads it."""

    url: str
    title: str
    media_type: str
    text: str


def extract(document: Document) -> Page:
    """Turn a document into text. It may take seconds: call it in a thread.

    Raises:
        Refused: The body is not what its type says, or has no text.
        RequestFailed: ``missing_extra``, when the HTML reader is not installed.
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
    if b"\0" in start and not body.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        raise Refused("type", f"{document.url[:200]} is binary, not text. Use another source.")
    if media_type in _HTML or (not media_type and start[:200].lower().startswith((b"<!doctype html", b"<html"))):
        return _html(document)
    return "", _decoded(document)


def _decoded(document: Document) -> str:
    """The body as text: by the server's charset, else its byte order mark, else UTF-8, else Windows-1252."""
    body = document.body
    if charset := _known(document.charset):
        return body.decode(charset, "replace").removeprefix("\ufeff")
    if body.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        return body.decode("utf-16", "replace")
    try:
        return body.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _known(charset: str) -> str:
    try:
        return lookup(charset).name if charset and lookup(charset)._is_text_encoding else ""
    except (LookupError, ValueError):
        return ""


def _html(document: Document) -> tuple[str, str]:
    try:
        import trafilatura
    except ModuleNotFoundError:
        raise missing_extra("trafilatura") from None
    _quiet("trafilatura")
    # Without a charset from the server the page's own declaration counts, which the library reads.
    source = _decoded(document) if _known(document.charset) else document.body
    tree = trafilatura.load_html(source)
    if tree is None:
        return "", ""
    title = tree.findtext(".//head/title") or tree.findtext(".//h1") or ""
    text = trafilatura.extract(
        tree, url=document.url, output_format="markdown", include_links=True, include_comments=False
    )
    if len(text or "") >= SHORT:
        return title, text or ""
    return title, "\n\n".join(filter(None, (text or trafilatura.html2txt(source), _links(tree, document.url))))


def _links(tree: HtmlElement, base: str) -> str:
    """The links of a page as a Markdown list, each once."""
    from urllib.parse import urljoin

    found: dict[str, str] = {}
    for link in tree.iterfind(".//a[@href]"):
        text, url = " ".join(link.text_content().split())[:200], urljoin(base, link.get("href", "")).partition("#")[0]
        if text and url.startswith(("http://", "https://")) and url != base:
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
    except Exception as error:  # the library meets broken files with errors of every kind
        raise Refused(
            "type", f"{document.url[:200]} cannot be read as PDF ({type(error).__name__}). Use another source."
        ) from error
    return str(title), "\n\n".join(pages)


def _quiet(library: str) -> None:
    """Keep a library's complaints about broken input off the terminal, unless somebody listens to its logger."""
    logger = logging.getLogger(library)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def missing_extra(library: str) -> RequestFailed:
    """The failure of a tool whose library is not installed, naming what installs it."""
    return RequestFailed(
        "missing_extra", f'This tool needs {library}, which is not installed. Run: pip install "react-run[web]"'
    )
