"""Masks secrets: known values, and their usual encodings, are replaced wherever they appear (behaviour J2)."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from urllib.parse import quote, quote_plus

from react_run.secrets.forms import MIN_LENGTH, Forms
from react_run.support.regex import Pattern, SlowPattern

MASK = "***"

_ALWAYS = re.compile(
    r"passwords?|passwd|passphrases?|pwd|secrets?|credentials?|apikeys?|authorization|cookies?|jwt|bearer"
    r"|[a-z]{2,40}(?:password|passwd|secret|apikey)"
)
"""Words that mark a name as that of a secret, whatever else is in the name."""
_UNLESS_COUNTED = re.compile(r"keys?|tokens?|[a-z]{2,40}token")
_AT_THE_END = re.compile(r"pass|pat|auth")
"""Words that mean a secret if they come last: ``SMTP_PASS``, ``GITHUB_PAT``, ``X-Auth``."""
_JOINED = re.compile(r"(?!bypass|compass|surpass|trespass|overpass|underpass|encompass)[a-z]{2,40}pass|[a-z]{2,40}key")
"""Suffixes that mean a secret; ordinary words have them as well, so the name must be that of a variable."""
_ORDINARY = re.compile(r"(?:mon|don|tur|hoc|joc|lac|whis|pass|hot|low|dar|mala|mur|jer)key")
_COUNT_WORDS = re.compile(r"max|min|total|limit|count|input|output|used|num|per")
_QUALIFYING = re.compile(r"api|access|account|auth|deploy|encryption|gpg|master|private|secret|service|signing|ssh")
"""Words that mark a key as a secret, even if it is an input."""
_NOT_A_PASS = re.compile(
    r"no|use|skip|requires?|needs?|with(?:out)?|enabled?|disabled?|has|first|second|one|two|last|multi"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNCHANGED = re.compile(r"[A-Za-z0-9_.-]+")
"""Characters that escaping and quoting leave unchanged."""
_ESCAPED = 3
"""How often a value may have been escaped, such as JSON in JSON in an error message."""
_LINE = 64
"""The usual minimum line length of encoded text."""
_BREAK = re.compile(r"(?:(?<!\\)(?:\\++r)?\\++n|\r?\n| )[ \t]*+")
"""What may separate two characters of encoded text: a line end, an escaped line end, or a blank in its place."""
_ALIKE = re.compile("[A-Za-z0-9]+")
"""Characters that both base64 alphabets share."""
_LONGEST_BREAK = 16
_LONGEST_MATCH = 256
_PERCENT = re.compile(r"%[0-9A-F]{2}")
_IN_SCRIPTS = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}
"""The escapes of JSON that is embedded in a page."""
_URL_LOGIN = re.compile(r"://[^/\s@'\":]*+:[^/\s@'\"]++(?=@)")
_ASSIGNMENT = re.compile(
    r"""(?<![\w-])(?P<name>[\w-]++)(?P<sign>["']?\s*+[:=]\s*+)(?P<value>"[^"]*+"?|'[^']*+'?|[^\s,}\]#]++)"""
)
"""Both patterns, like all in this module, never backtrack: their time is linear in the text."""
_MASKED_LOGIN = f"://{MASK}"
_FILE = re.compile(r"data:(?:image/(?:png|jpeg|webp|gif)|application/pdf);base64,[A-Za-z0-9+/]*+={0,2}")
_SLOW_AGAIN = 0.05
"""The timeout in seconds for a pattern that was too slow once."""


def looks_secret(name: str) -> bool:
    """Whether a field or variable with this name holds a secret: ``api_key``, ``GH_TOKEN``, but not ``max_tokens``."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if any(map(_ALWAYS.fullmatch, words)):
        return True
    if any(map(_UNLESS_COUNTED.fullmatch, words)):
        return not any(map(_COUNT_WORDS.fullmatch, words)) or _is_qualified(words)
    if len(words) > 1 and _AT_THE_END.fullmatch(words[-1]):
        return _NOT_A_PASS.fullmatch(words[-2]) is None
    joined = any(_JOINED.fullmatch(word) and not _ORDINARY.fullmatch(word) for word in words)
    return joined and name == name.upper()


def _is_qualified(words: Sequence[str]) -> bool:
    return any(_QUALIFYING.fullmatch(word) and after in ("key", "keys", "token") for word, after in pairwise(words))


class Masker:
    """Replaces known secrets in any text.

    Args:
        values: Secret values.
        patterns: Regular expressions whose matches are also secret.
    """

    def __init__(self, values: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._patterns: dict[str, Pattern] = {}
        for pattern in patterns:
            self.add_pattern(pattern)
        self._compiled: Forms | None = None
        self._encoded = Forms(())
        self._secrets: list[_Secret] = []
        self._longest = 0
        for value in values:
            self.add(value)

    def add(self, value: str, name: str = "") -> None:
        """Mask ``value`` from now on; ``name`` is the variable it came from."""
        if len(value) >= MIN_LENGTH and not self._names.get(value):
            self._names[value] = name
            self._compiled = None

    def add_pattern(self, pattern: str) -> None:
        """Mask all matches of the regular expression ``pattern``; if matching takes too long, mask the whole text.

        Raises:
            ValueError: It is not a regular expression.
        """
        self._patterns.setdefault(pattern, Pattern(pattern))

    def update(self, other: Masker) -> None:
        """Mask everything that ``other`` masks."""
        for value, name in other._names.items():
            if value not in self._names:
                self.add(value, name)
        for pattern in other._patterns:
            self.add_pattern(pattern)

    @property
    def names(self) -> Mapping[str, str]:
        """The secret values, each with the variable it came from (empty if none)."""
        return self._names

    @property
    def longest(self) -> int:
        """The length of the longest form of a secret; matches of patterns are assumed to be shorter than 256."""
        if self._compiled is None:
            self._compile()
        return max(self._longest, _LONGEST_MATCH if self._patterns else 0)

    def mask(self, text: str) -> str:
        """Return ``text`` with secrets masked."""
        forms = self._compiled or self._compile()
        if any(secret.is_in(text) for secret in self._secrets):  # searching is faster than matching
            text = _without(text, forms.spans(text))
            if any(
                secret.is_encoded_in(text) for secret in self._secrets
            ):  # still there, so it must be split across lines
                text = _without(text, self._encoded.spans_in_lines(text, _BREAK))
        for pattern in self._patterns.values():
            try:
                text = pattern.sub(MASK, text)
            except SlowPattern:
                pattern.seconds = _SLOW_AGAIN
                return MASK
        return _URL_LOGIN.sub(_MASKED_LOGIN, text) if "://" in text else text

    def cut(self, text: str, at: int) -> int:
        """The last position up to ``at`` where ``text`` can be cut without splitting a known secret."""
        forms = self._compiled or self._compile()
        for spans in (self._encoded.spans_in_lines(text, _BREAK), forms.spans(text)):
            at = next((start for start, end in spans if start < at < end), at)
        return at

    def stands_in(self, data: bytes) -> bool:
        """Whether ``data``, a binary file, contains a known secret value."""
        if self._compiled is None:
            self._compile()
        text = data.decode("latin-1")
        return any(secret.is_in(text) for secret in self._secrets)

    def is_clean(self, json_text: str) -> bool:
        """Whether no string, key or number in a JSON text can hold a secret; false if in doubt."""
        if self._compiled is None:
            self._compile()
        if self._patterns or (self._secrets and any(secret.may_be_in(json_text) for secret in self._secrets)):
            return False
        return "://" not in json_text or _URL_LOGIN.search(json_text) is None

    def mask_data(self, data: object) -> object:
        """Mask all texts in JSON-like ``data``, keys included, and numbers that are secrets."""
        if isinstance(data, str):
            return self._mask_file(data) if data.startswith("data:") and _FILE.fullmatch(data) else self.mask(data)
        if isinstance(data, Mapping):
            return {self.mask_data(key): self.mask_data(value) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.mask_data(item) for item in data]
        if isinstance(data, (int, float)) and not isinstance(data, bool) and (text := repr(data)) != self.mask(text):
            return MASK
        return data

    def _mask_file(self, url: str) -> str:
        """An image or a PDF as a URL: a chance match of a pattern in it is not a secret."""
        return MASK if self.stands_in(url.encode()) else url

    def _compile(self) -> Forms:
        values = {line for value in self._names for line in _lines(value)} | set(self._names)
        self._secrets = [_Secret(value) for value in values]
        forms = {form for secret in self._secrets for form in (*secret.spellings, *secret.encoded)}
        longest = max(map(len, forms), default=0)
        longest += _LONGEST_BREAK * (longest // _LINE)
        self._longest = longest
        self._encoded = Forms(form for secret in self._secrets for form in secret.encoded)
        self._compiled = Forms(forms)
        return self._compiled


class _Secret:
    """One value, in every form in which it may appear.

    ``spellings`` are the value itself, its forms escaped for JSON or Python up to three times, and those in URLs and
    pages; ``core`` is a part that all of them contain. ``encoded`` are its forms in hex, and in base64 at any offset;
    ``pieces`` are parts of these, at least one of which stays whole when base64 is broken into lines.
    """

    def __init__(self, value: str) -> None:
        spellings = {value, repr(value.encode())[2:-1], *_in_pages(value)}
        for _ in range(_ESCAPED):
            spellings.update(*map(_escaped, spellings))
        in_hex = (value.encode().hex(), value.encode().hex().upper())
        in_base64 = [form for offset in range(3) for form in _base64_forms(value.encode(), offset)]
        self.spellings = tuple(form for form in spellings if len(form) >= MIN_LENGTH)
        self.encoded = tuple(form for form in (*in_base64, *in_hex) if len(form) >= MIN_LENGTH)
        self.pieces = tuple({*in_hex, *(piece for form in in_base64 for piece in _pieces(form))})
        self.core = max(_UNCHANGED.findall(value), key=len, default="")

    def is_in(self, text: str) -> bool:
        """Whether ``text`` contains the secret."""
        return (self.core in text and any(form in text for form in self.spellings)) or self.is_encoded_in(text)

    def may_be_in(self, json_text: str) -> bool:
        """Whether a JSON text, with its additional escaping, may contain the secret."""
        return self.core in json_text or self.is_encoded_in(json_text)

    def is_encoded_in(self, text: str) -> bool:
        """Whether ``text`` contains the secret, or a part of it, in hex or base64."""
        return any(piece in text for piece in self.pieces)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += text[at:start], MASK
        at = end
    return "".join((*pieces, text[at:]))


def _lines(value: str) -> Iterator[str]:
    """The lines of a value such as a key file, which may appear individually."""
    for line in value.splitlines():
        if len(line.strip()) >= 4 * MIN_LENGTH:
            yield line.strip()


def _escaped(value: str) -> set[str]:
    return {repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}


def _in_pages(value: str) -> Iterator[str]:
    """The forms of ``value`` in URLs, in HTML, and in JSON that is embedded in a page."""
    for quoted in (quote(value), quote(value, safe=""), quote_plus(value)):
        yield quoted
        yield quote(quoted)
        yield _PERCENT.sub(lambda found: found[0].lower(), quoted)
    text = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield text
    for apostrophe, mark in (("&#x27;", "&quot;"), ("&#39;", "&quot;"), ("&#39;", "&#34;"), ("&apos;", "&quot;")):
        yield text.replace("'", apostrophe).replace('"', mark)
    for in_json in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield in_json.replace("/", r"\/")
        yield in_json.translate(_IN_SCRIPTS)


def _pieces(form: str) -> Iterator[str]:
    """Parts of an encoded ``form``, at least one of which stays whole when lines are broken."""
    size = max(2 * MIN_LENGTH, min(_LINE // 2, len(form) // 2))
    for at in range(0, max(1, len(form) - size + 1), size):
        piece = form[at : at + size]
        run = max(_ALIKE.findall(piece), key=len, default="")
        yield run if len(run) >= 2 * MIN_LENGTH else piece


def _base64_forms(data: bytes, offset: int) -> set[str]:
    """The part of a base64 text that depends only on ``data`` if ``offset`` bytes precede it."""
    encoded = b64encode(b"\0" * offset + data).decode()
    start = (0, 2, 3)[offset]
    end = len(encoded) if (offset + len(data)) % 3 == 0 else encoded.index("=") - 1
    stable = encoded[start:end]
    if len(stable) < 2 * MIN_LENGTH:
        return {encoded} if offset == 0 else set()
    return {stable, stable.replace("+", "-").replace("/", "_")}


def mask_line(line: str) -> str:
    """Mask the values assigned to names of secrets in one line of a file, keeping the length if possible."""

    def masked(match: re.Match[str]) -> str:
        value = match["value"]
        if not looks_secret(match["name"]) or "${" in value:
            return match[0]
        return f"{match['name']}{match['sign']}{MASK}"

    return _URL_LOGIN.sub(_MASKED_LOGIN, _ASSIGNMENT.sub(masked, line))
