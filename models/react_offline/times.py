"""Binds the dates, times and durations of a clause to parameters."""

from __future__ import annotations

from collections.abc import Sequence

from react_offline.draft import Draft, Helper
from react_offline.literals import as_number
from react_offline.moments import Duration, Moment
from react_offline.plan import Found, Known, Value, Want
from react_offline.reading import Span
from react_offline.slots import FROM, TO, Kind, Slot
from react_run.support import dataclass

_MOMENTS = (Kind.DATE, Kind.DATETIME, Kind.CLOCK)
_BACKWARDS_AFTER = {"before", "ago", "earlier", "prior"}
_BACKWARDS_BEFORE = {"subtract", "minus", "-", "less", "take"}
_FORWARDS = {"add", "plus", "+", "later", "hence", "after", "from", "in", "within", "next", "coming"}
_QUALIFYING = {"business", "working", "work"}
_ROLE_BY_WORD = {
    "from": FROM, "since": FROM, "between": FROM, "starting": FROM,
    "to": TO, "until": TO, "till": TO, "and": TO, "through": TO, "before": TO, "into": TO,
}  # fmt: skip
_SINCE = {"since", "born", "old", "howold", "ago", "passed", "elapsed", "age"}
_UNTIL = {"until", "till", "to", "before", "left", "remain", "remaining"}
_LEFT = {"left", "remain", "remaining"}
_LEADING_ON = {"to", "until", "till", "through", "from", "since"}
_POINTING = {"that", "this", "result"}


def bind_durations(draft: Draft) -> None:
    """Bind an amount of time to the parameters of its units, negative if the clause goes back in time."""
    slots = {slot.unit: slot for slot in draft.open(Kind.AMOUNT_OF_TIME)}
    for span in draft.unused(draft.reading.durations):
        amounts = signed(draft, span)
        if slots and all(unit in slots and _allows(slots[unit], amount) for unit, amount in amounts.items()):
            for unit, amount in amounts.items():
                draft.put(slots[unit], Known(as_number(amount)))
            _take(draft, span)
            draft.moments += 1
            return


def signed(draft: Draft, span: Span[Duration]) -> dict[str, str]:
    """The amounts of a duration, negated after ``subtract`` or before ``ago`` and ``before``."""
    back = draft.reading.word(span.end) in _BACKWARDS_AFTER or draft.reading.word(span.start - 1) in _BACKWARDS_BEFORE
    return {unit: f"-{amount}" if back else amount for unit, amount in span.value.items()}


def _allows(slot: Slot, amount: str) -> bool:
    return slot.minimum is None or slot.minimum <= float(amount)


def _take(draft: Draft, span: Span[Duration]) -> None:
    """Take the amount and its direction word; ``business`` stays, because the tool must account for it."""
    for index in range(span.start, span.end):
        if draft.reading.word(index) not in _QUALIFYING:
            draft.take(index)
    if draft.reading.word(span.start - 1) in _BACKWARDS_BEFORE | _FORWARDS:
        draft.take(span.start - 1)
    if draft.reading.word(span.end) in _BACKWARDS_AFTER | _FORWARDS:
        draft.take(span.end)


@dataclass(slots=True)
class _Mention:
    """A moment in the clause with its position, role and value."""

    start: int
    end: int
    role: str
    moment: Moment
    value: Value | None = None


def bind_moments(draft: Draft, helper: Helper) -> None:
    """Bind dates, datetimes and times of day, including those that another tool must find first (``today``)."""
    slots = draft.open(*_MOMENTS)
    if not slots:
        return
    mentions = _mentions(draft, helper)
    needed = [slot for slot in slots if slot.required]
    if not mentions:
        _unmentioned(draft, slots, helper)
    elif len(mentions) == 1 and len(needed) == 2:
        _half_open(draft, needed, mentions[0], helper)
    elif len(mentions) == 1 or (len(mentions) <= len(slots) and _related(draft, mentions)):
        pairs = _matched(needed if len(needed) >= len(mentions) else slots, mentions)
        _overnight(draft, pairs, helper)
        for slot, mention in pairs:
            _put(draft, slot, mention, helper, related=len(mentions) > 1)


