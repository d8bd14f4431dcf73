"""Binds places, names, and the time zones of places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from react_offline.draft import Draft, Helper
from react_offline.lexicon import SUPERLATIVES, word_set
from react_offline.plan import Found, Known, Value, Want
from react_offline.reading import Reading, is_content, written
from react_offline.slots import FROM, TO, Kind, Slot
from react_offline.zones import Zone, zone_of
from react_run.support import dataclass

_INTRODUCING = word_set(
    "in at for of to from near on about between and or than by named called into is are was does do did with ,"
)
_INSIDE = {"of", "de", "la", "le", "du", "di", "da", "von", "van", "upon"}
_ROLES = {"from": FROM, "between": FROM, "to": TO, "into": TO, "and": TO}
_PLACING = {"in", "at", "near", "from", "to", "into", "around"}
_BEFORE_ZONES = _PLACING | {"for", "of", "and", "or", ",", "utc", "gmt"}
_LONGEST_ZONE = 4
_NEVER_NAMES = SUPERLATIVES | word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight morning afternoon evening
    night midnight noon week month year hour minute second weekend day days last next ago previous coming later earlier
    """
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of words that name something: tokens ``start`` to ``end``."""

    start: int
    end: int


# time zones


def bind_zones(draft: Draft) -> None:
    """Bind time zones, also from cities and countries; the user is asked about an unknown or ambiguous place."""
    slots = draft.open(Kind.ZONE)
    if not slots:
        return
    found = list(_zones(draft)) or list(_unknown_places(draft))
    if len(found) > len(slots):
        return
    if len(slots) == 2 and len(found) == 1 and draft.reading.word(found[0][0].start - 1) == "in":
        _whose_time(draft, found[0][0])
    for run, zone in found:
        slot = _zone_slot(draft, run, slots)
        if slot is None:
            return
        if zone.unclear:
            draft.questions.append(zone.unclear)
        draft.put(slot, Known(zone.name))
        draft.take(run.start, run.end)
        draft.moments += 0 if zone.unclear else 1


def _whose_time(draft: Draft, run: Run) -> None:
    """``3pm in Tokyo`` alone is ambiguous: it is 3pm there, or the user's 3pm as shown there."""
    if _belongs_to_moment(draft.reading, run):
        place = written(draft.reading.tokens[run.start : run.end])
        draft.questions.append(f"Is that the time in {place}, or your own time to be shown in {place}?")


def _zone_slot(draft: Draft, run: Run, slots: Sequence[Slot]) -> Slot | None:
    left = [slot for slot in slots if slot.name not in draft.arguments]
    if len(slots) == 1:
        return left[0] if left else None
    role = FROM if _belongs_to_moment(draft.reading, run) else _ROLES.get(draft.reading.before(run.start), TO)
    return next((slot for slot in left if slot.role == role), None)


def _belongs_to_moment(reading: Reading, run: Run) -> bool:
    """Whether the place belongs to a time: ``3pm in London``, ``14:30 UTC``."""
    start = run.start - 1 if reading.word(run.start - 1) in ("in", "at") else run.start
    return any(span.end == start and span.value.kind != "relative" for span in reading.moments) or _dated(
        reading, start
    )


def _dated(reading: Reading, start: int) -> bool:
    """``3pm on 6 August 2026 in London``: the moment has two parts."""
    return any(span.value.kind == "clock" for span in reading.moments if span.end <= start) and any(
        span.end == start for span in reading.moments
    )


def _zones(draft: Draft) -> Iterator[tuple[Run, Zone]]:
    index = 0
    while index < len(draft.reading):
        found = _zone_at(draft, index)
        if found:
            yield found
        index = found[0].end if found else index + 1


def _zone_at(draft: Draft, index: int) -> tuple[Run, Zone] | None:
    tokens = draft.reading.tokens
    for length in range(min(_LONGEST_ZONE, len(tokens) - index), 0, -1):
        piece = tokens[index : index + length]
        if not draft.free(index, index + length) or not _may_be_zone(draft, index, index + length):
            continue
        if zone := zone_of(written(piece)):
            return _with_country(draft, Run(index, index + length), zone)
    return None


def _with_country(draft: Draft, run: Run, zone: Zone) -> tuple[Run, Zone]:
    """``Tokyo, Japan`` is one place."""
    rest = draft.reading.tokens[run.end + 1 : run.end + 1 + _LONGEST_ZONE]
    if draft.reading.word(run.end) == ",":
        for length in range(len(rest), 0, -1):
            country = zone_of(written(rest[:length]))
            if country and zone.is_in(country) and rest[0].capital:
                return Run(run.start, run.end + 1 + length), zone
    return run, zone


def _may_be_zone(draft: Draft, start: int, end: int) -> bool:
    first, last = draft.reading.tokens[start], draft.reading.tokens[end - 1]
    if first.kind == "op":
        return first.low in ("+", "-") and end - start > 1
    words = first.kind == "word" and last.kind in ("word", "number", "clock")
    if not words or (not is_content(first) and first.low != "the"):
        return False
    placed = draft.reading.before(start) in _BEFORE_ZONES or draft.reading.word(end) in ("time", "'s")
    return first.capital or placed


def _unknown_places(draft: Draft) -> Iterator[tuple[Run, Zone]]:
    for run in runs(draft):
        introduced = draft.reading.before(run.start) in ("in", "at", "for", "on", "to", "from", "into")
        if not introduced or any(span.start < run.end and run.start < span.end for span in draft.reading.moments):
            continue
        text = written(draft.reading.tokens[run.start : run.end])
        yield (
            run,
            Zone(unclear=f"I know no time zone for '{text}'. Please name a larger city or a zone such as Europe/Paris"),
        )


