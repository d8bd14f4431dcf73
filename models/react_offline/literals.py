"""Binds literal values in the question: quotes, addresses, fixed forms, choices, numbers, arithmetic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from react_offline.arithmetic import REFERENCE, Expression
from react_offline.draft import Draft, Helper, hinted
from react_offline.lexicon import word_set
from react_offline.numbers import number_at
from react_offline.plan import Found, Known, Value, Want
from react_offline.reading import Span, is_content, written
from react_offline.slots import Card, Kind, Slot
from react_offline.text import Token, stem, words_of_name
from react_offline.units import unit_at

_SMALL_WORDS = {"in", "a", "and"}
_ENDS = (
    {"min", "minimum", "low", "lower", "start", "from", "first"},
    {"max", "maximum", "high", "upper", "end", "stop", "to", "last"},
)
_NUMERAL = re.compile(r"-?\d+(\.\d+)?")
_NOUNS_OF_TEXT = word_set("text sentence phrase string word words paragraph message line quote title name")
_QUOTABLE = (Kind.TEXT, Kind.QUERY, Kind.NAME, Kind.PLACE, Kind.PATH)
_REFERS_TO_NOTHING = "What does '{}' stand for? Please say it with the value."
_OPERATIONS = {
    "+": "add addition sum plus total",
    "-": "subtract subtraction minus difference",
    "*": "multiply multiplication product times",
    "/": "divide division quotient",
    "%": "modulo mod remainder modulus",
    "**": "power exponent pow exponentiation",
}
_STEMS_OF_OPERATIONS = {sign: frozenset(stem(word) for word in words.split()) for sign, words in _OPERATIONS.items()}


def bind_marked(draft: Draft) -> None:
    """Bind values with a recognisable form: fixed patterns, URLs, e-mail addresses and paths."""
    for slot in draft.open(Kind.PATTERN, Kind.URL, Kind.EMAIL, Kind.PATH):
        found = [i for i, token in enumerate(draft.reading.tokens) if draft.free(i) and _has_form(token, slot)]
        if len(found) == 1:
            draft.put(slot, Known(draft.reading.tokens[found[0]].text))
            draft.take(found[0])
            draft.evidence += 1


def _has_form(token: Token, slot: Slot) -> bool:
    if slot.kind is Kind.PATTERN:
        return slot.pattern is not None and bool(slot.pattern.search(token.text))
    if slot.kind is Kind.PATH:
        return token.kind == "word" and ("/" in token.text or "." in token.text)
    return token.kind == slot.kind.name.casefold()


def bind_quoted(draft: Draft, helper: Helper) -> None:
    """Bind text in quotation marks or after a colon to the text parameter; to several parameters, only by name."""
    quotes = [i for i, token in enumerate(draft.reading.tokens) if token.kind == "quote" and draft.free(i)]
    slots = [slot for kind in _QUOTABLE for slot in draft.open(kind)]
    texts = draft.open(Kind.TEXT) or slots[:1]
    if len(quotes) == 1 and len(texts) == 1:
        _quote(draft, texts[0], quotes[0])
        return
    for index in quotes:
        for slot in draft.open(*_QUOTABLE):
            if index and draft.reading.tokens[index - 1].stem in slot.name_stems:
                _quote(draft, slot, index)
                break
    left, needed = [i for i in quotes if draft.free(i)], draft.open(*_QUOTABLE, required=True)
    if len(left) == len(needed) == 1 < len(quotes):
        _quote(draft, needed[0], left[0])
    if not quotes:
        _after_colon(draft)
        _earlier_text(draft, helper)


def _quote(draft: Draft, slot: Slot, index: int) -> None:
    draft.put(slot, Known(draft.reading.tokens[index].text))
    named = draft.reading.word(index - 1) in _NOUNS_OF_TEXT
    draft.take(index - 1 if named else index, index + 1)


def _after_colon(draft: Draft) -> None:
    slots = draft.open(Kind.TEXT)
    colon = next((i for i, token in enumerate(draft.reading.tokens) if token.low == ":"), None)
    if len(slots) != 1 or colon is None or colon + 1 >= len(draft.reading):
        return
    draft.put(slots[0], Known(written(draft.reading.tokens[colon + 1 :])))
    draft.take(colon, len(draft.reading))


def _earlier_text(draft: Draft, helper: Helper) -> None:
    """``reverse it``: the text from an earlier part."""
    slots = draft.open(Kind.TEXT, required=True)
    place = next((i for i, token in enumerate(draft.reading.tokens) if token.low in ("it", "that", "this")), None)
    if len(slots) == 1 and place is not None and helper.previous is not None:
        draft.put(slots[0], Found(helper.previous, Want.TEXT))
        draft.take(place)


def bind_expression(draft: Draft, helper: Helper) -> None:
    """Bind the arithmetic of the clause to the parameter that takes an expression."""
    slots = draft.open(Kind.EXPRESSION)
    spans = draft.unused(draft.reading.expressions)
    if slots and len(spans) == 1:
        span = spans[0]
        draft.put(slots[0], referring(draft, span, helper))
        draft.take(span.start, span.end)
        draft.evidence += 1


def referring(draft: Draft, span: Span[Expression], helper: Helper) -> Value:
    """An expression as a value; references take the value of the earlier part."""
    expression = span.value
    if expression.unclear:
        draft.questions.append(expression.unclear)
    if not expression.refers:
        return Known(expression.text)
    if helper.previous is None:
        words = [token.low for token in draft.reading.tokens[span.start : span.end]]
        draft.questions.append(
            _REFERS_TO_NOTHING.format(next((w for w in words if w in ("that", "it", "this")), "that"))
        )
        return Known(expression.text)
    return Found(helper.previous, Want.NUMBER, expression.text.replace(REFERENCE, "{}"))


def bind_operands(draft: Draft, helper: Helper) -> None:
    """Bind the two operands of an operation to a tool that does only this operation."""
    spans = draft.unused(draft.reading.expressions)
    arguments = operands_for(draft.card, spans[0].value, helper) if len(spans) == 1 else None
    if arguments:
        draft.arguments.update(arguments)
        draft.take(spans[0].start, spans[0].end)
        draft.evidence += 1


def operands_for(card: Card, expression: Expression, helper: Helper) -> dict[str, Value] | None:
    """The arguments for ``card`` to compute ``expression``, if it is a tool for that one operation; else ``None``."""
    slots = [slot for slot in card.slots if slot.required]
    sign = _STEMS_OF_OPERATIONS.get(expression.operator)
    if not sign or not sign & card.topic or expression.unclear or len(expression.operands) != 2:
        return None
    if len(slots) != 2 or any(slot.kind is not Kind.NUMBER for slot in slots):
        return None
    values = [_operand(operand, helper) for operand in expression.operands]
    bound = {slot.name: value for slot, value in zip(slots, values, strict=True) if value is not None}
    return bound if len(bound) == len(slots) else None


def _operand(expression: Expression, helper: Helper) -> Value | None:
    if expression.text == REFERENCE:
        return Found(helper.previous, Want.NUMBER) if helper.previous else None
    if expression.operations or expression.refers:
        return helper.computed(expression)
    return Known(as_number(expression.text)) if _NUMERAL.fullmatch(expression.text) else None


def as_number(text: str) -> object:
    """A numeral as a JSON number; kept as text if a float would lose digits."""
    try:
        return int(text, 0) if text[:2].casefold() == "0x" else int(text)
    except ValueError:
        number = float(text)
        return number if repr(number) == text or (float(repr(number)) == number and len(text) <= 15) else text


def bind_choices(draft: Draft) -> None:
    """Bind parameters with a few possible values to the value that the clause names."""
    for slot in draft.open(Kind.CHOICE):
        found = {choice: place for choice in slot.choices if (place := _place_of(draft, choice)) is not None}
        if len(found) == 1:
            choice, (start, end) = next(iter(found.items()))
            draft.put(slot, Known(choice))
            draft.take(start, end)
        elif found:
            for start, end in found.values():
                draft.take(start, end)
            draft.questions.append(f"Which {slot.name.replace('_', ' ')}: {' or '.join(found)}?")


def _place_of(draft: Draft, choice: str) -> tuple[int, int] | None:
    tokens = draft.reading.tokens
    if len(choice) < 2:
        return None
    words = [stem(word) for word in words_of_name(choice)]
    for start in range(len(tokens)):
        if tokens[start].low == choice.casefold() and draft.free(start):
            return start, start + 1
        end = start + len(words)
        if words and [token.stem for token in tokens[start:end]] == words and draft.free(start, end):
            return start, end
        if len(words) == 1 and words[0] in hinted(tokens[start].stem) and draft.free(start):
            return start, start + 1
    return None


def bind_numbers(draft: Draft) -> None:
    """Bind numbers next to the parameter's own word first; then a single remaining number to a single parameter."""
    for slot in draft.open(Kind.NUMBER, Kind.AMOUNT_OF_TIME):
        for span in draft.unused(draft.reading.numbers):
            if _names(draft, span, slot):
                _number(draft, slot, span)
                break
    left = draft.unused(draft.reading.numbers)
    slots = draft.open(Kind.NUMBER, Kind.AMOUNT_OF_TIME, required=True)
    if len(left) == len(slots) == 1 and _unit_belongs(draft, left[0], slots[0]):
        _number(draft, slots[0], left[0])
    elif len(left) == len(slots) == 2:
        _range(draft, slots, left)
    _number_lists(draft)


