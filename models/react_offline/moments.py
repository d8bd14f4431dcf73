"""Parses dates, times of day and durations as people write them into ISO form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from react_offline.numbers import number_at, signed_number_at
from react_offline.text import Token
from react_run.support import dataclass

_MONTH_NAMES = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct"
    "|november nov|december dec"
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split("|"), start=1) for name in names.split()}
_DAYS_OF = re.compile(
    r"(?:howmany )?days (?:(?:are )?(?:there )?in|does) (?:a |the (?:month|year)(?: of)? )?(?:([a-z]+) (?:, |of )?)?"
    r"([12]\d{3})(?: have)?"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_FROM_TODAY = re.compile(
    r"(?:(?:what|when|whatday)(?: date| day)? is )?(?:the )?(?:date of )?(?:the )?"
    rf"(next|coming|upcoming|last|previous) ({'|'.join(_WEEKDAYS)})(?: please)?"
)
_ORDINAL = ("st", "nd", "rd", "th")
UNITS = {
    name: unit
    for unit, names in {
        "years": "year years yr yrs",
        "months": "month months",
        "weeks": "week weeks wk wks",
        "days": "day days",
        "hours": "hour hours hr hrs",
        "minutes": "minute minutes min mins",
        "seconds": "second seconds sec secs",
    }.items()
    for name in names.split()
}
"""The words for calendar and clock units, each with its canonical plural."""

RELATIVE = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}
"""Days from now."""

DAY_KINDS = {"business", "working", "work", "calendar", "week"}
"""Words that may come between a number and ``days``."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date (``2026-03-01``), a date with a time, or a time of day (``14:30``), as ISO text.

    ``unclear`` is the question to ask if it is ambiguous.
    """

    kind: str
    iso: str
    unclear: str = ""


_SINGULAR = {word for word, unit in UNITS.items() if word != unit}
MomentRead = tuple[Moment, int]


def moment_at(tokens: Sequence[Token], index: int) -> MomentRead | None:
    """The date, datetime or time of day that starts at ``index``, and the index after it."""
    token = tokens[index]
    if token.kind == "datetime":
        return Moment("datetime", _iso_datetime(token.text)), index + 1
    if token.kind == "clock" or token.low == "noon":
        clock = _clock(token.low)
        return (Moment("clock", clock), index + 1) if clock else None
    read = _date_at(tokens, index)
    return _with_time(*read, tokens) if read else None


def days_of_period(tokens: Sequence[Token]) -> str:
    """``days in February 2028`` or ``days in 2028`` rewritten as days between two dates; "" for anything else."""
    found = _DAYS_OF.fullmatch(" ".join(token.low for token in tokens))
    month = _MONTHS.get(found[1], 0) if found and found[1] else 12
    if not found or not month:
        return ""
    start = f"{month:02}" if found[1] else "01"
    return f"days from {found[2]}-{start}-01 to {int(found[2]) + month // 12}-{month % 12 + 1:02}-01"


def weekday_from_today(tokens: Sequence[Token]) -> tuple[str, int] | None:
    """The weekday in ``next friday``, and 1 for the first one after today or -1 for the last one before it."""
    found = _WEEKDAY_FROM_TODAY.fullmatch(" ".join(token.low for token in tokens if token.kind != "punct"))
    return (found[2], -1 if found[1] in ("last", "previous") else 1) if found else None


def days_to(weekday: str, direction: int, day: str) -> int:
    """The number of days from ``day`` (an ISO date) to the next or previous ``weekday``; never 0."""
    away = (_WEEKDAYS.index(weekday) - date.fromisoformat(day).weekday()) * direction % 7
    return direction * (away or 7)


def _iso_datetime(text: str) -> str:
    text = re.sub(r"(\d{2})\s+(?=\d{2}:)", r"\1T", text, count=1).upper().replace(",", ".")
    return re.sub(r"(?<!\s)\s++(?=[Z+-])", "", text)


def _clock(text: str) -> str:
    if text == "noon":
        return "12:00"
    match = re.fullmatch(r"(\d{1,2})(?::(\d{2})(:\d{2}(?:\.\d+)?)?)?\s*(?:([ap])\.?m\.?)?", text)
    if not match:
        return ""
    hour, minute, second, half = int(match[1]), match[2] or "00", match[3] or "", match[4]
    if half:
        if not 1 <= hour <= 12:
            return ""
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02}:{minute}{second}" if hour < 24 and minute < "60" else ""


def _with_time(moment: Moment, index: int, tokens: Sequence[Token]) -> MomentRead:
    after = index
    while after < len(tokens) and tokens[after].low in ("at", ","):
        after += 1
    timed = after < len(tokens) and (tokens[after].kind == "clock" or tokens[after].low == "noon")
    clock = _clock(tokens[after].low) if timed else ""
    if not clock:
        return moment, index
    return Moment("datetime", f"{moment.iso}T{clock}", moment.unclear), after + 1


def _date_at(tokens: Sequence[Token], index: int) -> MomentRead | None:
    token = tokens[index]
    if token.kind == "date":
        moment = _numeric_date(token.text)
        return (moment, index + 1) if moment else None
    return _day_month_year(tokens, index) or _month_day_year(tokens, index)


def _numeric_date(text: str) -> Moment | None:
    a, b, c = (int(part) for part in re.split(r"[./-]", text))
    if len(re.split(r"[./-]", text)[0]) == 4:
        return Moment("date", f"{a:04}-{b:02}-{c:02}")
    if a > 12 or b > 12 or a == b:
        day, month = (a, b) if a > 12 or a == b else (b, a)
        return _date(c, month, day)
    question = f"Is {text} the date {c:04}-{b:02}-{a:02} or {c:04}-{a:02}-{b:02}? Please write it as year-month-day."
    return Moment("date", f"{c:04}-{b:02}-{a:02}", question)


def _date(year: int, month: int, day: int) -> Moment | None:
    try:
        return Moment("date", date(year, month, day).isoformat())
    except ValueError:
        return Moment("date", f"{year:04}-{month:02}-{day:02}") if 1 <= month <= 12 and 1 <= day <= 31 else None


def _day_month_year(tokens: Sequence[Token], index: int) -> MomentRead | None:
    day, index = _day_at(tokens, index)
    if day is None:
        return None
    if _low(tokens, index) == "of":
        index += 1
    month = _MONTHS.get(_low(tokens, index))
    return _completed(tokens, index + 1, month, day) if month else None


def _month_day_year(tokens: Sequence[Token], index: int) -> MomentRead | None:
    month = _MONTHS.get(_low(tokens, index))
    if not month:
        return None
    index += 1
    if _low(tokens, index) == "the":
        index += 1
    day, index = _day_at(tokens, index)
    return _completed(tokens, index, month, day) if day is not None else None


def _completed(tokens: Sequence[Token], index: int, month: int, day: int) -> MomentRead | None:
    """The date with the year after it; without a year, the user is asked."""
    after = index + 1 if _low(tokens, index) in (",", ".", "of") else index
    if after < len(tokens) and re.fullmatch(r"\d{4}", tokens[after].text):
        moment = _date(int(tokens[after].text), month, day)
        return (moment, after + 1) if moment else None
    return Moment("date", "", f"Which year? Please write the date as year-month-day ({month:02}-{day:02} of …)."), index


def _day_at(tokens: Sequence[Token], index: int) -> tuple[int | None, int]:
    text = _low(tokens, index)
    if not re.fullmatch(r"\d{1,2}", text) or not 1 <= int(text) <= 31:
        return None, index
    index += 1
    if _low(tokens, index) in _ORDINAL and not tokens[index].spaced:
        index += 1
    return int(text), index


def _low(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].low if index < len(tokens) else ""


Duration = Mapping[str, str]
"""An amount of time by unit, such as ``{"years": "1", "days": "10"}``."""


def duration_at(tokens: Sequence[Token], index: int) -> tuple[Duration, int] | None:
    """The duration that starts at ``index`` (``1 year, 2 months and 10 business days``), and the index after it."""
    amounts: dict[str, str] = {}
    end = index
    while read := _amount_at(tokens, index):
        unit, amount, after = read
        if unit in amounts:
            break
        amounts[unit] = amount
        index = end = after
        while _low(tokens, index) in (",", "and"):
            index += 1
    return (amounts, end) if amounts else None


def _amount_at(tokens: Sequence[Token], index: int) -> tuple[str, str, int] | None:
    if _low(tokens, index) in ("a", "an") and (unit := UNITS.get(_low(tokens, index + 1))):
        return unit, "1", index + 2
    if _low(tokens, index) in _SINGULAR and _low(tokens, index + 1) in ("before", "after"):
        return UNITS[_low(tokens, index)], "1", index + 1  # the day after tomorrow
    found = number_at(tokens, index) if _low(tokens, index) not in ("-", "minus") else signed_number_at(tokens, index)
    if not found:
        return None
    amount, index = found
    if _low(tokens, index) in DAY_KINDS and UNITS.get(_low(tokens, index + 1)) == "days":
        index += 1
    unit = UNITS.get(_low(tokens, index))
    return (unit, amount, index + 1) if unit else None
