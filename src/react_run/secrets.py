"""Secrets stay secret: known values, and their usual encodings, are replaced wherever they appear (behaviour J2)."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

MASK = "***"
MIN_LENGTH = 4
"""Characters below which a value is not masked: it would blot out ordinary text."""

_SECRET_WORDS = re.compile(
    r"keys?|apikeys?|tokens?|passwords?|passwd|passphrase|pwd|secrets?|credentials?|authorization|cookie"
)
_COUNT_WORDS = re.compile(r"max|min|total|limit|count|input|output|used|num|per")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_URL_LOGIN = re.compile(r"(?<=://)[^/\s@'\"]*:[^/\s@'\"]+(?=@)")
_ASSIGNMENT = re.compile(r"""(?P<name>[\w-]+)(?P<sign>["']?\s*[:=]\s*)(?P<value>"[^"]*"?|'[^']*'?|[^\s,}\]#]+)""")


def looks_secret(name: str) -> bool:
    """Whether a field or variable of this name holds a secret: ``api_key``, ``GH_TOKEN``, but not ``max_tokens``."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return any(map(_SECRET_WORDS.fullmatch, words)) and not any(map(_COUNT_WORDS.fullmatch, words))


class Masker:
    """Replaces known secrets in any text.

    Args:
        values: Secret values.
        patterns: Regular expressions whose matches are secret, too.
    """

    def __init__(self, values: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._patterns = [*patterns]
        self._compiled: re.Pattern[str] | None = None
        self._literals: tuple[str, ...] = ()
        self._in_json: tuple[str, ...] = ()
        for value in values:
            self.add(value)

    def add(self, value: str, name: str = "") -> None:
        """Mask ``value`` from now on; ``name`` is the variable it came from."""
        if len(value) >= MIN_LENGTH and not self._names.get(value):
            self._names[value] = name
            self._compiled = None

    def add_pattern(self, pattern: str) -> None:
        """Mask whatever matches the regular expression ``pattern``."""
        self._patterns.append(pattern)
        self._compiled = None

    def update(self, other: Masker) -> None:
        """Mask all that ``other`` masks."""
        for value, name in other._names.items():
            if value not in self._names:
                self.add(value, name)
        for pattern in [pattern for pattern in other._patterns if pattern not in self._patterns]:
            self.add_pattern(pattern)

    @property
    def names(self) -> Mapping[str, str]:
        """The secret values, each with the variable it came from (empty when it came from none)."""
        return self._names

    def mask(self, text: str) -> str:
        """``text`` without secrets."""
        pattern = self._compiled or self._compile()
        if self._patterns or any(form in text for form in self._literals):  # finding is faster than matching
            text = pattern.sub(MASK, text)
        return _URL_LOGIN.sub(MASK, text) if "://" in text else text

    def is_clean(self, json_text: str) -> bool:
        """Whether no string, key or number in a JSON text can hold a secret; when unsure, it says no."""
        if self._compiled is None:
            self._compile()
        if self._patterns or any(form in json_text for form in self._in_json):
            return False
        return "://" not in json_text or _URL_LOGIN.search(json_text) is None

    def mask_data(self, data: object) -> object:
        """JSON-like ``data`` with all texts in it masked, keys included, and numbers that are secrets."""
        if isinstance(data, str):
            return self.mask(data)
        if isinstance(data, Mapping):
            return {self.mask_data(key): self.mask_data(value) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.mask_data(item) for item in data]
        if isinstance(data, (int, float)) and not isinstance(data, bool) and (text := repr(data)) != self.mask(text):
            return MASK
        return data

    def _compile(self) -> re.Pattern[str]:
        forms = {form for value in self._names for form in _forms(value)}
        self._literals = tuple(sorted(forms, key=len, reverse=True))
        self._in_json = tuple(forms.union(*map(_json_forms, forms)))
        literal = map(re.escape, self._literals)
        self._compiled = re.compile("|".join([*literal, *(f"(?:{pattern})" for pattern in self._patterns)]) or r"(?!)")
        return self._compiled


def _forms(value: str) -> set[str]:
    """``value`` as it may appear: as it is, in JSON (also in JSON), in a URL, in base64 at any offset, line by line."""
    forms = {value, repr(value)[1:-1], *(once := _json_forms(value))}
    forms.update(*map(_json_forms, once))
    forms |= {quote(value), quote(value, safe=""), quote_plus(value)}
    forms |= {line.strip() for line in value.splitlines() if len(line.strip()) >= 4 * MIN_LENGTH}
    for offset in range(3):
        forms |= _base64_forms(value.encode(), offset)
    return {form for form in forms if len(form) >= MIN_LENGTH}


def _json_forms(value: str) -> set[str]:
    return {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}


def _base64_forms(data: bytes, offset: int) -> set[str]:
    """The part of a base64 text that ``data`` alone decides when ``offset`` bytes come before it."""
    encoded = b64encode(b"\0" * offset + data).decode()
    start = (0, 2, 3)[offset]
    end = len(encoded) if (offset + len(data)) % 3 == 0 else encoded.index("=") - 1
    stable = encoded[start:end]
    if len(stable) < 2 * MIN_LENGTH:
        return {encoded} if offset == 0 else set()
    return {stable, stable.replace("+", "-").replace("/", "_")}


def mask_line(line: str) -> str:
    """One line of a file, without what is assigned to names of secrets in it, of the same length where possible."""

    def masked(match: re.Match[str]) -> str:
        value = match["value"]
        if not looks_secret(match["name"]) or "${" in value:
            return match[0]
        return f"{match['name']}{match['sign']}{MASK}"

    return _URL_LOGIN.sub(MASK, _ASSIGNMENT.sub(masked, line))
