"""Chooses the tool for a clause: every offered tool is tried, and must account for all words of the clause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from react_offline import literals, lookups, measures, places, times
from react_offline.arithmetic import Expression
from react_offline.draft import Draft, may_fit
from react_offline.plan import Asked, Declined, Found, Known, Part, Step, Value, Want
from react_offline.reading import Reading, written
from react_offline.slots import Card, Kind, Slot
from react_offline.text import stem
from react_offline.units import Measure, unit_at

_DEEPEST = 2
_NOW = frozenset(stem(word) for word in ("now", "today", "current", "currently"))
_TIME = frozenset(stem(word) for word in ("time", "date", "datetime", "clock"))


class Chooser:
    """Finds the step for a clause among ``cards``; it is also the :class:`~.draft.Helper` of its drafts."""

    def __init__(
        self, cards: Sequence[Card], *, allow_changes: bool, previous: Step | None = None, depth: int = 0
    ) -> None:
        self.cards = cards
        self.allow_changes = allow_changes
        self.previous = previous
        self._depth = depth

    def after(self, step: Step) -> Chooser:
        """A copy with an earlier part to refer to."""
        return Chooser(self.cards, allow_changes=self.allow_changes, previous=step, depth=self._depth)

    def part(self, reading: Reading) -> tuple[Part, Draft | None]:
        """What to do about a clause, and the draft behind it."""
        candidates = [card for card in self.cards if may_fit(card, reading)]
        drafts = [draft for card in candidates if (draft := self._draft(card, reading)).fits()]
        drafts = [draft for draft in drafts if not draft.missing or draft.is_named()]
        drafts.sort(key=lambda draft: (bool(draft.missing), draft.card.general, -draft.score(), draft.indirect))
        if not drafts:
            return self._converted(reading) or Declined(reading.text), None
        best = drafts[0]
        if not self._may(best.card):
            return Declined(reading.text, could=best.card.name), best
        if best.missing:
            return Asked(_question(best)), best
        if rival := self._rival(drafts):
            return Asked(f"Both {best.card.name} and {rival.card.name} fit '{reading.text}'. Which do you mean?"), best
        if best.questions:
            return Asked(best.questions[0]), best
        return Step(best.card, best.arguments, best.wanted(), reading.text), best

    def _may(self, card: Card) -> bool:
        return self.allow_changes or card.tool.read_only is True

    def _rival(self, drafts: Sequence[Draft]) -> Draft | None:
        """Another tool that fits equally well, unless it only looks up the phrase."""
        best = drafts[0]
        for draft in drafts[1:]:
            same = (draft.score(), draft.indirect) == (best.score(), best.indirect)
            if same and not draft.missing and not draft.card.general:
                return draft
        return None

    def _draft(self, card: Card, reading: Reading) -> Draft:
        draft = Draft(card, reading)
        literals.bind_marked(draft)
        literals.bind_quoted(draft, self)
        literals.bind_expression(draft, self)
        literals.bind_operands(draft, self)
        measures.bind_measures(draft, self)
        times.bind_durations(draft)
        places.bind_zones(draft)
        times.bind_moments(draft, self)
        literals.bind_choices(draft)
        literals.bind_numbers(draft)
        lookups.bind_query(draft)
        places.bind_names(draft, self)
        literals.single_word_text(draft)
        literals.bind_flags(draft)
        return draft

    def _converted(self, reading: Reading) -> Step | None:
        """``the distance between … in miles``: one tool's result, converted to another unit by a second tool."""
        for start in range(len(reading) - 1, 0, -1):
            measure = unit_at(reading.tokens, start)
            if not measure or reading.word(start - 1) not in ("in", "into", "to", "as"):
                continue
            rest = [token for token in reading.tokens[measure.end :] if token.kind != "punct"]
            inner, _ = self.part(Reading(reading.tokens[: start - 1])) if not rest else (None, None)
            if isinstance(inner, Step):
                return self._conversion(inner, measure, reading.text)
        return None

    def _conversion(self, inner: Step, unit: Measure, text: str) -> Step | None:
        found = Found(inner, Want.NUMBER), Found(inner, Want.UNIT)
        steps = (measures.converting(card, *found, unit, text) for card in self._permitted() if card is not inner.card)
        return next(filter(None, steps), None)

    # values from other tools

    def phrase(self, reading: Reading) -> Step | None:
        """A step that finds the value of a noun phrase."""
        if self._depth >= _DEEPEST:
            return None
        inner = Chooser(self.cards, allow_changes=self.allow_changes, depth=self._depth + 1)
        part, draft = inner.part(reading)
        return part if isinstance(part, Step) and draft and not draft.card.looks_up else None

    def computed(self, expression: Expression) -> Found | None:
        """The value of an expression, from a tool that takes expressions, or from one that does the last operation."""
        if expression.unclear or expression.refers:
            return None
        if total := self.total(Known(expression.text)):
            return total
        for card in self._permitted():
            arguments = literals.operands_for(card, expression, self)
            if arguments:
                return Found(Step(card, arguments, frozenset(), expression.text), Want.NUMBER)
        return None

    def total(self, expression: Value) -> Found | None:
        """The value of an expression, which may contain another tool's result."""
        for card in self._permitted():
            slots = card.of_kind(Kind.EXPRESSION)
            if slots and not _lacks(card, slots):
                return Found(Step(card, {slots[0].name: expression}, frozenset(), "the sum"), Want.NUMBER)
        return None

    def now(self, want: Want, zone: Value | None = None) -> Found | None:
        """The current date and time, from a tool without required parameters."""
        for card in self._permitted():
            if not _lacks(card, []) and card.topic & _TIME and card.vocabulary & _NOW:
                zones = card.of_kind(Kind.ZONE)
                arguments = {zones[0].name: zone} if zone and zones else {}
                return Found(Step(card, arguments, frozenset(), "now"), want)
        return None

    def shifted(self, base: Value, amounts: Mapping[str, str | Found]) -> Found | None:
        """A date some time after ``base``, from a tool that adds calendar periods."""
        for card in self._permitted():
            dates = card.of_kind(Kind.DATE, Kind.DATETIME)
            units = {slot.unit: slot for slot in card.of_kind(Kind.AMOUNT_OF_TIME)}
            takes = len(dates) == 1 and set(amounts) <= set(units) and not card.qualifiers
            if takes and not _lacks(card, [*dates, *units.values()]):
                arguments: dict[str, Value] = {dates[0].name: base}
                for unit, amount in amounts.items():
                    arguments[units[unit].name] = Known(int(amount)) if isinstance(amount, str) else amount
                return Found(Step(card, arguments, frozenset(), "that date"), Want.DATE)
        return None

    def weekday(self, name: str, direction: int) -> list[Part]:
        """Steps for today, and for the first such weekday after it or the last before it; ``next`` is ambiguous."""
        today = self.now(Want.DATE)
        day = today and self.shifted(today, {"days": replace(today, weekday=(name, direction))})
        if not today or not day:
            return []
        which = f"the first {name} after today" if direction > 0 else f"the last {name} before today"
        steps = (today.step, "today", "datetime"), (day.step, which, "date")
        return [replace(step, stems=frozenset({stem(key), "weekday"}), text=text) for step, text, key in steps]

    def _permitted(self) -> list[Card]:
        return [card for card in self.cards if self._may(card)]


def _lacks(card: Card, bound: Sequence[Slot]) -> bool:
    """Whether the tool requires a parameter that is not bound."""
    return any(slot.required and slot not in bound for slot in card.slots)


def _question(draft: Draft) -> str:
    if draft.questions:
        return draft.questions[0]
    needed = "; ".join(str(slot) for slot in draft.missing)
    kinds = " and ".join(dict.fromkeys(slot.kind.value for slot in draft.missing))
    return f"For '{written(draft.reading.tokens)}' I need {kinds}. {draft.card.name} takes {needed}. Which is meant?"
