"""Analyses the offered tools without prior knowledge: the topic of each, and the kind of each parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from react_offline.lexicon import FUNCTION, GENERAL_KNOWLEDGE, GENERIC, QUALIFIERS
from react_offline.moments import UNITS
from react_offline.text import read, stem, stems, words_of_name
from react_offline.units import is_currency_list, is_unit_list
from react_run.support import dataclass

if TYPE_CHECKING:
    from react_run.tools.tool import Tool


class Kind(StrEnum):
    """The kind of value that a parameter takes."""

    EXPRESSION = "an arithmetic expression"
    NUMBER = "a number"
    UNIT = "a unit"
    CURRENCY = "a currency"
    AMOUNT_OF_TIME = "a number of days, months, …"
    DATE = "a date"
    DATETIME = "a date and time"
    CLOCK = "a time of day"
    ZONE = "a time zone"
    CHOICE = "one of a few values"
    FLAG = "yes or no"
    PATTERN = "text of a fixed form"
    URL = "a URL"
    EMAIL = "an e-mail address"
    PATH = "a path"
    QUERY = "what to look for"
    TEXT = "a text in quotation marks"
    PLACE = "a place"
    NAME = "a name"
    LIST = "a list"
    OTHER = "something else"


_KINDS_BY_WORD = {
    Kind.EXPRESSION: "expression formula equation calculation arithmetic sum",
    Kind.ZONE: "timezone tz zone zoneinfo",
    Kind.CURRENCY: "currency",
    Kind.UNIT: "unit units uom scale",
    Kind.DATETIME: "datetime timestamp when moment instant",
    Kind.DATE: "date day birthday birthdate birth",
    Kind.CLOCK: "clock",
    Kind.URL: "url uri link website webpage href",
    Kind.EMAIL: "email mail",
    Kind.PATH: "path file filename directory folder dir filepath",
    Kind.QUERY: "query search q topic term terms keyword keywords subject question",
    Kind.TEXT: "text sentence string message content body phrase passage paragraph input word words",
    Kind.PLACE: "city town location place country region address origin destination airport station state village",
}
_WORD_KINDS = {word: kind for kind, words in _KINDS_BY_WORD.items() for word in words.split()}
_FORMATS = {
    "date": Kind.DATE, "date-time": Kind.DATETIME, "time": Kind.CLOCK,
    "email": Kind.EMAIL, "uri": Kind.URL, "url": Kind.URL,
}  # fmt: skip
FROM, TO = "from", "to"
_ROLES = {
    FROM: "from source src start begin origin departure since first input base old earlier",
    TO: "to target dest destination end until arrival second output new later",
}
_ROLE_WORDS = {word: role for role, words in _ROLES.items() for word in words.split()}
_MOST_CHOICES = 12
_ORDINARY = ("hello", "Paris", "a few words", "12")


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter: its kind, its role if there are two of that kind, and the words for it."""

    name: str
    kind: Kind
    required: bool
    role: str
    unit: str
    choices: tuple[str, ...]
    pattern: re.Pattern[str] | None
    integer: bool
    minimum: float | None
    items: Kind | None
    name_stems: frozenset[str]
    stems: frozenset[str]
    description: str

    def __str__(self) -> str:
        said = _without_examples(self.description).strip(" .,")
        about = f" ({said})" if said else ""
        shown = [*self.choices[:_MOST_CHOICES], *(["…"] if len(self.choices) > _MOST_CHOICES else [])]
        return f"{self.name}{about}{': ' if shown else ''}{', '.join(shown)}"


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A tool as the offline model sees it.

    ``topic`` has the stems of what it does, ``vocabulary`` all its words, ``own`` the specific words of its name, and
    ``qualifiers`` those that a question must repeat. ``unlocks``: it only makes other tools available.
    """

    tool: Tool
    slots: tuple[Slot, ...]
    own: frozenset[str]
    qualifiers: frozenset[str]
    topic: frozenset[str]
    vocabulary: frozenset[str]
    summary: str
    unlocks: bool
    kinds: frozenset[Kind]

    @property
    def name(self) -> str:
        """The tool's name, for requests and messages."""
        return self.tool.name

    def of_kind(self, *kinds: Kind) -> list[Slot]:
        """The slots of these kinds, in the tool's order."""
        return [slot for slot in self.slots if slot.kind in kinds]

    @property
    def looks_up(self) -> bool:
        """Whether it searches for a phrase."""
        return any(slot.kind is Kind.QUERY and slot.required for slot in self.slots)

    @property
    def general(self) -> bool:
        """Whether it looks up any subject."""
        return self.looks_up and bool(self.vocabulary & _GENERAL)


