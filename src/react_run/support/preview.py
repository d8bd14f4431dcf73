"""Cuts long texts for the model, by bytes at character boundaries (behaviour T4)."""

from __future__ import annotations

HEAD = 3 * 1024
TAIL = 1024


def size_of(text: str) -> int:
    """The length of ``text`` in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def head(text: str, size: int) -> str:
    """The longest beginning of ``text`` that has at most ``size`` bytes."""
    return text[:size].encode(errors="replace")[:size].decode(errors="ignore")


def tail(text: str, size: int) -> str:
    """The longest end of ``text`` that has at most ``size`` bytes."""
    if size <= 0:
        return ""
    return text[-size:].encode(errors="replace")[-size:].decode(errors="ignore")


def parts(text: str, size: int) -> tuple[str, str]:
    """The head and tail of ``text``, together at most ``size`` bytes, and at most 3 KiB and 1 KiB."""
    return head(text, min(HEAD, size * 3 // 4)), tail(text, min(TAIL, size // 4))
