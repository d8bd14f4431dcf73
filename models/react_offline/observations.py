"""Parses tool results: whether a call failed, and which value answers the question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from react_offline.draft import hinted
from react_offline.moments import UNITS
from react_offline.plan import Step, Want
from react_offline.text import stem, words_of_name
from react_run.support import dataclass

_FAILED = {"error", "failed", "failure", "no_result", "not_found", "no_results", "ambiguous", "timeout"}
_PROTOCOL = {"ok", "success", "done", "completed", "200"}
_META = {"ok", "success", "approximate", "exact", "precision", "source", "dimension", "symbol", "kind", "type", "id",
         "cached", "query", "expression", "relevance", "note", "notes"}  # fmt: skip
_MAIN = ("value", "result", "answer", "output", "text")
_JOINING = {"of", "in", "is", "the", "to", "per", "has"}
_UNIT_KEYS = ("unit", "units", "currency")
_TRANSIENT = re.compile(
    r"time[d _-]*out|rate.?limit|temporar|unavailable|try again|network|server_error|connection", re.IGNORECASE
)
_HEADING = re.compile(r"\A(You already ran this exact call[^\n]*)\n+", re.IGNORECASE)
_REMARK = re.compile(r"\n\n\[[^\n]*\]\Z")
"""A remark of the runtime about a call, such as corrected arguments."""
_NUMBER = re.compile(r"(?<![\w.,-])-?\d++(?:,\d{3})*+(?:\.\d++)?+(?![\w.]*\d)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SHORT = 80


@dataclass(frozen=True, slots=True)
class Result:
    """A parsed observation. ``data`` is its JSON, or ``None`` for plain text."""

    text: str
    data: object = None
    failed: bool = False
    code: str = ""
    message: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    """The arguments of the call; ``found`` has the names of those that another tool found."""
    found: frozenset[str] = frozenset()

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed if it is repeated."""
        return self.failed and bool(_TRANSIENT.search(f"{self.code} {self.message}"))

    @property
    def is_question(self) -> bool:
        """Whether the tool asks something that only the user knows."""
        return self.failed and "ambiguous" in f"{self.code} {self.message}".casefold()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in a JSON result, with the keys that lead to it, and its siblings."""

    path: tuple[str, ...]
    value: object
    beside: Mapping[str, object] = field(default_factory=dict)

    @property
    def stems(self) -> list[str]:
        """The stems of the words in its own key."""
        return [stem(word) for word in words_of_name(self.path[-1])] if self.path else []

    @property
    def label(self) -> str:
        """Its keys as words."""
        return " ".join(words_of_name("_".join(self.path)))

    @property
    def unit(self) -> str:
        """The unit or currency among its siblings; with several numbers, it belongs to the nearest."""
        if isinstance(self.value, bool) or not _is_number(self.value):
            return ""
        key = next((key for key in _UNIT_KEYS if isinstance(self.beside.get(key), str)), "")
        return str(self.beside[key]) if key and self.path[-1] == _measured(self.beside, key) else ""


def _measured(beside: Mapping[str, object], unit: str) -> str:
    """The key of the number that a unit belongs to: the last one before it, else the first one after it."""
    keys = [key for key, value in beside.items() if key == unit or (_is_number(value) and key not in _META)]
    place = keys.index(unit)
    return keys[place - 1] if place else keys[1]


def read_result(content: str) -> Result:
    """Parse an observation: JSON or text, success or failure; headings and notes around JSON are ignored."""
    text = _REMARK.sub("", _HEADING.sub("", content.strip()))
    data = _json(text)
    if isinstance(data, Mapping):
        return _of_mapping(text, data)
    if data is None and re.match(r"(?i)error\b|traceback", text):
        message = re.sub(r"(?i)\Aerror:?\s*", "", text)
        return Result(text, None, True, "", message)
    return Result(text, data)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        pass
    match = re.search(r"^[\[{]", text, re.MULTILINE)
    if match:
        try:
            return json.JSONDecoder().raw_decode(text, match.start())[0]
        except ValueError:
            return None
    return None


def _of_mapping(text: str, data: Mapping[str, object]) -> Result:
    error, status = data.get("error"), str(data.get("status") or "").casefold()
    failed = bool(error) or status in _FAILED or data.get("success") is False or data.get("ok") is False
    if not failed:
        return Result(text, data)
    inner = error if isinstance(error, Mapping) else data
    code = str(inner.get("code") or status)
    message = (
        error if isinstance(error, str) else inner.get("message") or data.get("message") or data.get("detail") or code
    )
    return Result(text, data, True, code, str(message))


def leaves(result: Result) -> list[Leaf]:
    """The values of a JSON result that are new: without flags, and without repeated arguments."""
    found = list(_walk(result.data, (), {}))
    return [leaf for leaf in found if not _is_meta(leaf) and not _is_echo(leaf, result)] or found


def _walk(data: object, path: tuple[str, ...], beside: Mapping[str, object]) -> Iterator[Leaf]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _walk(value, (*path, str(key)), data)
    elif isinstance(data, list):
        for value in data:
            yield from _walk(value, path, beside)
    elif data is not None:
        yield Leaf(path, data, beside)


def _is_meta(leaf: Leaf) -> bool:
    key = leaf.path[-1] if leaf.path else ""
    if key in _UNIT_KEYS or (key == "status" and str(leaf.value).casefold() in _PROTOCOL):
        return True
    return any(part in _META or part.startswith("input") for part in leaf.path)


def _is_echo(leaf: Leaf, result: Result) -> bool:
    """Whether a value only repeats an argument; results with the name of an argument (``value``) do not count."""
    if not leaf.path or leaf.path[-1] in _MAIN:
        return False
    return any(
        str(leaf.value).casefold() == str(value).casefold()
        and (not _is_number(leaf.value) or set(leaf.stems) & {stem(word) for word in words_of_name(name)})
        for name, value in result.given.items()
        if name not in result.found
    )


def wanted(result: Result, step: Step) -> list[Leaf]:
    """The values that answer the question: those that its words name, else the main value, else all."""
    found = leaves(result)
    scores = [_score(leaf, step.stems) for leaf in found]
    best = max(scores, default=0)
    if best > 0:
        return _whole([leaf for leaf, score in zip(found, scores, strict=True) if score == best], found)
    given = result.given
    named = [leaf for leaf in found if leaf.path and leaf.path[-1] in given and leaf.value not in given.values()]
    return named[:1] or _main(found) or found


def _whole(chosen: list[Leaf], found: list[Leaf]) -> list[Leaf]:
    """Complete an amount such as ``1 day 12 hours``, of which the hours alone are not an answer; zeros are left out."""
    shallowest = min(len(leaf.path) for leaf in chosen)
    if len({leaf.path[-1:] for leaf in chosen}) == 1:
        chosen = [leaf for leaf in chosen if len(leaf.path) == shallowest]
    groups = {leaf.path[:-1] for leaf in chosen if leaf.path and leaf.path[-1] in UNITS}
    parts = [leaf for leaf in found if leaf.path[:-1] in groups and leaf.path[-1] in UNITS and leaf.value]
    return parts if len(parts) > 1 else chosen


def _main(found: list[Leaf]) -> list[Leaf]:
    return next(([leaf] for key in _MAIN for leaf in found if leaf.path[-1:] == (key,)), [])


def _score(leaf: Leaf, asked: frozenset[str]) -> float:
    """Score a value: direct words count most, hints less, and other words in the key count against it."""
    own = leaf.stems
    hints = frozenset[str]().union(*(hinted(word) for word in asked))
    direct = sum(1 for word in own if word in asked)
    implied = sum(1 for word in own if word not in asked and word in hints)
    unasked = sum(1 for word in own if word not in asked and word not in hints and word not in _JOINING)
    if not direct and (not implied or unasked):
        return 0
    return max(3 * direct + 2 * implied - unasked, 0.5)


def take(result: Result, step: Step, want: Want) -> str:
    """The one value of this kind in a result, or "" if there is none or more than one."""
    if want is Want.UNIT:
        return next((leaf.unit for leaf in wanted(result, step) if leaf.unit), "")
    if want is Want.TEXT:
        return _text(result, step)
    pattern = _NUMBER if want is Want.NUMBER else _DATE
    if result.data is None or not isinstance(result.data, dict | list):
        found = pattern.findall(result.text)
        return found[0].replace(",", "") if len(set(found)) == 1 else ""
    if want is Want.NUMBER:
        numbers = [leaf for leaf in wanted(result, step) if _is_number(leaf.value)]
        numbers = numbers or [leaf for leaf in leaves(result) if _is_number(leaf.value)]
        return str(numbers[0].value) if len({str(leaf.value) for leaf in numbers}) == 1 else ""
    return _moment(result, step, want)


def _moment(result: Result, step: Step, want: Want) -> str:
    dated = [leaf for leaf in leaves(result) if isinstance(leaf.value, str) and _DATE.match(leaf.value)]
    dated.sort(key=lambda leaf: (len(leaf.path), (want is Want.DATE) == ("T" in str(leaf.value))))
    if not dated:
        return ""
    return str(dated[0].value)[:10] if want is Want.DATE else str(dated[0].value)


def _text(result: Result, step: Step) -> str:
    if result.data is None or isinstance(result.data, str):
        text = result.data if isinstance(result.data, str) else result.text
        return text if len(text) <= _SHORT and "\n" not in text else ""
    texts = [leaf.value for leaf in wanted(result, step) if isinstance(leaf.value, str)]
    return texts[0] if len(texts) == 1 and len(texts[0]) <= _SHORT else ""


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and bool(_NUMBER.fullmatch(value)))
