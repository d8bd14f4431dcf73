"""Reads files as text that may be YAML."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from react_run.config.yaml.problems import Place, Report, Source

MAX_BYTES = 1024 * 1024
"""The largest agent file, in bytes."""

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_text(path: Path, name: str, report: Report, what: str = "an agent file") -> tuple[str, Source] | None:
    """The text of a file, and the source for positions in it; ``None`` if it is unusable, and the report says why."""
    whole = Place(Source(name, path=path))
    try:
        data = read_bytes(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.add("cfg.path_missing", f"cannot read it: {reason}", whole)
        return None
    if len(data) > MAX_BYTES:
        report.add("yaml.too_large", f"more than {MAX_BYTES} bytes, which is too long for {what}", whole)
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        report.add("yaml.encoding", f"not UTF-8 text: {wrong}; save the file as UTF-8", whole)
        return None
    source = Source(name, tuple(_LINE_END.split(text)), path)
    if found := _UNPRINTABLE.search(text):
        place = _place(source, text, found.start())
        report.add("yaml.control_char", f"character U+{ord(found[0]):04X} is not allowed in YAML", place)
        return None
    return text, source


def read_bytes(path: Path) -> bytes:
    """The content of a regular file, up to one byte more than :data:`MAX_BYTES`.

    Raises:
        OSError,
        ValueError: The file cannot be read, or is a pipe, a device or a directory, which may never end.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # opening a pipe must not wait for a writer
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        return file.read(MAX_BYTES + 1)


def read_small_text(path: Path) -> str:
    """The text of a file that an agent file names.

    Raises:
        OSError, ValueError: As for :func:`read_bytes`; or it is too large, or not UTF-8.
    """
    data = read_bytes(path)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    return data.decode("utf-8").replace("\r\n", "\n")


def _place(source: Source, text: str, index: int) -> Place:
    before = _LINE_END.split(text[:index])
    return Place(source, len(before), len(before[-1]) + 1)
