"""Composes the answer from observations: every value, unit and date is as the tool returned it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from react_offline.lexicon import FUNCTION, NOUN_OF_ADJECTIVE
from react_offline.observations import Leaf, Result, take, wanted
from react_offline.plan import Comparison, Known, Step, Want
from react_offline.slots import Kind

_MOST_VALUES = 16
_LONGEST_TEXT = 2000
_TITLES = ("title", "heading", "name")
_TEXTS = ("extract", "abstract", "text", "summary", "snippet", "definition", "description", "answer")
_LINKS = ("url", "link", "href")


def answer(step: Step, result: Result, *, yes_or_no: bool) -> str:
    """The answer that a result gives to the clause of its step.

    Args:
        step: The call, and the words that say which part of its result is wanted.
        result: The parsed observation.
        yes_or_no: Whether it is a yes-or-no question.
    """
    if result.data is None or not isinstance(result.data, dict | list):
        if isinstance(result.data, bool):
            return "Yes" if result.data else "No"
        return _cut(result.data if isinstance(result.data, str) else result.text)
    entries = _entries(result.data)
    if entries:
        return _found_entries(entries)
    values = wanted(result, step)
    if len(values) == 1:
        return _single(values[0], yes_or_no=yes_or_no)
    if len({leaf.path for leaf in values}) < len(values) and isinstance(result.data, list):
        return _rows(result.data)
    return _cut("; ".join(_labelled(leaf) for leaf in values[:_MOST_VALUES]) or result.text)


def _single(leaf: Leaf, *, yes_or_no: bool) -> str:
    if isinstance(leaf.value, bool):
        plain = "yes" if leaf.value else "no"
        return f"{plain.capitalize()} ({leaf.label}: {plain})" if yes_or_no else f"{leaf.label}: {plain}"
    approximate = " (approximate)" if leaf.beside.get("approximate") is True else ""
    return _cut(f"{_value(leaf)}{approximate}")


def _value(leaf: Leaf) -> str:
    if isinstance(leaf.value, bool):
        return "yes" if leaf.value else "no"
    return f"{leaf.value} {leaf.unit}".strip()


def _labelled(leaf: Leaf) -> str:
    return f"{leaf.label}: {_value(leaf)}" if leaf.path else _value(leaf)


def _rows(data: Sequence[object]) -> str:
    rows = []
    for item in data[:_MOST_VALUES]:
        values = item.items() if isinstance(item, Mapping) else [("", item)]
        rows.append(", ".join(f"{key} {value}".strip() for key, value in values))
    more = f"\n… {len(data) - _MOST_VALUES} more" if len(data) > _MOST_VALUES else ""
    return "\n".join(rows) + more


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT].rstrip()} …"


# lookups


def _entries(data: object) -> list[Mapping[str, object]]:
    """The entries of a search result: objects with a title or heading, and a text or link."""
    if isinstance(data, Mapping):
        lists = [value for value in data.values() if isinstance(value, list)]
        inner = [entry for found in lists for entry in _entries(found)]
        return [data] if _is_entry(data) else inner
    if isinstance(data, list):
        return [item for item in data if isinstance(item, Mapping) and _is_entry(item)]
    return []


def _is_entry(item: Mapping[str, object]) -> bool:
    return bool(_first(item, _TITLES)) and bool(_first(item, _TEXTS) or _first(item, _LINKS))


def _found_entries(entries: Sequence[Mapping[str, object]]) -> str:
    best = entries[0]
    title, text, link = _first(best, _TITLES), _first(best, _TEXTS), _link(best)
    if best.get("relevance") == "low":
        return f"Nothing found with certainty. The nearest is '{title}'{f' ({link})' if link else ''}."
    lines = [f"{title}: {_cut(text)}" if text else title]
    if link:
        lines.append(f"Source: {link}")
    others = [other for entry in entries[1:] if (other := _first(entry, _TITLES))]
    if others:
        lines.append(f"Also found: {', '.join(others)}")
    return "\n".join(lines)


def _link(item: Mapping[str, object]) -> str:
    """The link of the entry, or of its text."""
    texts = [part for key in _TEXTS if isinstance(part := item.get(key), Mapping)]
    return next((link for part in (item, *texts) if (link := _first(part, _LINKS))), "")


def _first(item: Mapping[str, object], keys: Sequence[str]) -> str:
    for key in keys:
        value = item.get(key)
        if isinstance(value, Mapping):
            value = next((inner for name in ("text", "abstract") if isinstance(inner := value.get(name), str)), "")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


# comparisons


def compared(comparison: Comparison, results: Sequence[Result]) -> str:
    """Which of several has more or less, with the tool's values; only the values if they cannot be compared."""
    pairs = list(zip(comparison.names, comparison.steps, results, strict=True))
    said = "; ".join(f"{name}: {answer(step, result, yes_or_no=False)}" for name, step, result in pairs)
    numbers = [_number(step, result) for _, step, result in pairs]
    units = {take(result, step, Want.UNIT) for _, step, result in pairs}
    if None in numbers or len(units) != 1:
        return said
    ranked = sorted(
        ((number, name) for number, (name, _, _) in zip(numbers, pairs, strict=True) if number is not None),
        key=lambda pair: -comparison.direction * pair[0],
    )
    if ranked[0][0] == ranked[1][0]:
        return f"Equal. {said}"
    return f"{ranked[0][1]} {_verb(comparison.word)} {comparison.word}. {said}"


def _verb(word: str) -> str:
    words = word.casefold().split()
    return "is" if len(words) == 1 or words[-1] in NOUN_OF_ADJECTIVE else "has"


def _number(step: Step, result: Result) -> Decimal | None:
    try:
        return Decimal(take(result, step, Want.NUMBER))
    except InvalidOperation:
        return None


def step_label(step: Step) -> str:
    """The words of a part, without those that only ask."""
    words = step.text.split()
    while len(words) > 1 and words[0].casefold().removesuffix("'s") in FUNCTION:
        words = words[1:]
    return " ".join(words) or step.text


def distinguishing(steps: Sequence[Step]) -> list[str] | None:
    """The values of the one argument in which calls of a tool differ, as labels; ``None`` if there is none."""
    cards = {id(step.card) for step in steps}
    if len(cards) != 1 or len(steps) < 2:
        return None
    kinds = {slot.name: slot.kind for slot in steps[0].card.slots} if steps[0].card else {}
    for name in steps[0].arguments:
        if kinds.get(name) in (Kind.EXPRESSION, Kind.TEXT):
            continue
        values = [step.arguments.get(name) for step in steps]
        texts = [value.value for value in values if isinstance(value, Known) and isinstance(value.value, str)]
        if len(texts) == len(steps) == len(set(texts)):
            return texts
    return None
