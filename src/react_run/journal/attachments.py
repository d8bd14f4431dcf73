"""Attachments of a journal: each is stored once, under its digest, next to the file; records refer to them.

A sink that cannot store files, such as a database, stores each one in the first record that refers to it. A missing
attachment is replaced by a note.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.journal.values import Record, reference
from react_run.parts import AbsentPart, FilePart, Part, attachment

if TYPE_CHECKING:
    from react_run.journal.sinks import Sink
    from react_run.secrets import Masker

_DIGEST = re.compile("[0-9a-f]{64}")


def folder_of(journal: Path) -> Path:
    """The directory of a journal's attachments."""
    return journal.with_name(f"{journal.name.removesuffix('.jsonl')}.attachments")


class Keeper:
    """Stores the attachments of one journal.

    Args:
        sink: The sink of its records.
        masker: Masks secrets.
    """

    def __init__(self, sink: Sink, masker: Masker) -> None:
        self._sink, self._masker = sink, masker
        self._masked_parts: dict[int, tuple[Part, Part]] = {}
        self._kept: set[str] = set()

    def reference(self, part: Part) -> Record:
        """The reference to ``part`` that records contain."""
        return reference(self._masked(part))

    def keep(self, part: Part) -> Record:
        """Store ``part``, and return its reference.

        Raises:
            JournalError: It cannot be stored.
        """
        masked = self._masked(part)
        said = reference(masked)
        if masked.digest in self._kept or not masked.data:
            return said
        self._kept.add(masked.digest)
        attach = getattr(self._sink, "attach", None)
        if attach is None or not attach(masked.digest + masked.ending, masked.data):
            said["data"] = masked.url
        return said

    def _masked(self, part: Part) -> Part:
        """``part`` as it may be stored: secrets in text are masked, and a binary file that contains one is left out."""
        known = self._masked_parts.get(id(part))
        if known is None:  # holding the part keeps its id, the key, from being reused
            known = self._masked_parts[id(part)] = (part, masked(part, self._masker))
        return known[1]


def masked(part: Part, masker: Masker) -> Part:
    """``part`` without secrets: in text they are masked; a binary file that contains one is left out."""
    if isinstance(part, FilePart) and part.text:
        text = masker.mask(part.text)
        return part if text == part.text else FilePart(text.encode(), part.media_type, part.name)
    if part.data and masker.stands_in(part.data):
        return AbsentPart(part.media_type, part.name, part.digest, part.size)
    return part


class StoredParts:
    """Loads the attachments of a journal.

    Args:
        path: The journal's file, if it is one.
        records: Its records.
    """

    def __init__(self, path: Path | None, records: Iterable[Record]) -> None:
        self._folder = None if path is None else folder_of(path)
        self._records = records
        self._inside: dict[str, str] | None = None
        self._parts: dict[tuple[str, str], Part] = {}

    def part(self, said: Record) -> Part:
        """Load the part that a record refers to."""
        key = (str(said["sha256"]), str(said.get("name", "")))
        if key not in self._parts:
            self._parts[key] = self._read(said)
        return self._parts[key]

    def _read(self, said: Record) -> Part:
        digest, media_type, name = str(said["sha256"]), str(said["media_type"]), str(said.get("name", ""))
        absent = AbsentPart(media_type, name, digest, int(said["bytes"]))
        data = self._data(digest, absent.ending)
        try:
            part = absent if data is None else attachment(data, name, media_type)
        except ValueError:  # the stored file was replaced by something else
            return absent
        return part if part.digest == digest else absent

    def _data(self, digest: str, ending: str) -> bytes | None:
        if self._folder is not None and _DIGEST.fullmatch(digest):
            try:
                return (self._folder / f"{digest}{ending}").read_bytes()
            except OSError:
                pass
        if self._inside is None:
            self._inside = dict(_inside(self._records))
        try:
            return b64decode(self._inside[digest].partition(",")[2], validate=True)
        except (KeyError, NotBase64):
            return None


def _inside(value: object) -> Iterator[tuple[str, str]]:
    """Yield the attachments stored in records themselves: digest and ``data:`` URL."""
    if isinstance(value, Mapping):
        if value.get("type") == "attachment" and isinstance(url := value.get("data"), str):
            yield str(value["sha256"]), url
        for item in value.values():
            yield from _inside(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            yield from _inside(item)
