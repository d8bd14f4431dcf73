"""The subject of a call: the words and numbers in its arguments, and the places it touches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import normpath
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from react_run.tools.arguments.json_types import allowed, alternatives, kinds
from react_run.tools.schemas.cleaning import resolve

if TYPE_CHECKING:
    from react_run.run import ToolCall

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_UNIT = re.compile(r"(^|_)units?($|_)")
_PATH = re.compile(r"(^|_)(path|file|filename|directory|dir|folder|destination|source|target|src|dst)s?$")
_PLACE = re.compile(r"(:\d{1,9}){0,3}:?$")
_SMALL_WORDS = frozenset(re.findall(r"\w+", """
    a an and are as at be by com d de der die do does el en et for from how htm html http https i in index is it la le
    les ll m net o of on or org re s t that the this to ve was were what when where which who why with www
"""))  # fmt: skip
"""Words that say nothing about the subject of a call."""


def subject(call: ToolCall) -> tuple[bool, object]:
    """The first required parameter of a call: whether its tool has one, and the value, ``None`` if not usable."""
    schema = _schema(call)
    required = schema.get("required", ())
    name = next((name for name in schema.get("properties", ()) if name in required), None)
    if name is None:
        return False, None
    value = _arguments(call).get(name)
    if isinstance(value, str):
        return True, value.strip().removeprefix("./") or None
    return True, value if isinstance(value, int | float | list) and value != [] else None


def words(call: ToolCall, *, of_subject: bool = False) -> frozenset[str]:
    """The content words and numbers among a call's arguments; values of enums, booleans and units are not content."""
    schema = _schema(call)
    properties: Mapping[str, Any] = schema.get("properties", {})
    names: Iterable[str] = _arguments(call)
    if of_subject and (first := next((name for name in properties if name in schema.get("required", ())), None)):
        names = [first]
    found: set[str] = set()
    for name in names:
        if name in _arguments(call) and not _UNIT.search(name) and not _is_choice(properties.get(name, {}), schema):
            for text in _texts(_arguments(call)[name]):
                found |= words_of(text)
    return frozenset(found)


def paths(call: ToolCall) -> frozenset[str]:
    """The files and directories that a call names, by the names of its parameters."""
    named = (value for name, value in _arguments(call).items() if _PATH.search(name))
    return frozenset(normpath(text.strip()) for value in named for text in _texts(value) if text.strip())


def file_of(location: str) -> str:
    """The file in a location such as ``calc.py:3:1``; empty if there is none."""
    name = _PLACE.sub("", location.strip())
    return normpath(name) if name else ""


def _arguments(call: ToolCall) -> Mapping[str, object]:
    if call.arguments:
        return call.arguments
    sent = call.request.arguments
    return sent if isinstance(sent, dict) else {}


def _schema(call: ToolCall) -> Mapping[str, Any]:
    return {} if call.tool is None else call.tool.parameters


def _is_choice(part: object, root: Mapping[str, Any]) -> bool:
    if not isinstance(part, Mapping):
        return False
    part = resolve(part, root)
    options = list(alternatives(part, root)) or [part]
    return all(allowed(option) is not None or _is_truth(kinds(option, root)) for option in options)


def _is_truth(named: list[str]) -> bool:
    return bool(named) and set(named) <= {"boolean", "null"}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def words_of(text: str) -> frozenset[str]:
    """The content words and numbers of a text, normalised."""
    tokens = {_plain(token) for token in _TOKEN.findall(normalize("NFKC", text).casefold())}
    tokens |= {
        token[at : at + 2]
        for token in tokens
        if len(token) > 2 and _has_no_blanks(token)
        for at in range(len(token) - 1)
    }
    return frozenset(tokens - _SMALL_WORDS or tokens)


def _has_no_blanks(token: str) -> bool:
    """Whether a language without blanks between words wrote ``token``: Chinese, Japanese, Korean."""
    wide = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
    return not token.isascii() and any(first <= letter <= last for letter in token for first, last in wide)


def _plain(token: str) -> str:
    """Normalise numbers: ``05`` and ``5.0`` are 5."""
    if not token[0].isdigit():
        return token
    whole, _, part = token.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")
