"""Files as text and back: encodings, byte order marks and line ends are found, and kept when a file is changed."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from react_run import ToolError
from react_run.support import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that one's
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class NotText(ToolError):
    """A file holds something else than text."""

    default_code = "binary_file"
    opaque = True  # another file may be text


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a text is stored: ``crlf`` says that all its lines end as on Windows."""

    encoding: str = "utf-8"
    mark: bytes = b""
    crlf: bool = False


def decode(data: bytes, path: str) -> tuple[str, Form]:
    """The text in ``data``, its lines ending in a line feed where they all end alike, and its form.

    Raises:
        NotText: It is not text.
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
    body = data[len(mark) :]
    try:
        text = body.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        encoding, text = "latin-1", body.decode("latin-1")
    if (not mark or encoding == "latin-1") and _NO_TEXT.search(body):
        raise NotText(f"{path!r} is not text: {len(data):,} bytes of something else")
    ends = text.count("\r\n")
    crlf = ends > 0 and ends == text.count("\n")
    return text.replace("\r\n", "\n") if crlf else text, Form(encoding=encoding or "utf-8", mark=mark, crlf=crlf)


def encode(text: str, form: Form) -> bytes:
    """``text`` in the given form.

    Raises:
        UnicodeEncodeError: The encoding has no such character.
    """
    if form.crlf:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return form.mark + text.encode(form.encoding)


def with_line_ends(text: str, form: Form, *, crlf: bool) -> tuple[str, Form]:
    """``text`` and its form, for all its lines to end as on Windows, or none of them."""
    return text.replace("\r\n", "\n"), replace(form, crlf=crlf)