def _overnight(draft: Draft, pairs: Sequence[tuple[Slot, _Mention]], helper: Helper) -> None:
    """From 22:00 to 06:00: the earlier time of day is on the next day."""
    if len(pairs) != 2 or any(mention.moment.kind != "clock" or mention.value for _, mention in pairs):
        return
    by_slot = {slot.name: mention for slot, mention in pairs}
    start, end = (by_slot[slot.name] for slot in _ordered([slot for slot, _ in pairs]))
    today = helper.now(Want.DATE, _zone_of(draft)) if end.moment.iso < start.moment.iso else None
    tomorrow = today and helper.shifted(today, {"days": "1"})
    if tomorrow:
        end.value = Found(tomorrow.step, Want.DATE, f"{{}}T{end.moment.iso}")


def _related(draft: Draft, mentions: Sequence[_Mention]) -> bool:
    """Whether the clause relates them: ``from … to``, ``between … and``; ``and`` alone does not."""
    first, second = mentions[0], mentions[-1]
    if draft.says(*_SINCE) and second.moment.kind == "relative":
        return True
    gap = [token.low for token in draft.reading.tokens[first.end : second.start] if token.low not in ("the", "a")]
    opening = draft.reading.before(first.start)
    return len(gap) == 1 and (gap[0] in _LEADING_ON or (gap[0] == "and" and opening in ("between", "from")))


def _mentions(draft: Draft, helper: Helper) -> list[_Mention]:
    found: list[_Mention] = []
    for span in draft.unused(draft.reading.moments):
        role = _ROLE_BY_WORD.get(draft.reading.before(span.start), "")
        mention = _Mention(span.start, span.end, role, span.value)
        found.append(_derived(draft, mention, helper) or mention)
    return _joined(draft, found)


def _joined(draft: Draft, mentions: list[_Mention]) -> list[_Mention]:
    """``3pm in London on 6 August 2026``: a separate time of day and date are one moment."""
    by_kind = {mention.moment.kind: mention for mention in mentions if mention.value is None}
    day, clock = by_kind.get("date"), by_kind.get("clock")
    if len(mentions) != 2 or day is None or clock is None or not draft.open(Kind.DATETIME):
        return mentions
    moment = Moment("datetime", f"{day.moment.iso}T{clock.moment.iso}", day.moment.unclear)
    draft.take(day.start - 1 if draft.reading.word(day.start - 1) == "on" else day.start, day.end)
    return [_Mention(clock.start, clock.end, clock.role, moment)]


def _derived(draft: Draft, mention: _Mention, helper: Helper) -> _Mention | None:
    """``30 days after 2024-01-15``, for a tool that has no parameter for the 30 days."""
    for span in draft.unused(draft.reading.durations):
        if any(draft.reading.word(index) in _QUALIFYING for index in range(span.start, span.end)):
            continue  # `shifted` does not add business days
        if span.end == mention.start - 1 and draft.reading.word(span.end) in ("after", "before", "from"):
            base = _value(mention.moment, Kind.DATE, helper)
            value = base and helper.shifted(base, signed(draft, span))
            if value:
                role = _ROLE_BY_WORD.get(draft.reading.before(span.start), "")
                return _Mention(span.start, mention.end, role, mention.moment, value)
    return None


def _unmentioned(draft: Draft, slots: Sequence[Slot], helper: Helper) -> None:
    pointing = next((i for i, t in enumerate(draft.reading.tokens) if t.low in _POINTING and draft.free(i)), None)
    if helper.previous is not None and pointing is not None and len(slots) == 1:
        want = Want.DATE if slots[0].kind is Kind.DATE else Want.DATETIME
        draft.put(slots[0], Found(helper.previous, want))
        draft.take(pointing)
    elif _counts_from_now(draft) and (now := helper.now(_precision(draft))):
        draft.put(next((slot for slot in slots if slot.required), slots[0]), now)
        draft.moments += 1
    elif draft.says("year") and len(slots) == 1:
        _year(draft, slots[0])


def _counts_from_now(draft: Draft) -> bool:
    """Whether a bound amount of time counts from now: ``in 90 days``, ``2 weeks ago``."""
    bound = any(slot.kind is Kind.AMOUNT_OF_TIME and slot.name in draft.arguments for slot in draft.card.slots)
    if not bound:
        return False
    spans = draft.reading.durations
    return any(
        draft.reading.word(span.end) == "ago"
        or draft.reading.word(span.start - 1) in ("in", "within")
        or (draft.reading.word(span.end) == "from" and draft.reading.word(span.end + 1) == "now")
        for span in spans
    )


