"""Generated ids for tool requests: nine letters and digits, which every provider accepts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from hashlib import sha256
from secrets import choice

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 9
_PORTABLE = re.compile(rf"[A-Za-z0-9]{{{_LENGTH}}}")


def numbered_id(number: int) -> str:
    """The id for a number, such as ``call00001``; beyond five digits it continues with letters."""
    if number < 100_000:
        return f"call{number:05d}"
    return f"c{_based(number, _LENGTH - 1)}"


def fresh_ids(reserved: Collection[str], taken: Collection[str] | None) -> Iterator[str]:
    """Unused ids, counting on from those of the conversation, so that a run repeats exactly; random without a
    conversation.
    """
    if taken is None:
        while True:
            yield "".join(choice(_DIGITS) for _ in range(_LENGTH))
    number = len(taken)
    while True:
        number += 1
        if (candidate := numbered_id(number)) not in taken and candidate not in reserved:
            yield candidate


def portable_id(given: str) -> str:
    """``given`` if every provider accepts it, else an id derived from it, the same every time."""
    if _PORTABLE.fullmatch(given):
        return given
    return _based(int.from_bytes(sha256(given.encode("utf-8", "replace")).digest()), _LENGTH)


def _based(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
