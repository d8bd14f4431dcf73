"""Small files of every kind that models read."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from io import BytesIO


def png(side: int = 1, red: int = 255) -> bytes:
    """A square of one colour."""
    rows = b"".join(b"\0" + bytes((red, 0, 0)) * side for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


GIF = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
WEBP = b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" + bytes(8) + b"\xff\xd9"


def pdf() -> bytes:
    """One empty page."""
    from pypdf import PdfWriter

    writer, file = PdfWriter(), BytesIO()
    writer.add_blank_page(72, 72)
    writer.write(file)
    return file.getvalue()
