"""Decodes bytes as browsers do: by the labels of the Encoding Standard, not by Python's codec names."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

_MARKS = ((BOM_UTF8, "utf-8"), (BOM_UTF16_BE, "utf-16-be"), (BOM_UTF16_LE, "utf-16-le"))
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta\b[^<>]*?\bcharset\s*+=\s*+(?:[\"']\s*+)?([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"']+)")
_SUPERSETS = {"gbk": "gb18030"}
"""Encodings that the standard decodes with another one."""


def decoded(body: bytes, label: str) -> str | None:
    """The text of ``body`` by its declared encoding; ``None`` if there is no valid declaration.

    A byte order mark takes precedence over ``label`` (the server's charset), and that over the page's own declaration.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(codec, "replace")
    codec = codec_of(label) or codec_of(_declared(body))
    return body.decode(codec, "replace") if codec else None


def guessed(body: bytes) -> str:
    """The text of a body without a declaration: UTF-8 if that is valid, else Windows-1252."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def codec_of(label: str) -> str:
    """Python's codec for an encoding label; empty if browsers do not know the label."""
    import webencodings  # type: ignore[import-untyped]  # ships no types

    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in ("replacement", "x-user-defined"):
        return ""
    return _SUPERSETS.get(encoding.name) or str(encoding.codec_info.name)


def _declared(body: bytes) -> str:
    """The label that a page declares; UTF-16 counts as UTF-8, because the declaration itself is ASCII."""
    start = body[:4096]
    found = _XML.match(start) or _META.search(_COMMENT.sub(b"", start))
    label = found[1].decode("ascii", "replace") if found else ""
    return "utf-8" if codec_of(label).startswith("utf-16") else label
