"""Decodes files to text and back; keeps encoding, byte order mark and line endings when a file is changed."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from react_run import ToolError
from react_run.support import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class NotText(ToolError):
    """A file is not text."""

    default_code = "binary_file"
    opaque = True  # another file may be text


@dataclass(frozen=True, kw_only=True)
class Form:
    """The encoding, byte order mark and line endings of a text; ``crlf`` means that all lines end in CRLF."""

    encoding: str = "utf-8"
    mark: bytes = b""
    crlf: bool = False


def decode(data: bytes, path: str) -> tuple[str, Form]:
    """The text in ``data`` and its form; CRLF becomes a line feed if all lines end in it.

    Raises:
        NotText: ``data`` is not text.
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
    body = data[len(mark) :]
    try:
        text = body.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        encoding, text = "latin-1", body.decode("latin-1")
    if (not mark or encoding == "latin-1") and _NO_TEXT.search(body):
        raise NotText(f"{path!r} is not text: it has {len(data):,} bytes of something else")
    ends = text.count("\r\n")
    crlf = ends > 0 and ends == text.count("\n")
    return text.replace("\r\n", "\n") if crlf else text, Form(encoding=encoding or "utf-8", mark=mark, crlf=crlf)


def encode(text: str, form: Form) -> bytes:
    """Encode ``text`` in the given form.

    Raises:
        UnicodeEncodeError: The encoding lacks a character.
    """
    if form.crlf:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return form.mark + text.encode(form.encoding)


def with_line_ends(text: str, form: Form, *, crlf: bool) -> tuple[str, Form]:
    """``text`` and its form with all lines ending in CRLF, or none of them."""
    return text.replace("\r\n", "\n"), replace(form, crlf=crlf)
