"""What a message carries besides text: images, PDF and text files, known by what is in them, not by their names."""

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
"""Bytes of one attachment: what the large providers take of an image or a PDF."""
LARGEST_TEXT = 2**20
"""Bytes of an attached text, which goes out whole."""
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""The images that models read."""
PDF = "application/pdf"
_READABLE = "PNG, JPEG, WebP and GIF images, PDF, and text"
_ENDINGS = {"image/jpeg": ".jpg", PDF: ".pdf", "text/plain": ".txt"}
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_DATA_URL = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,")
_SHORTEST_IMAGE = 24


class Part(Mapping[str, object]):
    """Content that is not plain text. It is also the mapping that stands for it in OpenAI's messages.

    ``data`` are its bytes, ``media_type`` what they are, ``name`` what it is called (it may be empty), and ``saved_to``
    where a copy lies, relative to the workspace of the run, when there is one. Parts are values: never changed.
    """

    def __init__(self, data: bytes, media_type: str, name: str = "", *, saved_to: str = "") -> None:
        self.data, self.media_type, self.name, self.saved_to = data, media_type, _one_line(name), saved_to

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of its bytes, in hexadecimal."""
        return sha256(self.data).hexdigest()

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.data)

    @property
    def label(self) -> str:
        """What it is, for people and models: name, type and size."""
        return f"{self.name or 'without a name'} ({self.media_type}, {self.size:,} bytes)"

    @property
    def ending(self) -> str:
        """The usual ending of such a file's name."""
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
        """The same with a name, where it has none."""
        return self if self.name else type(self)(self.data, self.media_type, name, saved_to=self.saved_to)

    def saved(self, path: str) -> Part:
        """The same, with a copy at ``path``."""
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
        media_type: What it is said to be; the bytes decide where they say something else.
        name: What it is called.
        saved_to: Where a copy lies, relative to the workspace of the run.

    Raises:
        ValueError: It is none of these images.
    """

    def __init__(self, data: bytes, media_type: str = "", name: str = "", *, saved_to: str = "") -> None:
        found = recognised(data)
        if found not in IMAGES:
            what = f"is {found}" if found else "are no known image"
            said = f" (said to be {media_type})" if media_type else ""
            raise ValueError(f"these {len(data):,} bytes{said} {what}; models read PNG, JPEG, WebP and GIF")
        super().__init__(bytes(data), found, name, saved_to=saved_to)

    @cached_property
    def fields(self) -> Mapping[str, object]:
        return {"type": "image_url", "image_url": {"url": self.url}}


class FilePart(Part):
    """A PDF or a text file. Every model reads text files: they go out as text, between marks, as data.

    Args:
        data: The bytes of the file.
        media_type: What it is said to be: the kind of text, such as ``text/csv``; of other files the bytes decide.
        name: What it is called.
        saved_to: Where a copy lies, relative to the workspace of the run.

    Raises:
        ValueError: It is neither.
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
        """What a text file says; nothing for a PDF."""
        return "" if self.media_type == PDF else _text_in(self.data) or ""

    @cached_property
    def fields(self) -> Mapping[str, object]:
        if self.media_type == PDF:
            return {"type": "file", "file": {"filename": self.name or "file.pdf", "file_data": self.url}}
        mark = f"file {self.name} {self.digest[:12]}".replace("  ", " ")
        return {"type": "text", "text": f"<<<{mark}\n{self.text}\n{mark}>>>"}


class AbsentPart(Part):
    """Stands for an attachment whose bytes are not there: a text that says so."""

    def __init__(self, media_type: str, name: str, digest: str, size: int) -> None:
        super().__init__(b"", media_type, name)
        self.__dict__.update(digest=digest)
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    @cached_property
    def fields(self) -> Mapping[str, object]:
        return {"type": "text", "text": f"[attachment {self.label}: it was not kept]"}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and other.digest == self.digest

    __hash__ = Part.__hash__


def recognised(data: bytes) -> str:
    """The media type of ``data`` by its content, ``text/plain`` for any text; nothing when it is none that is known."""
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
    """The part that ``data`` is.

    Args:
        data: The bytes.
        name: What it is called.
        media_type: What it is said to be.

    Raises:
        ValueError: There is nothing in it, it is too large, or none of the kinds that models read.
    """
    what = name or "the attachment"
    if not data:
        raise ValueError(f"{what} is empty")
    if len(data) > LARGEST:
        raise _too_large(what, len(data), LARGEST)
    found = recognised(data)
    if not found:
        raise ValueError(f"{what} is nothing that a model reads: {_READABLE} are, by what is in the file")
    if found == "text/plain" and len(data) > LARGEST_TEXT:
        raise _too_large(what, len(data), LARGEST_TEXT)
    return ImagePart(data, found, name) if found in IMAGES else FilePart(data, media_type, name)


def read_attachment(path: str | PathLike[str]) -> Part:
    """The file at ``path`` as a part.

    Raises:
        OSError: It cannot be read.
        ValueError: As :func:`attachment`; the message begins with the path.
    """
    from mimetypes import guess_type

    path = Path(path)
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _too_large(str(path), max(path.stat().st_size, len(data)), LARGEST)  # a device says that it has 0 bytes
    try:
        return attachment(data, path.name, guess_type(path.name)[0] or "")
    except ValueError as error:
        raise ValueError(str(error).replace(path.name, str(path), 1)) from None


def part_from_fields(fields: Mapping[str, object]) -> Mapping[str, object]:
    """A content part of OpenAI's form as one of ours, where its bytes come with it; another one as it is."""
    try:
        return read_part(fields)
    except ValueError:  # the provider says what is wrong with it
        return fields


def read_part(fields: Mapping[str, object]) -> Mapping[str, object]:
    """As :func:`part_from_fields`, but strict.

    Raises:
        ValueError: Its bytes come with it, and are nothing that a model reads.
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
    return ValueError(f"{what} is {shown} are the most for its kind: scale it down, or attach a part of it")


def _read_url(url: str) -> bytes:
    head = _DATA_URL.match(url)
    if head is None:
        raise ValueError("it is no data: URL with base64, such as data:image/png;base64,iVBORw0…")
    try:
        return b64decode(url[head.end() :], validate=True)
    except NotBase64 as error:
        raise ValueError(f"what follows base64, is none: {error}") from None


def _text_in(data: bytes) -> str | None:
    """``data`` as text; ``None`` when it is none."""
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if _NOT_TEXT.search(text) else text


def _one_line(name: str) -> str:
    return "".join(c for c in " ".join(name.split()) if c.isprintable() and c not in "<>")[:120]
