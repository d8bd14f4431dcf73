"""Business days: weekdays or, with a country, its working days without public holidays."""

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
    """Says which days are business days."""

    note: str
    """A note for the model on which days do not count."""

    def is_weekend(self, day: dt.date) -> bool:
        """Whether ``day`` is part of the weekend."""

    def holiday(self, day: dt.date) -> str:
        """The name of the public holiday on ``day``; empty if there is none."""

    def is_worked(self, day: dt.date) -> bool:
        """Whether ``day`` is a business day."""

    def worked_days(self, start: dt.date, end: dt.date) -> int:
        """The number of business days from ``start`` up to, but not including, the later ``end``."""

    def advance(self, start: dt.date, days: int) -> dt.date:
        """The business day ``days`` business days after ``start``, or before it if negative; ``start`` for 0."""


def business_days_between(calendar: Calendar, start: dt.date, end: dt.date) -> int:
    """The number of business days from ``start`` to ``end``, negative if that is earlier; the inverse of ``advance``.

    The end does not count, unless it is a business day and the start is not: from Sunday to Monday is one business day.
    """
    if end < start:
        return -business_days_between(calendar, end, start)
    reached = calendar.is_worked(end) and not calendar.is_worked(start)
    return calendar.worked_days(start, end) + reached


class Weekdays:
    """A calendar of Mondays to Fridays, without holidays."""

    note = "Saturdays and Sundays are left out; public holidays are not considered."

    def is_weekend(self, day: dt.date) -> bool:
        """Whether ``day`` is a Saturday or Sunday."""
        return day.weekday() >= 5

    def holiday(self, day: dt.date) -> str:
        """Always empty: holidays are unknown."""
        return ""

    def is_worked(self, day: dt.date) -> bool:
        """Whether ``day`` is from Monday to Friday."""
        return not self.is_weekend(day)

    def worked_days(self, start: dt.date, end: dt.date) -> int:
        """Count whole weeks, and the rest day by day."""
        weeks, rest = divmod((end - start).days, 7)
        return 5 * weeks + sum((start.weekday() + offset) % 7 < 5 for offset in range(rest))

    def advance(self, start: dt.date, days: int) -> dt.date:
        """Move by whole weeks, and the rest day by day."""
        direction = 1 if days > 0 else -1
        weeks, rest = divmod(abs(days), 5)
        try:
            day = start
            while days and self.is_weekend(day):  # start from the previous business day, seen in that direction
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
        country: The ISO 3166 code, such as FR.
        subdivision: A state or region of the country, such as CA.

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
        """Whether ``day`` is in the country's weekend of that year."""
        return day.weekday() in self._year(day).weekend

    def holiday(self, day: dt.date) -> str:
        """The holiday's name from the library, observed days included."""
        return self._year(day).get(day) or ""

    def is_worked(self, day: dt.date) -> bool:
        """Whether ``day`` is neither a holiday nor a weekend day, unless that day makes up for a bridge day."""
        year = self._year(day)
        return day not in year and (day.weekday() not in year.weekend or day in year.weekend_workdays)

    def worked_days(self, start: dt.date, end: dt.date) -> int:
        """Count day by day."""
        return sum(self.is_worked(start + offset * DAY) for offset in range((end - start).days))

    def advance(self, start: dt.date, days: int) -> dt.date:
        """Move day by day, as long as the library knows the holidays."""
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