_GENERAL = frozenset(stem(word) for word in GENERAL_KNOWLEDGE)
_NARROWING = frozenset(stem(word) for word in QUALIFIERS)
_GENERIC = frozenset(stem(word) for word in GENERIC)
_FUNCTION = frozenset(stem(word) for word in FUNCTION)
_UNLOCKING = frozenset(stem(word) for word in ("activate", "unlock", "enable", "load"))
_UNLOCKED = frozenset(stem(word) for word in ("skill", "tool"))
_cards: WeakKeyDictionary[Tool, Card] = WeakKeyDictionary()


def card_of(tool: Tool) -> Card:
    """The card of a tool, built once per tool."""
    card = _cards.get(tool)
    if card is None:
        card = _cards[tool] = _read(tool)
    return card


def _read(tool: Tool) -> Card:
    schema: Mapping[str, object] = tool.wire["function"]["parameters"]
    properties = _mapping(schema.get("properties"))
    required = schema.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    slots = tuple(_slot(name, _mapping(part), name in needed) for name, part in properties.items())
    summary = _first_sentence(tool.description)
    name_stems = _identifier_stems(tool.name)
    slot_names = frozenset[str]().union(*(slot.name_stems for slot in slots))
    said = frozenset(stems(_without_examples(summary))) - _FUNCTION
    own = name_stems - _GENERIC - _FUNCTION
    return Card(
        tool=tool,
        slots=slots,
        own=own,
        qualifiers=own & _NARROWING,
        topic=own | (said - slot_names - _GENERIC),
        vocabulary=frozenset[str]().union(name_stems, said, *(slot.stems for slot in slots)),
        summary=summary,
        unlocks=_unlocks(tool.description, slots),
        kinds=frozenset(slot.kind for slot in slots),
    )


def _unlocks(description: str, slots: Sequence[Slot]) -> bool:
    """Whether a tool only makes others available, by its description and its parameters (a choice or a search)."""
    needed = [slot for slot in slots if slot.required]
    chooses = len(needed) == 1 and needed[0].kind is Kind.CHOICE
    searches = not needed and [slot.kind for slot in slots].count(Kind.QUERY) == 1 and len(slots) == 2
    if not chooses and not searches:
        return False
    words = frozenset(stems(description))
    return bool(words & _UNLOCKING) and bool(words & _UNLOCKED)


def _slot(name: str, schema: Mapping[str, object], required: bool) -> Slot:
    options = [schema, *_alternatives(schema)]
    types = {kind for option in options for kind in _types(option)} - {"null"}
    choices = tuple(str(choice) for choice in _choices(options, types))
    words = words_of_name(name)
    description = str(schema.get("description") or "")
    kind, unit = _kind(words, description, types, options, choices)
    name_stems = _identifier_stems(name)
    minimum = next((bound for option in options if isinstance(bound := option.get("minimum"), int | float)), None)
    return Slot(
        name=name,
        kind=kind,
        required=required,
        role=next((_ROLE_WORDS[word] for word in words if word in _ROLE_WORDS), ""),
        unit=unit,
        choices=choices,
        pattern=_pattern(options),
        integer=types == {"integer"},
        minimum=minimum,
        items=_items(words, description, options) if kind is Kind.LIST else None,
        name_stems=name_stems,
        stems=name_stems | _described(description),
        description=description,
    )


def _kind(
    words: Sequence[str],
    description: str,
    types: set[str],
    options: Sequence[Mapping[str, object]],
    choices: tuple[str, ...],
) -> tuple[Kind, str]:
    if choices and is_unit_list(choices):
        return Kind.UNIT, ""
    if choices and is_currency_list(choices):
        return Kind.CURRENCY, ""
    if choices and types <= {"string"} and not _is_open(options):
        return Kind.CHOICE, ""
    if types & {"integer", "number"}:
        unit = next((UNITS[word] for word in words if word in UNITS), "")
        return (Kind.AMOUNT_OF_TIME, unit) if unit else (Kind.NUMBER, "")
    for plain, kind in (("boolean", Kind.FLAG), ("array", Kind.LIST), ("object", Kind.OTHER)):
        if plain in types:
            return kind, ""
    return _text_kind(words, description, options), ""


