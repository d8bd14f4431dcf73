"""Disclosure: recognises the tool that unlocks other tools by its description, and finds the skill for a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from react_offline.conversation import Calls, call_key
from react_offline.draft import hinted
from react_offline.lookups import subject
from react_offline.observations import read_result
from react_offline.plan import Unlocking
from react_offline.reading import Reading
from react_offline.slots import Card, Kind, Slot
from react_offline.text import stem, stems

_CUES = {
    "expressions": "arithmetic calculate calculation mathematics math number expression",
    "units": "unit conversion convert measurement",
    "moments": "date calendar day time",
    "durations": "date calendar day time duration",
    "lookup": "encyclopedia encyclopaedia lookup knowledge fact wikipedia article search",
}
_CUE_STEMS = {name: frozenset(stem(word) for word in words.split()) for name, words in _CUES.items()}


def unlocking(reading: Reading, cards: Sequence[Card], calls: Calls) -> Unlocking | None:
    """The skill to activate for a clause: the inactive one whose description has most in common with it."""
    best: tuple[int, Unlocking | None] = (0, None)
    for card in cards:
        slot = _slot(card)
        members = _members(card) or _found(card, slot.name, calls)
        if not members and (search := _search(reading, card, calls)):
            return search
        for member, description in members.items():
            if call_key(card.name, {slot.name: member}) in calls:
                continue
            score = _score(reading, description, member)
            if score > best[0]:
                best = score, Unlocking(card, slot.name, member)
    return best[1]


def _slot(card: Card) -> Slot:
    """The parameter that names what to unlock."""
    return next(slot for slot in card.slots if slot.required or slot.kind is not Kind.QUERY)


def _search(reading: Reading, card: Card, calls: Calls) -> Unlocking | None:
    """The call that searches for fitting skills if there are too many to list; made once per clause."""
    queries = card.of_kind(Kind.QUERY)
    words = " ".join([*reading.topic_words, *(word for cue in _cues(reading) for word in _CUES[cue].split()[:2])])
    if not queries or not words or call_key(card.name, {queries[0].name: words}) in calls:
        return None
    return Unlocking(card, queries[0].name, words)


def _found(card: Card, name: str, calls: Calls) -> dict[str, str]:
    """The results of earlier searches: the entries that have the parameter's name as a key."""
    found: dict[str, str] = {}
    for key, results in calls.items():
        if not key.startswith(f"{card.name} "):
            continue
        for entry in _entries(read_result(results[-1]).data):
            if isinstance(member := entry.get(name), str):
                found[member] = " ".join(str(value) for value in entry.values())
    return found


def _entries(data: object) -> Iterator[Mapping[str, object]]:
    if isinstance(data, Mapping):
        yield data
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from _entries(item)


def offers(card: Card) -> dict[str, str]:
    """What a tool can unlock: each name with the first line of its description."""
    return {member: text.splitlines()[0].strip(" -*:") for member, text in _members(card).items()}


@lru_cache(maxsize=256)
def _members(card: Card) -> dict[str, str]:
    """Each name that can be activated, with its part of the tool's description."""
    slot = next((slot for slot in card.slots if slot.required and slot.kind is Kind.CHOICE), None)
    if slot is None:
        return {}
    text = f"{card.tool.description}\n{slot.description}"
    places = {choice: match.start() for choice in slot.choices if (match := _line_of(choice, text))}
    order = sorted(places.values())
    described = {}
    for choice in slot.choices:
        start = places.get(choice)
        end = next((place for place in order if start is not None and place > start), len(text))
        described[choice] = text[start:end] if start is not None else choice.replace("_", " ")
    return described


def _line_of(choice: str, text: str) -> re.Match[str] | None:
    pattern = re.escape(choice)
    return re.search(rf"^[^\w\n]*{pattern}\b", text, re.MULTILINE) or re.search(rf"\b{pattern}\b", text)


def _score(reading: Reading, description: str, member: str) -> int:
    said = frozenset(stems(description)) | frozenset(stems(member.replace("_", " ").replace("-", " ")))
    asked = sum(2 for word in reading.stems if word in said or hinted(word) & said)
    cued = sum(3 for cue in _cues(reading) if _CUE_STEMS[cue] & said)
    return asked + cued


def _cues(reading: Reading) -> list[str]:
    """The kinds of values in the clause."""
    cues = [name for name in ("expressions", "moments", "durations") if getattr(reading, name)]
    if reading.names_units:
        cues.append("units")
    if not cues and subject(reading):
        cues.append("lookup")
    return cues
