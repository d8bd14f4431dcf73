"""Binds numbers with units or currencies, and the units to convert them to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from react_offline.draft import Draft, Helper
from react_offline.literals import as_number
from react_offline.plan import Found, Known, Step, Value, Want
from react_offline.reading import written
from react_offline.slots import FROM, TO, Card, Kind, Slot
from react_offline.text import Token
from react_offline.units import Measure, currency_at, currency_name, unit_at, unit_name
from react_run.support import dataclass

_INTO = {"to", "in", "into", "as", "->", "→", "=", "howmany", "howmuch", "equals"}
_REFERRING = {"that", "it", "this", "them", "result"}
_UNKNOWN_WORDS = 3
_SIGNS = {"": "", "+": "+", "plus": "+", "-": "-", "minus": "-"}
_COMPOUND = frozenset(pair for row in (
    "stone lb oz", "mi yd", "mi ft", "yd ft in", "km m cm mm", "kg g", "week day h min s",
) for pair in pairwise(row.split()))  # fmt: skip
"""Units that people use together, the larger first."""
_WITH_OFFSET = frozenset({"celsius", "fahrenheit", "kelvin"})
"""Units in which a sum of two amounts is meaningless."""
_OF_NO_LENGTH = frozenset({"month", "year"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit."""

    start: int
    value: Value
    measure: Measure
    is_sum: bool = False


def bind_measures(draft: Draft, helper: Helper) -> None:
    """Bind the number and the units of a conversion, or the one unit of the result."""
    slots = draft.open(Kind.UNIT, Kind.CURRENCY)
    if not slots:
        return
    numbers = draft.open(Kind.NUMBER, required=True) or draft.open(Kind.NUMBER)
    read = currency_at if all(slot.kind is Kind.CURRENCY for slot in slots) else unit_at
    origin, target = _pair(slots)
    quantity = _quantity(draft, read, helper) if numbers else None
    if quantity:
        draft.put(numbers[0], quantity.value)
        draft.take(quantity.start, quantity.measure.end)
        _put(draft, origin or target, quantity.measure)
    elif numbers and origin:
        _reference(draft, numbers[0], origin, helper)
    for role, start, measure in _named(draft, read):
        slot = _open_for(draft, role, origin, target)
        if slot and draft.free(start, measure.end):
            _put(draft, slot, measure)
            draft.take(start, measure.end)
    if quantity and target and target.name not in draft.arguments:
        if quantity.is_sum:
            _put(draft, target, quantity.measure)
        else:
            _unknown_target(draft, target, quantity)
    if quantity and origin and target and target.name in draft.arguments:
        draft.evidence += 1


def _pair(slots: Sequence[Slot]) -> tuple[Slot | None, Slot | None]:
    """The slots of the given and the wanted unit."""
    if len(slots) == 1:
        return (slots[0], None) if slots[0].role == FROM else (None, slots[0])
    origin = next((slot for slot in slots if slot.role == FROM), slots[0])
    target = next((slot for slot in slots if slot.role == TO and slot is not origin), None)
    return origin, target or next(slot for slot in slots if slot is not origin)


def _open_for(draft: Draft, role: str, origin: Slot | None, target: Slot | None) -> Slot | None:
    order = (origin, target) if role in (FROM, "") else (target,)
    return next((slot for slot in order if slot and slot.name not in draft.arguments), None)


Reader = Callable[[Sequence[Token], int], Measure | None]


def _quantity(draft: Draft, read: Reader, helper: Helper) -> Quantity | None:
    quantities = list(_quantities(draft, read, helper))
    return quantities[0] if len(quantities) == 1 else _together(draft, quantities, helper)


def _together(draft: Draft, quantities: Sequence[Quantity], helper: Helper) -> Quantity | None:
    """Combine two quantities in the unit of the second: ``6 feet 2 inches``, ``10 km + 5 km``."""
    values = [quantity.value.value for quantity in quantities if isinstance(quantity.value, Known)]
    if len(quantities) != 2 or len(values) != 2 or any(str(value).startswith("-") for value in values):
        return None
    first, second = quantities
    sign = _SIGNS.get(" ".join(token.low for token in draft.reading.tokens[first.measure.end : second.start]))
    names = (first.measure.name, second.measure.name)
    if names[0] in _WITH_OFFSET or sign is None or (names not in _COMPOUND and (not sign or names[0] != names[1])):
        return None
    template = f"{{}} {sign or '+'} {values[1]}"
    expression: Value = Known(template.format(values[0]))
    if names[0] != names[1]:
        step = converting(draft.card, first.value, first.measure, second.measure, written(draft.reading.tokens))
        if step is None:
            return None
        expression = Found(step, Want.NUMBER, template)
    total = helper.total(expression)
    return Quantity(first.start, total, second.measure, is_sum=bool(sign)) if total else None


def _quantities(draft: Draft, read: Reader, helper: Helper) -> Iterator[Quantity]:
    tokens = draft.reading.tokens
    used = 0
    for expression in draft.unused(draft.reading.expressions):
        measure = read(tokens, expression.end) if expression.end < len(tokens) else None
        computed = helper.computed(expression.value) if measure and not expression.value.refers else None
        if measure and computed:
            used = measure.end
            yield Quantity(expression.start, computed, measure)
    for number in draft.unused(draft.reading.numbers):
        if number.start < used:
            continue
        value = Known(as_number(number.value))
        sign = read(tokens, number.start - 1) if number.start and tokens[number.start - 1].kind == "money" else None
        measure = _unit_after(draft, read, number.end)
        if sign:
            yield Quantity(number.start - 1, value, replace(sign, end=number.end))
        elif measure:
            yield Quantity(number.start, value, measure)
        elif unknown := _unknown_unit(draft, number.end):
            yield Quantity(number.start, value, unknown)
    if not used and not draft.reading.numbers:
        yield from _one(draft, read)