def _text_kind(words: Sequence[str], description: str, options: Sequence[Mapping[str, object]]) -> Kind:
    for option in options:
        if kind := _FORMATS.get(str(option.get("format"))):
            return kind
    if _pattern(options):
        return Kind.PATTERN
    named = [_WORD_KINDS[word] for word in _merged(words) if word in _WORD_KINDS]
    said = [_WORD_KINDS[word] for word in _merged(words_of_name(description)) if word in _WORD_KINDS]
    if named and named[-1] in (Kind.TEXT, Kind.QUERY, Kind.DATE) and Kind.EXPRESSION in said:
        return Kind.EXPRESSION
    if named and named[-1] is Kind.DATE and Kind.DATETIME in (*named, *said):
        return Kind.DATETIME if Kind.DATETIME in named else Kind.DATE
    if named:
        return named[-1]
    if len(words) == 1 and (len(words[0]) <= 2 or words[0] in _ROLE_WORDS or words[0] in _GENERIC) and said:
        return said[0]
    return Kind.NAME


def _merged(words: Sequence[str]) -> list[str]:
    """Join pairs that can be one word: ``time zone``, ``date time``."""
    joined = " ".join(words).replace("time zone", "timezone").replace("date time", "datetime")
    return joined.split()


def _pattern(options: Sequence[Mapping[str, object]]) -> re.Pattern[str] | None:
    """The pattern for a text, if it does not match ordinary text."""
    for option in options:
        source = option.get("pattern")
        if isinstance(source, str):
            try:
                pattern = re.compile(source)
            except re.error:
                return None
            return None if any(pattern.search(ordinary) for ordinary in _ORDINARY) else pattern
    return None


def _items(words: Sequence[str], description: str, options: Sequence[Mapping[str, object]]) -> Kind:
    for option in options:
        items = _mapping(option.get("items"))
        if items:
            types = {kind for part in (items, *_alternatives(items)) for kind in _types(part)}
            return Kind.NUMBER if types & {"integer", "number"} else _text_kind(words, description, [items])
    return Kind.OTHER


def _is_open(options: Sequence[Mapping[str, object]]) -> bool:
    """Whether the choices are only suggestions, and any other text is allowed."""
    return any(
        _types(option) == ["string"] and "enum" not in option and "const" not in option for option in options[1:]
    )


def _choices(options: Sequence[Mapping[str, object]], types: set[str]) -> list[object]:
    for option in options:
        listed = option.get("enum")
        if isinstance(listed, list):
            return [choice for choice in listed if choice is not None]
    constants = [option["const"] for option in options if "const" in option]
    return constants if types <= {"string"} else []


def _alternatives(schema: Mapping[str, object]) -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    for key in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(key)
        if isinstance(parts, list):
            for part in parts:
                found += [_mapping(part), *_alternatives(_mapping(part))]
    return found


def _types(schema: Mapping[str, object]) -> list[str]:
    declared = schema.get("type")
    if isinstance(declared, list):
        return [kind for kind in declared if isinstance(kind, str)]
    return [declared] if isinstance(declared, str) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _identifier_stems(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _merged(words_of_name(name)))


def _described(text: str) -> frozenset[str]:
    """The stems of the first part of a parameter's description, without proper names; the rest is advice to a model."""
    first = re.split(r"[;.,:(]", text, maxsplit=1)[0]
    tokens = [token for token in read(_without_examples(first)) if token.kind == "word"]
    return frozenset(token.stem for i, token in enumerate(tokens) if i == 0 or not token.capital) - _FUNCTION


def _without_examples(text: str) -> str:
    return re.split(r"(?i)\b(?:such as|e\.g\.|for example|for instance|like|examples?:)", text, maxsplit=1)[0]


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s|\n\s*\n", text.strip(), maxsplit=1)[0]
