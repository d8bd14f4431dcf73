"""Parses ISO 8601 as people write it: dates, optionally with a time and an offset."""

from __future__ import annotations

import datetime as dt
import re

from react_run.support import dataclass
from react_toolsets.answers import Refusal

_DATE = r"""
    (?P<year>[0-9]{4})
    (?: (?P<sep>[-/]) (?P<month>[0-9]{1,2}) (?P=sep) (?P<day>[0-9]{1,2}) | (?P<mm>[0-9]{2}) (?P<dd>[0-9]{2}) )
"""
_TIME = r"""
    (?P<hour>[0-9]{2}|[0-9](?=:))
    (?: :? (?P<minute>[0-9]{2}) (?: :? (?P<second>[0-9]{2}) (?: [.,] (?P<fraction>[0-9]+) )? )? )?
"""
_OFFSET = r"""
    \s* (?: Z | UTC | (?P<sign>[+-]) (?P<hours>[0-9]{2})
    (?: :? (?P<minutes>[0-9]{2}) (?: :? (?P<seconds>[0-9]{2}) )? )? )
"""
_ONLY_DATE = re.compile(_DATE, re.VERBOSE)
_DATE_AND_TIME = re.compile(rf"{_DATE} (?: (?:T|\s+) {_TIME} (?P<offset>{_OFFSET})? )?", re.VERBOSE | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A parsed text: a date, optionally with a time of day and an offset from UTC."""

    day: dt.date
    time: dt.time | None = None
    offset: dt.timedelta | None = None

    @property
    def wall(self) -> dt.datetime:
        """Date and time without a zone; midnight if there is no time."""
        return dt.datetime.combine(self.day, self.time or dt.time())


def read_date(text: str, parameter: str) -> dt.date:
    """Parse ``text`` as a date.

    Raises:
        Refusal: ``invalid_date``.
    """
    match = _ONLY_DATE.fullmatch(_plain(text))
    if match is None:
        raise Refusal(
            "invalid_date",
            f"{parameter} {text.strip()[:40]!r} is not a date. Write year, month and day, such as 2026-08-06, without "
            "a time; get_current_time tells today's date.",
        )
    try:
        return _date(match)
    except ValueError as error:
        raise Refusal("invalid_date", f"{parameter} {text.strip()[:40]!r} does not exist: {error}.") from None


def read_datetime(text: str, parameter: str, *, needs_time: bool) -> Written:
    """Parse ``text`` as a date with an optional time and offset.

    Args:
        text: The text.
        parameter: The name of the parameter, for messages.
        needs_time: Whether to refuse a date without a time.

    Raises:
        Refusal: ``invalid_datetime``, or ``date_range_exceeded`` for 24:00 on 9999-12-31.
    """
    match = _DATE_AND_TIME.fullmatch(_plain(text))
    if match is None or (needs_time and match["hour"] is None):
        raise Refusal(
            "invalid_datetime",
            f"{parameter} {text.strip()[:60]!r} is not a date with a time. Write it as 2026-08-06T14:30 (24 hours), "
            "followed by Z or an offset such as +02:00 only if one was given.",
        )
    try:
        return _written(match)
    except OverflowError:
        raise Refusal("date_range_exceeded", f"{parameter} {text.strip()[:60]!r} is after the year 9999.") from None
    except ValueError as error:
        raise Refusal("invalid_datetime", f"{parameter} {text.strip()[:60]!r} does not exist: {error}.") from None


def _plain(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def _date(match: re.Match[str]) -> dt.date:
    return dt.date(int(match["year"]), int(match["month"] or match["mm"]), int(match["day"] or match["dd"]))


def _written(match: re.Match[str]) -> Written:
    day = _date(match)
    if match["hour"] is None:
        return Written(day=day)
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    microsecond = int((match["fraction"] or "")[:6].ljust(6, "0"))
    if second == 60:
        raise ValueError("leap seconds are not counted; write second 59, or the next minute")
    if hour == 24:
        if minute or second or microsecond:
            raise ValueError("24:00 is the last moment of a day")
        day, hour = day + dt.timedelta(days=1), 0
    return Written(day=day, time=dt.time(hour, minute, second, microsecond), offset=_offset(match))


def _offset(match: re.Match[str]) -> dt.timedelta | None:
    if not match["offset"]:
        return None
    hours, minutes, seconds = (int(match[part] or 0) for part in ("hours", "minutes", "seconds"))
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError("an offset from UTC is at most 23:59:59")
    size = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -size if match["sign"] == "-" else size
