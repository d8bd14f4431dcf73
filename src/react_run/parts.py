"""Non-text parts of messages: images, PDF and text files, identified by content and not by name."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path

LARGEST = 20 * 2**20
"""Maximum bytes of one attachment: what the large providers accept for an image or a PDF."""
LARGEST_TEXT = 2**20
"""Maximum bytes of an attached text file, which is sent in full."""
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""The image types that models can read."""
PDF = "application/pdf"
_READABLE = "PNG, JPEG, WebP and GIF images, PDF, and text"
_ENDINGS = {"image/jpeg": ".jpg", PDF: ".pdf", "text/plain": ".txt"}
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_DATA_URL = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,")
_SHORTEST_IMAGE = 24


class Part(Mapping[str, object]):
    """Content that is not plain text. It is also the mapping that represents it in OpenAI's messages.

    ``data`` holds the bytes, ``media_type`` their type, ``name`` the name (may be empty), and ``saved_to`` the path of
    a saved copy, relative to the workspace of the run, if there is one. Parts are immutable.
    """

    def __init__(self, data: bytes, media_type: str, name: str = "", *, saved_to: str = "") -> None:
        self.data, self.media_type, self.name, self.saved_to = data, media_type, _one_line(name), saved_to

    @cached_property
    def digest(self) -> str:
        """The SHA-256 digest of the bytes, in hexadecimal."""
        return sha256(self.data).hexdigest()

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    @property
    def label(self) -> str:
        """A description for people and models: name, type and size."""
        return f"{self.name or 'without a name'} ({self.media_type}, {self.size:,} bytes)"

    @property
    def ending(self) -> str:
        """The usual file extension for this type."""
        return _ENDINGS.get(self.media_type) or f".{self.media_type.partition('/')[2]}"

    @property
    def url(self) -> str:
        """The bytes as a ``data:`` URL."""
        return f"data:{self.media_type};base64,{b64encode(self.data).decode()}"

    @cached_property
    def fields(self) -> Mapping[str, object]:
        """The content part in OpenAI's form."""
        raise NotImplementedError

    def named(self, name: str) -> Part:
        """Return the same part with a name, if it has none."""
        return self if self.name else type(self)(self.data, self.media_type, name, saved_to=self.saved_to)

    def saved(self, path: str) -> Part:
        """Return the same part with a saved copy at ``path``."""
        return type(self)(self.data, self.media_type, self.name, saved_to=path)

    def __getitem__(self, key: str) -> object:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part):
            return NotImplemented
        return self is other or (self.media_type, self.name, self.data) == (other.media_type, other.name, other.data)

    def __hash__(self) -> int:
        return hash((self.media_type, self.name, self.digest))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.label})"


class ImagePart(Part):
    """An image: PNG, JPEG, WebP or GIF.

    Args:
        data: The bytes of the image file.
        media_type: The declared type; if the bytes disagree, the bytes decide.
        name: The name of the file.
        saved_to: The path of a saved copy, relative to the workspace of the run.

    Raises:
        ValueError: The bytes are not one of these image types.
    """

    def __init__(self, data: bytes, media_type: str = "", name: str = "", *, saved_to: str = "") -> None:
        found = recognised(data)
        if found not in IMAGES:
            what = f"is {found}" if found else "are not a known image"
            said = f" (declared as {media_type})" if media_type else ""
            raise ValueError(f"these {len(data):,} bytes{said} {what}; models read PNG, JPEG, WebP and GIF")
        super().__init__(bytes(data), found, name, saved_to=saved_to)

    @cached_property
    def fields(self) -> Mapping[str, object]:
        return {"type": "image_url", "image_url": {"url": self.url}}


class FilePart(Part):
    """A PDF or a text file. Every model can read text files: they are sent as text, between markers, as data.

    Args:
        data: The bytes of the file.
        media_type: The declared type, such as ``text/csv`` for a text file; for other files, the bytes decide.
        name: The name of the file.
        saved_to: The path of a saved copy, relative to the workspace of the run.

    Raises:
        ValueError: The bytes are neither.
    """

    def __init__(self, data: bytes, media_type: str = "", name: str = "", *, saved_to: str = "") -> None:
        found = recognised(data)
        if found == "text/plain" and media_type.startswith("text/"):
            found = media_type.partition(";")[0].strip()
        if found in IMAGES or not found:
            what = f"is {found}: make it an ImagePart" if found else "are neither a PDF nor text"
            raise ValueError(f"these {len(data):,} bytes {what}")
        super().__init__(bytes(data), found, name, saved_to=saved_to)

    @cached_property
    def text(self) -> str:
        """The text of a text file; empty for a PDF."""
        return "" if self.media_type == PDF else _text_in(self.data) or ""

    @cached_property
    def fields(self) -> Mapping[str, object]:
        if self.media_type == PDF:
            return {"type": "file", "file": {"filename": self.name or "file.pdf", "file_data": self.url}}
        mark = f"file {self.name} {self.digest[:12]}".replace("  ", " ")
        return {"type": "text", "text": f"<<<{mark}\n{self.text}\n{mark}>>>"}