def _unit_belongs(draft: Draft, span: Span[str], slot: Slot) -> bool:
    """Whether the unit after a number is the parameter's own, or the one that the tool converts from."""
    measure = unit_at(draft.reading.tokens, span.end) if span.end < len(draft.reading) else None
    if measure is None or draft.reading.word(span.end) in _SMALL_WORDS:
        return True
    words = draft.reading.tokens[span.end : measure.end]
    name = [stem(word) for word in words_of_name(draft.card.name)]
    converts = any(a == words[-1].stem and b == "to" for a, b in pairwise(name))
    return converts or all(word.stem in slot.stems for word in words)


def _range(draft: Draft, slots: Sequence[Slot], spans: Sequence[Span[str]]) -> None:
    """Bind ``between 1 and 10`` to two parameters for a lower and an upper bound."""
    first, second = (draft.reading.before(span.start) for span in spans)
    ends = [any(word in _ENDS[i] for word in slot.name_stems) for i, slot in enumerate(slots)]
    if (first, second) in (("between", "and"), ("from", "to")) and all(ends):
        for slot, span in zip(slots, spans, strict=True):
            _number(draft, slot, span)
        draft.take(spans[0].start - 1)


def _names(draft: Draft, span: Span[str], slot: Slot) -> bool:
    """Whether a word next to the number refers to the parameter."""
    tokens = draft.reading.tokens
    after = tokens[span.end] if span.end < len(tokens) else None
    if after and after.kind == "word" and is_content(after):
        return after.stem in (slot.stems if slot.kind is Kind.NUMBER else slot.name_stems)
    index = span.start - 2 if draft.reading.word(span.start - 1) in ("of", "is", "=", ":") else span.start - 1
    return index >= 0 and tokens[index].stem in slot.name_stems


