"""Computes the fields of each tool's result."""

from __future__ import annotations

import datetime as dt

from react_toolsets.answers import Fields, Refusal
from react_toolsets.temporal.business import Calendar, business_days_between
from react_toolsets.temporal.iso import Written
from react_toolsets.temporal.moments import in_zone, moment_of, offset_of, seconds_between, utc_text
from react_toolsets.temporal.periods import Period, add_to_date, add_to_moment, age
from react_toolsets.temporal.zones import Zone

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CUT = "That month is shorter, so its last day was taken."


def time_now(now: dt.datetime, zone: Zone) -> Fields:
    """The current time in ``zone``."""
    moment = in_zone(now, zone).replace(microsecond=0)
    return {**_moment(moment, zone), "weekday": WEEKDAYS[moment.weekday()], "utc_datetime": utc_text(moment)}


def converted(written: Written, source: Zone, target: Zone) -> Fields:
    """Convert ``written``, a time in ``source``, to a time in ``target``."""
    start, note = moment_of(written, source)
    moment = in_zone(start, target)
    return {
        "input": _moment(start, source),
        **_moment(moment, target),
        "weekday": WEEKDAYS[moment.weekday()],
        "utc_datetime": utc_text(moment),
        **_noted(note),
    }


def date_info(day: dt.date, calendar: Calendar) -> Fields:
    """Weekday, week number and other facts about a date."""
    iso = day.isocalendar()
    holiday = calendar.holiday(day)
    return {
        **_date(day, calendar),
        "iso_week": iso.week,
        "iso_year": iso.year,
        "day_of_year": day.timetuple().tm_yday,
        "is_leap_year": day.year % 4 == 0 and (day.year % 100 != 0 or day.year % 400 == 0),
        **({"holiday": holiday} if holiday else {}),
    }


def moved_date(day: dt.date, period: Period, calendar: Calendar) -> Fields:
    """A date moved by a calendar period.

    Raises:
        Refusal: ``invalid_datetime``: hours cannot be added to a date; or ``date_range_exceeded``.
    """
    if period.hours or period.minutes:
        raise Refusal("invalid_datetime", "Hours and minutes need a time of day: give date as 2026-08-06T14:30.")
    result, cut = add_to_date(day, period)
    note = _CUT if cut else ""
    return {"input_date": day.isoformat(), **_date(result, calendar), "delta": period.of_calendar(), **_noted(note)}


def moved_moment(written: Written, zone: Zone, period: Period, calendar: Calendar) -> Fields:
    """A moment moved by a period."""
    start, note = moment_of(written, zone)
    result, cut = add_to_moment(start, zone, period)
    return {
        "input_datetime": start.isoformat(),
        **_moment(result, zone),
        "weekday": WEEKDAYS[result.weekday()],
        "is_weekend": calendar.is_weekend(result.date()),
        "delta": period.parts(),
        **_noted(" ".join(filter(None, (note, _CUT if cut else "")))),
    }


def moved_by_business_days(day: dt.date, days: int, calendar: Calendar) -> Fields:
    """``day`` moved by business days."""
    result = calendar.advance(day, days)
    return {"input_date": day.isoformat(), **_date(result, calendar), "business_days": days, "note": calendar.note}


def days_between(start: dt.date, end: dt.date, *, inclusive: bool) -> Fields:
    """The number of days from one date to another."""
    days = (end - start).days
    if inclusive:
        days += 1 if days >= 0 else -1
    return {**_range(start, end), "calendar_days": days, "inclusive": inclusive}


def worked_between(start: dt.date, end: dt.date, calendar: Calendar, *, inclusive: bool) -> Fields:
    """The number of business days from one date to another."""
    if inclusive:
        first, last = min(start, end), max(start, end)
        days = calendar.worked_days(first, last) + calendar.is_worked(last)
        days = days if start <= end else -days
    else:
        days = business_days_between(calendar, start, end)
    return {**_range(start, end), "business_days": days, "inclusive": inclusive, "note": calendar.note}


def duration(start: Written, end: Written, zone: Zone | None) -> Fields:
    """The time between two moments, or two dates if ``zone`` is ``None``; negative if the end is earlier."""
    first, last = ((written.wall, "") if zone is None else moment_of(written, zone) for written in (start, end))
    passed = last[0] - first[0] if zone is None else seconds_between(first[0], last[0])
    sign = -1 if passed < dt.timedelta() else 1
    walls = sorted(moment.replace(tzinfo=None) for moment, _ in (first, last))
    parts = _parts(abs(passed))
    return {
        "start": first[0].isoformat() if zone else start.day.isoformat(),
        "end": last[0].isoformat() if zone else end.day.isoformat(),
        "seconds": _number(passed),
        "breakdown": {name: sign * amount for name, amount in parts.items()},
        "text": ("-" if sign < 0 else "") + _words(parts),
        "calendar": {name: sign * amount for name, amount in age(*walls).items()},
        **_noted(" ".join(filter(None, (first[1], last[1])))),
    }


def _parts(passed: dt.timedelta) -> dict[str, int | float]:
    minutes, seconds = divmod(passed.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    rest = _number(dt.timedelta(seconds=seconds, microseconds=passed.microseconds))
    return {"days": passed.days, "hours": hours, "minutes": minutes, "seconds": rest}


def _number(passed: dt.timedelta) -> int | float:
    return passed.total_seconds() if passed.microseconds else passed // dt.timedelta(seconds=1)


def _words(parts: dict[str, int | float]) -> str:
    said = [f"{amount} {name if amount != 1 else name[:-1]}" for name, amount in parts.items() if amount]
    return " ".join(said) or "0 seconds"


def _moment(moment: dt.datetime, zone: Zone) -> dict[str, object]:
    return {"datetime": moment.isoformat(), "timezone": zone.name, "utc_offset": offset_of(moment)}


def _date(day: dt.date, calendar: Calendar) -> dict[str, object]:
    return {"date": day.isoformat(), "weekday": WEEKDAYS[day.weekday()], "is_weekend": calendar.is_weekend(day)}


def _range(start: dt.date, end: dt.date) -> dict[str, object]:
    return {"start_date": start.isoformat(), "end_date": end.isoformat()}


def _noted(note: str) -> dict[str, object]:
    return {"note": note} if note else {}
