"""Periods: adding years to minutes, and the age between two dates."""

from __future__ import annotations

import calendar
import datetime as dt

from react_run.support import dataclass
from react_toolsets.temporal.moments import in_local_time, in_zone, out_of_range
from react_toolsets.temporal.zones import UTC, Zone


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """An amount of calendar time; amounts may be negative. Days and longer follow the calendar, hours the clock."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0

    def of_calendar(self) -> dict[str, int]:
        """The parts that can be added to a date."""
        return {"years": self.years, "months": self.months, "weeks": self.weeks, "days": self.days}

    def parts(self) -> dict[str, int]:
        """All parts."""
        return {**self.of_calendar(), "hours": self.hours, "minutes": self.minutes}


def add_to_date(day: dt.date, period: Period) -> tuple[dt.date, bool]:
    """``day`` moved by years and months, capped at the month's end, then by weeks and days; and whether it was capped.

    Raises:
        Refusal: ``date_range_exceeded``.
    """
    moved = _add_months(day, 12 * period.years + period.months)
    try:
        return moved + dt.timedelta(days=7 * period.weeks + period.days), moved.day != day.day
    except OverflowError:
        raise out_of_range() from None


def add_to_moment(moment: dt.datetime, zone: Zone, period: Period) -> tuple[dt.datetime, bool]:
    """``moment`` moved by the calendar parts in ``zone``, then by hours and minutes of elapsed time.

    Raises:
        Refusal: ``date_range_exceeded``, or the clocks skip or repeat the time between the two steps.
    """
    day, cut = add_to_date(moment.date(), period)
    wall = dt.datetime.combine(day, moment.time())
    arrived = in_local_time(wall, zone, like=moment.utcoffset()) if any(period.of_calendar().values()) else moment
    if not (period.hours or period.minutes):
        return arrived, cut
    try:
        passed = in_zone(arrived, UTC) + dt.timedelta(hours=period.hours, minutes=period.minutes)
    except OverflowError:
        raise out_of_range() from None
    return in_zone(passed, zone), cut


def age(start: dt.datetime, end: dt.datetime) -> dict[str, int]:
    """Whole years, months and days from ``start`` to the later ``end``, both in the same zone."""
    months = 12 * (end.year - start.year) + end.month - start.month
    if _reached(start, months) > end:
        months -= 1
    days = (end - _reached(start, months)).days
    return {"years": months // 12, "months": months % 12, "days": days}


def _reached(start: dt.datetime, months: int) -> dt.datetime:
    return dt.datetime.combine(_add_months(start.date(), months), start.time())


def _add_months(day: dt.date, months: int) -> dt.date:
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise out_of_range()
    last = calendar.monthrange(year, month + 1)[1]
    return dt.date(year, month + 1, min(day.day, last))
