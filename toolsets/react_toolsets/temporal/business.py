"""Business days: weekdays, and with a country its public holidays."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import TYPE_CHECKING, Protocol

from react_toolsets.answers import Refusal
from react_toolsets.temporal.moments import out_of_range

if TYPE_CHECKING:
    from holidays import HolidayBase

DAY = dt.timedelta(days=1)


class Calendar(Protocol):
    """Which days are worked."""

    note: str
    """What is left out, in words for the model."""

    def is_weekend(self, day: dt.date) -> bool:
        """Whether ``day`` is part of the weekend."""

    def holiday(self, day: dt.date) -> str:
        """The name of the public holiday that ``day`` is, if it is one."""

    def is_worked(self, day: dt.date) -> bool:
        """Whether ``day`` is a business day."""

    def worked_days(self, start: dt.date, end: dt.date) -> int:
        """How many business days there are from ``start`` up to, but not including, the later ``end``."""

    def advance(self, start: dt.date, days: int) -> dt.date:
        """The business day that comes so many after ``start``, or before it when negative; ``start`` itself for 0."""


def business_days_between(calendar: Calendar, start: dt.date, end: dt.date) -> int:
    """How many business days lead from ``start`` to ``end``, negative when it is earlier: the inverse of ``advance``.

    The end is not counted, except when the start is not a business day and the end is: from Sunday it takes one
    business day to reach Monday.
    """
    if end < start:
        return -business_days_between(calendar, end, start)
    reached = calendar.is_worked(end) and not calendar.is_worked(start)
    return calendar.worked_days(start, end) + reached


class Weekdays:
    """Mondays to Fridays; holidays are not known."""

    note = "Saturdays and Sundays are left out; public holidays are not considered."

    def is_weekend(self, day: dt.date) -> bool:
        """Saturdays and Sundays."""
        return day.weekday() >= 5

    def holiday(self, day: dt.date) -> str:
        """None is known."""
        return ""

    def is_worked(self, day: dt.date) -> bool:
        """Every other day."""
        return not self.is_weekend(day)

    def worked_days(self, start: dt.date, end: dt.date) -> int:
        """By whole weeks, and the rest day by day."""
        weeks, rest = divmod((end - start).days, 7)
        return 5 * weeks + sum((start.weekday() + offset) % 7 < 5 for offset in range(rest))

    def advance(self, start: dt.date, days: int) -> dt.date:
        """By whole weeks, and the rest day by day."""
        direction = 1 if days > 0 else -1
        weeks, rest = divmod(abs(days), 5)
        try:
            day = start
            while days and self.is_weekend(day):  # as if it were the business day before, seen in that direction
                day -= direction * DAY
            day += direction * weeks * 7 * DAY
            while rest:
                day += direction * DAY
                rest -= self.is_worked(day)
        except OverflowError:
            raise out_of_range() from None
        return day


class CountryCalendar:
    """The weekends and public holidays of a country, from the ``holidays`` library.

    Args:
        country: Its ISO 3166 code, such as FR.
        subdivision: A state or region of it, such as CA.

    Raises:
        ValueError: The library is not installed, or does not know the country.
    """

    def __init__(self, country: str, subdivision: str = "") -> None:
        self._country = country.upper()
        self._subdivision = subdivision
        known = _holidays(self._country, subdivision, dt.MAXYEAR)
        self._years = range(known.start_year, known.end_year + 1)
        where = f"{self._country} {subdivision}".strip()
        self.note = f"Weekends and public holidays of {where} are left out."

    def is_weekend(self, day: dt.date) -> bool:
        """By the weekend of that country in that year."""
        return day.weekday() in self._year(day).weekend

    def holiday(self, day: dt.date) -> str:
        """By the library; observed days included."""
        return self._year(day).get(day) or ""

    def is_worked(self, day: dt.date) -> bool:
        """No weekend unless it makes up for a bridge day, and no holiday."""
        year = self._year(day)
        return day not in year and (day.weekday() not in year.weekend or day in year.weekend_workdays)

    def worked_days(self, start: dt.date, end: dt.date) -> int:
        """Day by day."""
        return sum(self.is_worked(start + offset * DAY) for offset in range((end - start).days))

    def advance(self, start: dt.date, days: int) -> dt.date:
        """Day by day, until the library knows no more holidays."""
        step, left, day = (DAY if days > 0 else -DAY), abs(days), start
        while left:
            day += step
            left -= self.is_worked(day)
        return day

    def _year(self, day: dt.date) -> HolidayBase:
        if day.year not in self._years:
            raise Refusal(
                "date_range_exceeded",
                f"Public holidays of {self._country} are known for {self._years[0]} to {self._years[-1]} only, not for "
                f"{day.year}. Use a date within them.",
            )
        return _holidays(self._country, self._subdivision, day.year)


@cache
def _holidays(country: str, subdivision: str, year: int) -> HolidayBase:
    try:
        from holidays import country_holidays
    except ModuleNotFoundError:
        raise ValueError("holidays of a country need the holidays library: pip install 'react-run[holidays]'") from None
    try:
        return country_holidays(country, subdiv=subdivision or None, years=year)
    except NotImplementedError as error:
        raise ValueError(f"{error}; use ISO 3166 codes, such as country: US with subdivision: CA") from None
