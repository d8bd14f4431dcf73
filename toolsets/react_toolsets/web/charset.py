"""From bytes to characters as browsers do it: by the labels of the Encoding Standard, not by Python's codec names."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

_MARKS = ((BOM_UTF8, "utf-8"), (BOM_UTF16_BE, "utf-16-be"), (BOM_UTF16_LE, "utf-16-le"))
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta\b[^<>]*?\bcharset\s*+=\s*+(?:[\"']\s*+)?([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"']+)")
_SUPERSETS = {"gbk": "gb18030"}
"""The standard decodes every label of the first encoding with the second."""


def decoded(body: bytes, label: str) -> str | None:
    """The text of ``body`` as it declares itself, or ``None`` when nothing valid is declared.

    A byte order mark counts before ``label`` (the server's charset), and that before the page's own declaration.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(codec, "replace")
    codec = codec_of(label) or codec_of(_declared(body))
    return body.decode(codec, "replace") if codec else None


def guessed(body: bytes) -> str:
    """The text of a body that declares nothing: UTF-8 where that fits, else Windows-1252."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def codec_of(label: str) -> str:
    """Python's codec for the label of an encoding; ``""`` when browsers do not know it."""
    import webencodings  # type: ignore[import-untyped]  # ships no types

    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in ("replacement", "x-user-defined"):
        return ""
    return _SUPERSETS.get(encoding.name) or str(encoding.codec_info.name)


def _declared(body: bytes) -> str:
    """The label that a page names itself; UTF-16 is impossible there, since the declaration itself is ASCII."""
    start = body[:4096]
    found = _XML.match(start) or _META.search(_COMMENT.sub(b"", start))
    label = found[1].decode("ascii", "replace") if found else ""
    return "utf-8" if codec_of(label).startswith("utf-16") else label