def _precision(draft: Draft) -> Want:
    """The kind of moment to add to: a time for hours, a date for days."""
    bound = {slot.unit for slot in draft.card.slots if slot.name in draft.arguments}
    return Want.DATETIME if bound & {"hours", "minutes", "seconds"} else Want.DATE


def _year(draft: Draft, slot: Slot) -> None:
    """Bind a year alone as its first day, if the question is about the year."""
    years = [span for span in draft.unused(draft.reading.numbers) if len(span.value) == 4 and span.value.isdigit()]
    if len(years) == 1 and slot.kind is Kind.DATE and draft.says("leap"):
        draft.put(slot, Known(f"{years[0].value}-01-01"))
        draft.take(years[0].start)


def _half_open(draft: Draft, slots: Sequence[Slot], mention: _Mention, helper: Helper) -> None:
    """Bind one date where two are needed; the other is today (``until``, ``since``, ``born on``)."""
    left = [i for i, token in enumerate(draft.reading.tokens) if token.low in _LEFT and draft.free(i)]
    until = draft.reading.before(mention.start) in _UNTIL or bool(left)
    since = not until and draft.says(*_SINCE)
    if not until and not since:
        _put(draft, slots[0], mention, helper)
        return
    start, end = _ordered(slots)
    now = helper.now(Want.DATE if slots[0].kind is Kind.DATE else Want.DATETIME)
    if now is None:
        return
    _put(draft, end if until else start, mention, helper, related=True)
    draft.put(start if until else end, now)
    for place in left:
        draft.take(place)
    draft.moments += 1


def _ordered(slots: Sequence[Slot]) -> tuple[Slot, Slot]:
    first, second = slots[:2]
    return (second, first) if first.role == TO or second.role == FROM else (first, second)


def _matched(slots: Sequence[Slot], mentions: Sequence[_Mention]) -> list[tuple[Slot, _Mention]]:
    """Match by the roles from prepositions first, then by the order in the text."""
    pairs: list[tuple[Slot, _Mention]] = []
    left = list(slots)
    for mention in mentions:
        slot = next((slot for slot in left if mention.role and slot.role == mention.role), None)
        if slot:
            left.remove(slot)
            pairs.append((slot, mention))
    rest = [mention for mention in mentions if all(mention is not bound for _, bound in pairs)]
    return [*pairs, *zip(left, rest, strict=False)]


def _put(draft: Draft, slot: Slot, mention: _Mention, helper: Helper, *, related: bool = False) -> None:
    if mention.moment.unclear:
        draft.questions.append(mention.moment.unclear)
    bare = mention.moment.kind in ("date", "relative") and mention.value is None
    if bare and slot.kind is Kind.DATETIME and len(draft.card.of_kind(*_MOMENTS)) == 1 and mention.moment.iso != "0":
        return  # a time is required, but not given
    value = mention.value or _value(mention.moment, slot.kind, helper, _zone_of(draft))
    if value is None:
        return
    draft.put(slot, value)
    draft.take(mention.start, mention.end)
    draft.moments += 1
    place = draft.reading.place_before(mention.start)
    if related and place >= 0 and draft.reading.word(place) in _ROLE_BY_WORD:
        draft.take(place)


def _zone_of(draft: Draft) -> Value | None:
    """The time zone of the times in the clause, which decides what "today" is."""
    zones = draft.card.of_kind(Kind.ZONE)
    given = [slot for slot in zones if slot.role == FROM or len(zones) == 1]
    return draft.arguments.get(given[0].name) if given else None


def _value(moment: Moment, kind: Kind, helper: Helper, zone: Value | None = None) -> Value | None:
    if moment.kind == "relative":
        now = helper.now(Want.DATETIME if kind is Kind.DATETIME else Want.DATE)
        return now if moment.iso == "0" or now is None else helper.shifted(now, {"days": moment.iso})
    if moment.kind == "clock":
        if kind is Kind.CLOCK:
            return Known(moment.iso)
        today = helper.now(Want.DATE, zone) if kind is Kind.DATETIME else None
        return today and Found(today.step, Want.DATE, f"{{}}T{moment.iso}")
    if kind is Kind.DATE and moment.kind == "datetime":
        return Known(moment.iso[:10])
    return Known(moment.iso)
