"""The temporal tools against dateutil and zoneinfo, and against anything one can type."""

from __future__ import annotations

import datetime as dt
import time
from zoneinfo import ZoneInfo

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.toolsets.calling import call, code_of

from react_toolsets.temporal import TemporalToolset

TEMPORAL = TemporalToolset(timezone="Europe/Paris")
CODES = {
    "ambiguous_local_time", "date_range_exceeded", "invalid_arguments", "invalid_date", "invalid_datetime",
    "nonexistent_local_time", "unknown_timezone",
}  # fmt: skip
ZONES = [
    "Africa/Abidjan", "Africa/Cairo", "Africa/Casablanca", "Africa/Johannesburg", "Africa/Monrovia",
    "America/Anchorage", "America/Bogota", "America/Caracas", "America/Chicago", "America/Denver",
    "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Nuuk", "America/Sao_Paulo",
    "America/St_Johns", "America/Vancouver", "Antarctica/Troll", "Asia/Dhaka", "Asia/Dubai", "Asia/Gaza",
    "Asia/Hong_Kong", "Asia/Kabul", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Pyongyang", "Asia/Tehran",
    "Asia/Tokyo", "Atlantic/Azores", "Australia/Lord_Howe", "Australia/Sydney", "Europe/Dublin",
    "Europe/Istanbul", "Europe/London", "Europe/Moscow", "Europe/Paris", "Pacific/Apia", "Pacific/Auckland",
    "Pacific/Chatham", "Pacific/Kiritimati",
]  # fmt: skip
instants = st.datetimes(dt.datetime(1900, 1, 2), dt.datetime(2100, 1, 1)).map(lambda at: at.replace(tzinfo=dt.UTC))
dates = st.dates()
amounts = st.integers(-50, 50)


@pytest.mark.parametrize("zone", ZONES)
def test_an_instant_is_where_zoneinfo_puts_it(zone: str) -> None:
    other = ZONES[(ZONES.index(zone) * 7 + 3) % len(ZONES)]

    @settings(max_examples=15, deadline=None)
    @given(instants)
    def check(instant: dt.datetime) -> None:
        local = instant.astimezone(ZoneInfo(zone))
        result = call(TEMPORAL, "convert_datetime", datetime=local.isoformat(), from_timezone=zone, to_timezone=other)
        assert result["datetime"] == instant.astimezone(ZoneInfo(other)).isoformat()
        assert "note" not in result
        wall = local.replace(tzinfo=None)
        plain = call(TEMPORAL, "convert_datetime", datetime=wall.isoformat(), from_timezone=zone, to_timezone="UTC")
        twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
        assert code_of(plain) == ("ambiguous_local_time" if twice else "")
        if not twice:
            assert dt.datetime.fromisoformat(plain["datetime"]) == instant

    check()


@settings(max_examples=150, deadline=None)
@given(dates, amounts, st.integers(-500, 500), amounts, st.integers(-1000, 1000))
def test_calendar_addition_is_that_of_dateutil(day: dt.date, years: int, months: int, weeks: int, days: int) -> None:
    result = call(
        TEMPORAL, "add_calendar_period", date=day.isoformat(), years=years, months=months, weeks=weeks, days=days
    )
    try:
        expected = day + relativedelta(years=years, months=months) + dt.timedelta(weeks=weeks, days=days)
    except (OverflowError, ValueError):
        assert code_of(result) == "date_range_exceeded"
    else:
        assert result["date"] == expected.isoformat()


@settings(max_examples=150, deadline=None)
@given(dates, dates)
def test_an_age_added_to_the_start_gives_the_end(start: dt.date, end: dt.date) -> None:
    first, last = sorted((start, end))
    result = call(TEMPORAL, "duration_between", start_datetime=first.isoformat(), end_datetime=last.isoformat())
    assert first + relativedelta(**result["calendar"]) == last
    assert result["seconds"] == (last - first).days * 86400


@settings(max_examples=200, deadline=None)
@given(st.dates(dt.date(1000, 1, 1), dt.date(9000, 1, 1)), st.integers(-400, 400))
def test_adding_and_counting_business_days_are_inverse(start: dt.date, days: int) -> None:
    end = call(TEMPORAL, "add_business_days", date=start.isoformat(), days=days)["date"]
    back = call(TEMPORAL, "business_days_between", start_date=start.isoformat(), end_date=end)
    assert back["business_days"] == days
    turned = call(TEMPORAL, "business_days_between", start_date=end, end_date=start.isoformat())
    assert turned["business_days"] == -days


@settings(max_examples=100, deadline=None)
@given(dates, st.integers(0, 60))
def test_business_days_are_the_weekdays_one_can_count(start: dt.date, days: int) -> None:
    if dt.date.max - start < dt.timedelta(days=days):
        return
    counted = sum((start + dt.timedelta(days=offset)).weekday() < 5 for offset in range(days + 1))
    end = start + dt.timedelta(days=days)
    result = call(
        TEMPORAL, "business_days_between", start_date=start.isoformat(), end_date=end.isoformat(), inclusive=True
    )
    assert result["business_days"] == counted


PIECES = [
    "2026", "-", "08", "06", "T", "14", ":", "30", "Z", "+", "24", "00", ".", "5", " ", "/", "Europe", "Paris", "UTC",
    "9999", "0001", "12", "31", "\ud800", "GMT", "E", "posix/", "America/Argentina", "\u2212",
]  # fmt: skip
typed = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))


@settings(max_examples=300, deadline=None)
@given(typed, typed, typed)
def test_whatever_is_typed_gives_a_result_or_a_code(a: str, b: str, c: str) -> None:
    start = time.process_time()
    for result in (
        call(TEMPORAL, "get_current_time", timezone=a),
        call(TEMPORAL, "convert_datetime", datetime=a, from_timezone=b, to_timezone=c),
        call(TEMPORAL, "get_date_info", date=a),
        call(TEMPORAL, "duration_between", start_datetime=a, end_datetime=b, timezone=c),
    ):
        assert result["status"] == "ok" or code_of(result) in CODES
    assert time.process_time() - start < 4  # finds a hang; benchmarks/ has the figures