class AbsentPart(Part):
    """A placeholder text for an attachment whose bytes are missing."""

    def __init__(self, media_type: str, name: str, digest: str, size: int) -> None:
        super().__init__(b"", media_type, name)
        self.__dict__.update(digest=digest)
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    @cached_property
    def fields(self) -> Mapping[str, object]:
        return {"type": "text", "text": f"[attachment {self.label}: not kept]"}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and other.digest == self.digest

    __hash__ = Part.__hash__


def recognised(data: bytes) -> str:
    """The media type of ``data`` by its content, ``text/plain`` for any text; empty if unknown."""
    if len(data) >= _SHORTEST_IMAGE:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return "image/png"
        if data.startswith(b"\xff\xd8\xff"):
            return "image/jpeg"
        if data.startswith((b"GIF87a", b"GIF89a")):
            return "image/gif"
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return "image/webp"
        if data.startswith(b"%PDF-"):
            return PDF
    return "text/plain" if _text_in(data) is not None else ""


def attachment(data: bytes, name: str = "", media_type: str = "") -> ImagePart | FilePart:
    """Return ``data`` as a part.

    Args:
        data: The bytes.
        name: The name of the file.
        media_type: The declared type.

    Raises:
        ValueError: The data is empty, too large, or not of a type that models can read.
    """
    what = name or "the attachment"
    if not data:
        raise ValueError(f"{what} is empty")
    if len(data) > LARGEST:
        raise _too_large(what, len(data), LARGEST)
    found = recognised(data)
    if not found:
        raise ValueError(f"{what} is not a file that models can read; they can read {_READABLE}, identified by content")
    if found == "text/plain" and len(data) > LARGEST_TEXT:
        raise _too_large(what, len(data), LARGEST_TEXT)
    return ImagePart(data, found, name) if found in IMAGES else FilePart(data, media_type, name)


def read_attachment(path: str | PathLike[str]) -> Part:
    """Read the file at ``path`` as a part.

    Raises:
        OSError: The file cannot be read.
        ValueError: As for :func:`attachment`; the message begins with the path.
    """
    from mimetypes import guess_type

    path = Path(path)
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _too_large(str(path), max(path.stat().st_size, len(data)), LARGEST)  # devices report 0 bytes
    try:
        return attachment(data, path.name, guess_type(path.name)[0] or "")
    except ValueError as error:
        raise ValueError(str(error).replace(path.name, str(path), 1)) from None


def part_from_fields(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Convert a content part in OpenAI's format to one of ours if it includes the bytes; return others unchanged."""
    try:
        return read_part(fields)
    except ValueError:  # leave it to the provider to report the error
        return fields


def read_part(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Convert a content part as :func:`part_from_fields` does, but strictly.

    Raises:
        ValueError: The part includes its bytes, and they are nothing that a model reads.
    """
    kind, name = fields.get("type"), ""
    inner = fields.get(kind) if kind in ("image_url", "file") else None
    if isinstance(fields, Part) or not isinstance(inner, Mapping):
        return fields
    url = inner.get("url") if kind == "image_url" else inner.get("file_data")
    given = inner.get("filename")
    if isinstance(given, str):
        name = given
    return attachment(_read_url(url), name) if isinstance(url, str) and url.startswith("data:") else fields


def _too_large(what: str, size: int, most: int) -> ValueError:
    shown = f"{size / 2**20:.1f} MB; {most // 2**20} MB"
    return ValueError(f"{what} is {shown} is the limit for its kind: scale it down, or attach a part of it")


def _read_url(url: str) -> bytes:
    head = _DATA_URL.match(url)
    if head is None:
        raise ValueError("it is no data: URL with base64, such as data:image/png;base64,iVBORw0…")
    try:
        return b64decode(url[head.end() :], validate=True)
    except NotBase64 as error:
        raise ValueError(f"what follows base64, is none: {error}") from None


def _text_in(data: bytes) -> str | None:
    """Return ``data`` as text; ``None`` if it is not text."""
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if _NOT_TEXT.search(text) else text


def _one_line(name: str) -> str:
    return "".join(c for c in " ".join(name.split()) if c.isprintable() and c not in "<>")[:120]