def _unit_after(draft: Draft, read: Reader, index: int) -> Measure | None:
    """The unit after a number; ``in`` means inches only if no other unit follows."""
    if index >= len(draft.reading):
        return None
    preposition = draft.reading.word(index) == "in" and draft.reading.word(index + 1) not in ("to", "into", "in", "")
    return None if preposition else read(draft.reading.tokens, index)


def _one(draft: Draft, read: Reader) -> Iterator[Quantity]:
    """``a mile`` is one mile."""
    for index, token in enumerate(draft.reading.tokens[:-1]):
        if token.low in ("a", "an") and (measure := read(draft.reading.tokens, index + 1)):
            yield Quantity(index, Known(1), measure)


def _unknown_unit(draft: Draft, index: int) -> Measure | None:
    """Words between a number and ``to`` in a sentence with ``convert``: a unit that the tool may know."""
    if not draft.says("convert") or not draft.open(Kind.UNIT):
        return None
    for end in range(index + 1, min(index + 1 + _UNKNOWN_WORDS, len(draft.reading))):
        if draft.reading.word(end) in ("to", "into", "in"):
            tokens = draft.reading.tokens[index:end]
            return Measure(written(tokens), "", end) if all(token.kind == "word" for token in tokens) else None
    return None


def _unknown_target(draft: Draft, target: Slot, quantity: Quantity) -> None:
    tokens = draft.reading.tokens
    start = quantity.measure.end
    rest = [token for token in tokens[start + 1 :] if token.kind == "word"]
    if not draft.says("convert") or draft.reading.word(start) not in ("to", "into", "in"):
        return
    end = start + 1 + len(rest)
    if 0 < len(rest) <= _UNKNOWN_WORDS and draft.free(start + 1, end):
        _put(draft, target, Measure(written(rest), "", end))
        draft.take(start, end)


def _named(draft: Draft, read: Reader) -> Iterator[tuple[str, int, Measure]]:
    """The units other than that of the quantity, each with the role given by its preposition."""
    index = 0
    into = _INTO | ({"and"} if draft.says("between") else set())
    while index < len(draft.reading):
        measure = read(draft.reading.tokens, index) if draft.free(index) else None
        before = draft.reading.before(index)
        if measure and before in into and (draft.reading.word(index) != "in" or before in ("to", "into")):
            yield TO, index, measure
        elif measure and (before in ("from", "between") or draft.reading.word(measure.end) in ("to", "into")):
            yield FROM, index, measure
        index = measure.end if measure and before in into else index + 1


def _reference(draft: Draft, number: Slot, origin: Slot, helper: Helper) -> None:
    """``convert that to miles``: the value and the unit from an earlier part."""
    words = draft.reading.tokens
    place = next((i for i, token in enumerate(words) if token.low in _REFERRING), None)
    roles = {role for role, _, _ in _named(draft, unit_at)}
    if helper.previous is None or (place is None and not (roles and draft.reading.continued)):
        return
    draft.put(number, Found(helper.previous, Want.NUMBER))
    if FROM not in roles:
        draft.put(origin, Found(helper.previous, Want.UNIT))
    draft.evidence += 1
    if place is not None:
        draft.take(place)


def converting(card: Card, value: Value, origin: Measure | Found, target: Measure, text: str) -> Step | None:
    """A step that converts a value to another unit with ``card``, if that is all it does."""
    numbers = [slot for slot in card.of_kind(Kind.NUMBER) if slot.required]
    units = card.of_kind(Kind.UNIT)
    if len(numbers) != 1 or len(units) != 2 or any(s.required and s not in (*numbers, *units) for s in card.slots):
        return None
    start, end = sorted(units, key=lambda slot: slot.role != "from")
    given = origin if isinstance(origin, Found) else spelled(start, origin)
    return Step(card, {numbers[0].name: value, start.name: given, end.name: spelled(end, target)}, frozenset(), text)


def _put(draft: Draft, slot: Slot | None, measure: Measure) -> None:
    if slot is None:
        return
    unit = spelled(slot, measure)
    draft.put(slot, unit)
    if measure.name in _OF_NO_LENGTH and slot.choices and unit.value not in slot.choices:
        draft.questions.append(f"A {measure.name} has no fixed length: how many days do you mean by '{measure.text}'?")


def spelled(slot: Slot, measure: Measure) -> Known:
    """A unit in the spelling from the tool's list, else as the user wrote it."""
    if slot.choices:
        named = currency_name if slot.kind is Kind.CURRENCY else unit_name
        return Known(_member(slot.choices, measure, named) or measure.text)
    others = (measure.name,) if measure.name and measure.name != measure.text else ()
    spelling = measure.name if slot.kind is Kind.CURRENCY and measure.name else measure.text
    return Known(spelling, others)


def _member(choices: Sequence[str], measure: Measure, named: Callable[[str], str]) -> str:
    for choice in choices:
        if choice == measure.text or (measure.name and named(choice) == measure.name):
            return choice
    return next((choice for choice in choices if choice.casefold() == measure.text.casefold()), "")
