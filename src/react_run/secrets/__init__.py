"""Secrets stay secret: known values, and their usual encodings, are replaced wherever they appear (behaviour J2)."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape as escape_html
from itertools import pairwise
from urllib.parse import quote, quote_plus

from react_run.secrets.forms import MIN_LENGTH, Forms
from react_run.support.regex import Pattern, SlowPattern

MASK = "***"

_ALWAYS = re.compile(
    r"passwords?|passwd|passphrases?|pwd|secrets?|credentials?|apikeys?|authorization|cookies?|jwt|bearer"
    r"|[a-z]{2,40}(?:password|passwd|secret|apikey)"
)
"""Words of names that hold secrets, whatever else is in the name."""
_UNLESS_COUNTED = re.compile(r"keys?|tokens?|[a-z]{2,40}token")
_AT_THE_END = re.compile(r"pass|pat|auth")
"""Words that mean a secret as the last of several: ``SMTP_PASS``, ``GITHUB_PAT``, ``X-Auth``."""
_JOINED = re.compile(r"(?!bypass|compass|surpass|trespass|overpass|underpass|encompass)[a-z]{2,40}pass|[a-z]{2,40}key")
"""Words of which it is the end; ordinary words end so, too, so the name must be that of a variable."""
_ORDINARY = re.compile(r"(?:mon|don|tur|hoc|joc|lac|whis|pass|hot|low|dar|mala|mur|jer)key")
_COUNT_WORDS = re.compile(r"max|min|total|limit|count|input|output|used|num|per")
_QUALIFYING = re.compile(r"api|access|account|auth|deploy|encryption|gpg|master|private|secret|service|signing|ssh")
"""Words that say of a key that it is a secret, even when it is the input of something."""
_NOT_A_PASS = re.compile(
    r"no|use|skip|requires?|needs?|with(?:out)?|enabled?|disabled?|has|first|second|one|two|last|multi"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNCHANGED = re.compile(r"[A-Za-z0-9_.-]+")
"""What no escaping and no quoting changes."""
_ESCAPED = 3
"""How often a value may have been escaped: JSON in JSON in an error message."""
_LINE = 64
"""Characters of the shortest lines that encoded text is usually broken into."""
_BREAK = re.compile(r"(?:(?<!\\)(?:\\++r)?\\++n|\r?\n| )[ \t]*+")
"""What may stand between two characters of encoded text: the end of a line, escaped, or with a blank in its place."""
_ALIKE = re.compile("[A-Za-z0-9]+")
"""What is the same in both alphabets of base64."""
_LONGEST_BREAK = 16
_LONGEST_MATCH = 256
_PERCENT = re.compile(r"%[0-9A-F]{2}")
_IN_SCRIPTS = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}
"""How JSON is written that may stand in a page."""
_URL_LOGIN = re.compile(r"://[^/\s@'\":]*+:[^/\s@'\"]++(?=@)")
_ASSIGNMENT = re.compile(
    r"""(?<![\w-])(?P<name>[\w-]++)(?P<sign>["']?\s*+[:=]\s*+)(?P<value>"[^"]*+"?|'[^']*+'?|[^\s,}\]#]++)"""
)
"""Both patterns, like all in here, take back nothing that they have matched: their time grows with the text only."""
_MASKED_LOGIN = f"://{MASK}"
_FILE = re.compile(r"data:(?:image/(?:png|jpeg|webp|gif)|application/pdf);base64,[A-Za-z0-9+/]*+={0,2}")
_SLOW_AGAIN = 0.05
"""Seconds that a pattern gets after it took too long once."""


def looks_secret(name: str) -> bool:
    """Whether a field or variable of this name holds a secret: ``api_key``, ``GH_TOKEN``, but not ``max_tokens``."""
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
        patterns: Regular expressions whose matches are secret, too.
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
        """Mask whatever matches the regular expression ``pattern``; where that takes too long, all of the text.

        Raises:
            ValueError: It is not a regular expression.
        """
        self._patterns.setdefault(pattern, Pattern(pattern))

    def update(self, other: Masker) -> None:
        """Mask all that ``other`` masks."""
        for value, name in other._names.items():
            if value not in self._names:
                self.add(value, name)
        for pattern in other._patterns:
            self.add_pattern(pattern)

    @property
    def names(self) -> Mapping[str, str]:
        """The secret values, each with the variable it came from (empty when it came from none)."""
        return self._names

    @property
    def longest(self) -> int:
        """Characters of the longest form of a secret; what a pattern matches is taken to be shorter than 256."""
        if self._compiled is None:
            self._compile()
        return max(self._longest, _LONGEST_MATCH if self._patterns else 0)

    def mask(self, text: str) -> str:
        """``text`` without secrets."""
        forms = self._compiled or self._compile()
        if any(secret.is_in(text) for secret in self._secrets):  # looking is faster than matching
            text = _without(text, forms.spans(text))
            if any(secret.is_encoded_in(text) for secret in self._secrets):  # still, so it is broken into lines
                text = _without(text, self._encoded.spans_in_lines(text, _BREAK))
        for pattern in self._patterns.values():
            try:
                text = pattern.sub(MASK, text)
            except SlowPattern:
                pattern.seconds = _SLOW_AGAIN
                return MASK
        return _URL_LOGIN.sub(_MASKED_LOGIN, text) if "://" in text else text

    def cut(self, text: str, at: int) -> int:
        """The last place up to ``at`` where ``text`` can be cut without going through a known secret in it."""
        forms = self._compiled or self._compile()
        for spans in (self._encoded.spans_in_lines(text, _BREAK), forms.spans(text)):
            at = next((start for start, end in spans if start < at < end), at)
        return at

    def stands_in(self, data: bytes) -> bool:
        """Whether a known secret value stands in ``data``, a file that is no text."""
        if self._compiled is None:
            self._compile()
        text = data.decode("latin-1")
        return any(secret.is_in(text) for secret in self._secrets)

    def is_clean(self, json_text: str) -> bool:
        """Whether no string, key or number in a JSON text can hold a secret; when unsure, it says no."""
        if self._compiled is None:
            self._compile()
        if self._patterns or (self._secrets and any(secret.may_be_in(json_text) for secret in self._secrets)):
            return False
        return "://" not in json_text or _URL_LOGIN.search(json_text) is None

    def mask_data(self, data: object) -> object:
        """JSON-like ``data`` with all texts in it masked, keys included, and numbers that are secrets."""
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
        """An image or a PDF as a URL: what matches a pattern in it by chance is no secret."""
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
    """One value, and every form in which it may appear.

    ``spellings`` are the value as it is, escaped for JSON or Python up to three times, and in URLs and pages; ``core``
    is a part that stands in all of them. ``encoded`` are its forms in hex, and in base64 at any offset; ``pieces`` are
    parts of these, of which one at least is whole when base64 is broken into lines.
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
        """Whether the secret stands in ``text``."""
        return (self.core in text and any(form in text for form in self.spellings)) or self.is_encoded_in(text)

    def may_be_in(self, json_text: str) -> bool:
        """Whether the secret may stand in a JSON text, where it is escaped once more."""
        return self.core in json_text or self.is_encoded_in(json_text)

    def is_encoded_in(self, text: str) -> bool:
        """Whether the secret, or a part of it, stands in ``text`` in hex or base64."""
        return any(piece in text for piece in self.pieces)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += text[at:start], MASK
        at = end
    return "".join((*pieces, text[at:]))


def _lines(value: str) -> Iterator[str]:
    """The lines of a value such as a key file, which may appear one by one."""
    for line in value.splitlines():
        if len(line.strip()) >= 4 * MIN_LENGTH:
            yield line.strip()


def _escaped(value: str) -> set[str]:
    return {repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}


def _in_pages(value: str) -> Iterator[str]:
    """``value`` as it stands in URLs, in HTML, and in JSON that was made for a page."""
    for quoted in (quote(value), quote(value, safe=""), quote_plus(value)):
        yield quoted
        yield quote(quoted)
        yield _PERCENT.sub(lambda found: found[0].lower(), quoted)
    text = escape_html(value, quote=False)
    yield text
    for apostrophe, mark in (("&#x27;", "&quot;"), ("&#39;", "&quot;"), ("&#39;", "&#34;"), ("&apos;", "&quot;")):
        yield text.replace("'", apostrophe).replace('"', mark)
    for in_json in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield in_json.replace("/", r"\/")
        yield in_json.translate(_IN_SCRIPTS)


def _pieces(form: str) -> Iterator[str]:
    """Parts of an encoded ``form``: where lines are broken, one of them at least is not."""
    size = max(2 * MIN_LENGTH, min(_LINE // 2, len(form) // 2))
    for at in range(0, max(1, len(form) - size + 1), size):
        piece = form[at : at + size]
        run = max(_ALIKE.findall(piece), key=len, default="")
        yield run if len(run) >= 2 * MIN_LENGTH else piece


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

    return _URL_LOGIN.sub(_MASKED_LOGIN, _ASSIGNMENT.sub(masked, line))