def _number(draft: Draft, slot: Slot, span: Span[str]) -> None:
    if slot.integer and not span.value.lstrip("-").isdigit():
        draft.questions.append(f"{slot.name} must be a whole number; which?")
    draft.put(slot, Known(as_number(span.value)))
    draft.take(span.start, span.end)


def _number_lists(draft: Draft) -> None:
    slots = [slot for slot in draft.open(Kind.LIST) if slot.items is Kind.NUMBER]
    spans = draft.unused(draft.reading.numbers)
    if len(slots) == 1 and len(spans) > 1 and _are_listed(draft.reading.tokens, spans):
        draft.put(slots[0], Known([as_number(span.value) for span in spans]))
        draft.take(spans[0].start, spans[-1].end)


def _are_listed(tokens: Sequence[Token], spans: Sequence[Span[str]]) -> bool:
    """Whether there are only commas and ``and`` between them."""
    between = [token.low for a, b in pairwise(spans) for token in tokens[a.end : b.start]]
    return all(word in (",", "and", ";") for word in between)


def bind_flags(draft: Draft) -> None:
    """Set a yes-or-no parameter that the clause names; a negation before it sets it to no."""
    tokens = draft.reading.tokens
    for slot in draft.open(Kind.FLAG):
        for index, token in enumerate(tokens):
            if token.stem in slot.name_stems and is_content(token) and draft.free(index):
                negated = draft.reading.word(index - 1) in ("not", "no", "without", "excluding")
                draft.put(slot, Known(not negated))
                draft.take(index - 1 if negated else index, index + 1)
                break


def single_word_text(draft: Draft) -> None:
    """Bind a single unexplained word (``reverse hello``) to the text parameter."""
    slots = draft.open(Kind.TEXT, required=True)
    if len(slots) != 1:
        return
    unexplained = draft.leftover()
    left = [i for i, token in enumerate(draft.reading.tokens) if token in unexplained]
    if len(left) == 1 and draft.hits() and number_at(draft.reading.tokens, left[0]) is None:
        draft.put(slots[0], Known(draft.reading.tokens[left[0]].text))
        draft.take(left[0])