# places and names


def bind_names(draft: Draft, helper: Helper) -> None:
    """Bind places and names to unexplained words, or to another tool's result for them."""
    slots = draft.open(Kind.PLACE, Kind.NAME, required=True) or draft.open(Kind.PLACE, Kind.NAME)[:1]
    if not slots:
        return
    found = list(runs(draft)) or list(_numbered(draft, slots))
    if len(found) > len(slots) or (found and not draft.hits()):
        _nested(draft, slots, helper)
        return
    for slot, run in _assigned(draft, slots, found):
        _bind_run(draft, slot, run)


def _assigned(draft: Draft, slots: Sequence[Slot], found: Sequence[Run]) -> list[tuple[Slot, Run]]:
    """Assign each run to the slot that suits it best; empty if several runs are ambiguous."""
    left = list(slots)
    pairs: list[tuple[Slot, Run]] = []
    for run in sorted(found, key=lambda run: -max(_suits(draft, run, slot) for slot in slots)):
        ranked = sorted(left, key=lambda slot: -_suits(draft, run, slot))
        if len(found) > 1 and len(ranked) > 1 and _suits(draft, run, ranked[0]) == _suits(draft, run, ranked[1]):
            return []
        left.remove(ranked[0])
        pairs.append((ranked[0], run))
    return pairs


def _suits(draft: Draft, run: Run, slot: Slot) -> int:
    """How well a run suits a slot: by a word of the slot next to it, its role, and a preposition of place."""
    before = draft.reading.before(run.start)
    beside = {draft.reading.tokens[i].stem for i in (run.start - 1, run.end) if 0 <= i < len(draft.reading)}
    named = 4 if beside & slot.name_stems else 0
    role = 3 if slot.role and _ROLES.get(before) == slot.role else 0
    place = 1 if (before in _PLACING) == (slot.kind is Kind.PLACE) else 0
    return named + role + place


def _numbered(draft: Draft, slots: Sequence[Slot]) -> Iterator[Run]:
    """``order 1042``: a number directly after the parameter's own word is a name."""
    for span in draft.unused(draft.reading.numbers):
        previous = draft.reading.tokens[span.start - 1] if span.start else None
        if previous and any(previous.stem in slot.name_stems for slot in slots):
            yield Run(span.start, span.end)


def _bind_run(draft: Draft, slot: Slot, run: Run) -> None:
    tokens = draft.reading.tokens
    end = run.end
    if end < len(tokens) and tokens[end].stem in slot.name_stems and draft.free(end) and not tokens[run.start].capital:
        end += 1  # "mexico city" is one name
    draft.put(slot, Known(written(tokens[run.start : end])))
    draft.take(run.start, end)


def _nested(draft: Draft, slots: Sequence[Slot], helper: Helper) -> None:
    tokens = draft.reading.tokens
    for index, token in enumerate(tokens):
        inner = tokens[index + 1 :]
        if token.low not in ("in", "at", "for", "of", "to") or not any(other.low in ("of", "'s") for other in inner):
            continue
        step = helper.phrase(Reading(inner))
        if step:
            value: Value = Found(step, Want.TEXT)
            draft.put(slots[0], value)
            draft.take(index, len(tokens))
            return


def runs(draft: Draft) -> Iterator[Run]:
    """Runs of words that name something, introduced by a preposition, a capital letter or a possessive."""
    index = 0
    while index < len(draft.reading):
        run = _run_at(draft, index)
        if run and _is_introduced(draft, run):
            yield run
        index = run.end if run else index + 1


def _run_at(draft: Draft, index: int) -> Run | None:
    tokens = draft.reading.tokens
    end = index
    while end < len(tokens) and (_names(draft, end) or (end > index and _joins(draft, end))):
        if tokens[index].capital and not tokens[end].capital and not _joins(draft, end):
            break  # a capitalised name ends with its last capitalised word
        end += 1
    return Run(index, end) if any(_unexplained(draft, i) for i in range(index, end)) else None


def _names(draft: Draft, index: int) -> bool:
    token = draft.reading.tokens[index]
    if token.kind != "word" or not draft.free(index) or token.low in _NEVER_NAMES:
        return False
    return _unexplained(draft, index) or (token.capital and index > 0 and is_content(token))


def _unexplained(draft: Draft, index: int) -> bool:
    token = draft.reading.tokens[index]
    return token.kind == "word" and draft.free(index) and is_content(token) and not draft.explains(token)


def _joins(draft: Draft, index: int) -> bool:
    """Whether a small word or a comma is part of a name: ``Isle of Man``, ``San Francisco, CA``."""
    tokens = draft.reading.tokens
    if index + 1 >= len(tokens) or not tokens[index + 1].capital or not tokens[index - 1].capital:
        return False
    return tokens[index].low in _INSIDE or (tokens[index].low == "," and _is_only_comma(draft.reading))


def _is_only_comma(reading: Reading) -> bool:
    """``San Francisco, CA`` is one name; a list has an ``and`` or another comma."""
    return not reading.listed and sum(1 for token in reading.tokens if token.low in (",", "and", "or")) == 1


def _is_introduced(draft: Draft, run: Run) -> bool:
    reading = draft.reading
    if reading.tokens[run.start].capital and (
        run.start > 0 or reading.word(run.end) == "'s" or len(reading) == run.end
    ):
        return True
    telegraphic = len(reading) <= 4 and all(is_content(token) for token in reading.tokens if token.kind == "word")
    return reading.before(run.start) in _INTRODUCING or reading.word(run.end) == "'s" or telegraphic
