"""The temporal tools: time zones, gaps and overlaps, ISO 8601, calendar arithmetic, differences, business days."""

from __future__ import annotations

import datetime as dt

import pytest
from tests.toolsets.calling import Result, call, code_of, message_of

from react_toolsets.temporal import TemporalToolset
from react_toolsets.temporal.zones import Zone, zone_named


class Frozen(TemporalToolset):
    """A toolset whose clock stands still on a computer in Sydney."""

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 8, 6, 21, 30, 15, 999_999, tzinfo=dt.UTC)

    def system_zone(self) -> Zone:
        return zone_named("Australia/Sydney")


TEMPORAL = Frozen()


def convert(datetime: str, from_timezone: str = "", to_timezone: str = "UTC") -> Result:
    return call(TEMPORAL, "convert_datetime", datetime=datetime, from_timezone=from_timezone, to_timezone=to_timezone)


def add(date: str, **period: object) -> Result:
    return call(TEMPORAL, "add_calendar_period", date=date, **period)


def test_the_clock_shows_the_time_of_the_zone_asked_for() -> None:
    assert call(TEMPORAL, "get_current_time", timezone="america/vancouver") == {
        "status": "ok",
        "datetime": "2026-08-06T14:30:15-07:00",
        "timezone": "America/Vancouver",
        "utc_offset": "-07:00",
        "weekday": "Thursday",
        "utc_datetime": "2026-08-06T21:30:15Z",
    }


def test_without_a_zone_the_option_counts_and_then_the_computer() -> None:
    assert call(TEMPORAL, "get_current_time")["timezone"] == "Australia/Sydney"
    assert call(Frozen(timezone="europe/paris"), "get_current_time")["datetime"] == "2026-08-06T23:30:15+02:00"
    assert convert("2026-01-01T12:00", to_timezone="Asia/Tokyo")["input"]["timezone"] == "Australia/Sydney"
    assert convert("2026-01-01T12:00Z", to_timezone="")["timezone"] == "Australia/Sydney"


@pytest.mark.parametrize(
    ("name", "canonical", "offset"),
    [
        ("UTC", "UTC", "+00:00"),
        ("z", "UTC", "+00:00"),
        ("GMT", "GMT", "+00:00"),
        ("est", "EST", "-05:00"),
        ("japan", "Japan", "+09:00"),
        ("AMERICA/ARGENTINA/USHUAIA", "America/Argentina/Ushuaia", "-03:00"),
        (" Europe/Paris ", "Europe/Paris", "+02:00"),
        ("Etc/GMT+5", "Etc/GMT+5", "-05:00"),
        ("posix/Asia/Tokyo", "posix/Asia/Tokyo", "+09:00"),
        ("+05:30", "+05:30", "+05:30"),
        ("\u221203:30", "-03:30", "-03:30"),
        ("+0545", "+05:45", "+05:45"),
        ("-8", "-08:00", "-08:00"),
        ("UTC+2", "+02:00", "+02:00"),
        ("utc-03:30", "-03:30", "-03:30"),
        ("+00:00", "UTC", "+00:00"),
        ("Australia/Lord_Howe", "Australia/Lord_Howe", "+10:30"),
    ],
)
def test_a_zone_is_known_by_its_names(name: str, canonical: str, offset: str) -> None:
    result = call(TEMPORAL, "get_current_time", timezone=name)
    assert (result.get("timezone"), result.get("utc_offset")) == (canonical, offset), result


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("America/Argentina", "America/"),
        ("America", ""),
        ("America/New York", "America/New_York"),
        ("Tokyo", "Asia/Tokyo"),
        ("new york", "America/New_York"),
        ("Europe/Pariss", "Europe/Paris"),
        ("PST", "Abbreviations"),
        ("Mars/Phobos", "such as Europe/Paris"),
        ("+24:00", "offset"),
        ("+05:60", "offset"),
        ("right/Europe/Paris", "Europe/Paris"),
        ("posix/Mars", ""),
        ("localtime", ""),
        ("posixrules", ""),
        ("zone.tab", ""),
        ("../../etc/passwd", ""),
        ("/etc/localtime", ""),
        ("Europe/../Europe/Paris", ""),
        ("Europe\x00/Paris", ""),
        ("A/" * 50, "too long"),
    ],
)
def test_what_is_no_zone_is_refused_without_telling_paths(name: str, hint: str) -> None:
    result = call(TEMPORAL, "get_current_time", timezone=name)
    assert code_of(result) == "unknown_timezone"
    assert hint in message_of(result)
    assert "zoneinfo" not in message_of(result)


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2026-08-06T14:30:00Z", "2026-08-06T14:30:00Z"),
        ("2026-08-06t14:30z", "2026-08-06T14:30:00Z"),
        ("2026-08-06 14:30 +05:30", "2026-08-06T09:00:00Z"),
        ("2026-08-06T14:30+0530", "2026-08-06T09:00:00Z"),
        ("2026-08-06T14:30-05", "2026-08-06T19:30:00Z"),
        ("2026-08-06T14:30\u221205:00", "2026-08-06T19:30:00Z"),
        ("2026-08-06T14:30 UTC", "2026-08-06T14:30:00Z"),
        ("2026-08-06T14:30:00-00:44:30", "2026-08-06T15:14:30Z"),
        ("20260806T143000Z", "2026-08-06T14:30:00Z"),
        ("2026/8/6 9:05Z", "2026-08-06T09:05:00Z"),
        ("2026-08-06T14Z", "2026-08-06T14:00:00Z"),
        (
            "2026-08-06T14:30:00.123456789012345678901234567890123456789012345678901234567890Z",
            "2026-08-06T14:30:00.123456Z",
        ),
        ("2026-08-06T14:30:00,5Z", "2026-08-06T14:30:00.500000Z"),
        ("2026-12-31T24:00Z", "2027-01-01T00:00:00Z"),
        ("2026-08-06T14:30:00+23:59", "2026-08-05T14:31:00Z"),
        ("  2026-08-06T14:30Z\n", "2026-08-06T14:30:00Z"),
    ],
)
def test_times_are_read_as_people_write_them(written: str, utc: str) -> None:
    assert convert(written).get("utc_datetime") == utc


@pytest.mark.parametrize(
    "written",
    [
        "2026-08-06", "2026-08-06T", "2026-08-06T25:00", "2026-08-06T24:01", "2026-08-06T14:60", "2026-08-06T14:30:61",
        "2026-08-06T14:30:60Z", "2026-13-01T00:00", "2026-02-29T00:00", "0000-01-01T00:00", "10000-01-01T00:00",
        "2026-08-06T14:30+24:00", "2026-08-06T14:30+05:60", "14:30", "06/08/2026 14:30", "2026-8/6 14:30", "now", "",
        "2026-08-06T143Z", "2026-08-06T2:30 pm", "2026-08-06T14:30 Europe/Paris", "٢٠٢٦-08-06T14:30",
        "2026-W32-4T10:00",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(written: str) -> None:
    assert code_of(convert(written, "UTC")) == "invalid_datetime"


@pytest.mark.parametrize(
    ("written", "zone", "before", "after"),
    [
        ("2026-03-08T02:30", "America/New_York", "-05:00", "-04:00"),
        ("2026-10-04T02:15", "Australia/Lord_Howe", "+10:30", "+11:00"),
        ("2011-12-30T12:00", "Pacific/Apia", "-10:00", "+14:00"),
        ("1994-12-31T12:00", "Pacific/Kiritimati", "-10:00", "+14:00"),
    ],
)
def test_a_time_that_clocks_skip_is_a_question(written: str, zone: str, before: str, after: str) -> None:
    result = convert(written, zone)
    assert code_of(result) == "nonexistent_local_time"
    assert result["error"]["choices"] == [f"{written}:00{before}", f"{written}:00{after}"]
    assert "does not exist" in message_of(result)


@pytest.mark.parametrize(
    ("written", "zone", "first", "second"),
    [
        ("2026-11-01T01:30", "America/New_York", "-04:00", "-05:00"),
        ("2026-04-05T01:45", "Australia/Lord_Howe", "+11:00", "+10:30"),
        ("2026-10-25T02:00", "Europe/Paris", "+02:00", "+01:00"),
        ("2026-10-25T01:00", "Europe/Dublin", "+01:00", "+00:00"),
    ],
)
def test_a_time_that_clocks_repeat_is_a_question_that_an_offset_settles(
    written: str, zone: str, first: str, second: str
) -> None:
    result = convert(written, zone)
    assert code_of(result) == "ambiguous_local_time"
    choices = result["error"]["choices"]
    assert choices == [f"{written}:00{first}", f"{written}:00{second}"]
    for choice, offset in zip(choices, (first, second), strict=True):
        settled = convert(choice, zone, zone)
        assert (settled["utc_offset"], settled.get("note")) == (offset, None)


def test_clocks_set_for_half_an_hour_are_right_to_the_minute() -> None:
    assert convert("2026-10-04T01:59", "Australia/Lord_Howe")["utc_datetime"] == "2026-10-03T15:29:00Z"
    assert convert("2026-10-04T02:30", "Australia/Lord_Howe")["utc_datetime"] == "2026-10-03T15:30:00Z"


def test_an_offset_that_the_zone_never_has_then_is_used_and_said() -> None:
    result = convert("2026-08-06T14:30:00Z", "America/New_York")
    assert result["input"] == {
        "datetime": "2026-08-06T10:30:00-04:00",
        "timezone": "America/New_York",
        "utc_offset": "-04:00",
    }
    assert "+00:00" in result["note"]
    assert "-04:00" in result["note"]
    skipped = convert("2026-03-08T02:30:00-05:00", "America/New_York", "America/New_York")
    assert (skipped["datetime"], "note" in skipped) == ("2026-03-08T03:30:00-04:00", True)


@pytest.mark.parametrize(
    "zone", ["Pacific/Kiritimati", "America/New_York", "Africa/Monrovia", "Asia/Kolkata", "+23:59", "-23:59"]
)
def test_the_first_and_the_last_year_never_raise(zone: str) -> None:
    for written in ("0001-01-01T00:00", "9999-12-31T23:59:59.999999"):
        for target in ("UTC", zone, "+23:59", "-23:59"):
            assert code_of(convert(written, zone, target)) in ("", "date_range_exceeded")
            assert code_of(convert(f"{written}Z", zone, target)) in ("", "date_range_exceeded")
            for hours in (1, -1):
                assert code_of(add(written, hours=hours, timezone=zone)) in ("", "date_range_exceeded")
            call(TEMPORAL, "duration_between", start_datetime=written, end_datetime="2000-01-01", timezone=zone)
    assert code_of(convert("9999-12-31T24:00", "UTC")) == "date_range_exceeded"


def test_a_date_has_a_weekday_a_week_and_a_place_in_its_year() -> None:
    assert call(TEMPORAL, "get_date_info", date="2027-01-02") == {
        "status": "ok",
        "date": "2027-01-02",
        "weekday": "Saturday",
        "is_weekend": True,
        "iso_week": 53,
        "iso_year": 2026,
        "day_of_year": 2,
        "is_leap_year": False,
    }
    assert call(TEMPORAL, "get_date_info", date="20000229")["is_leap_year"] is True
    assert call(TEMPORAL, "get_date_info", date="1900-03-01")["is_leap_year"] is False


@pytest.mark.parametrize("date", ["2026-08-06T10:00", "today", "08/06/2026", "2026-02-30", "2026-1", "", "99999-01-01"])
def test_what_is_no_date_is_refused(date: str) -> None:
    assert code_of(call(TEMPORAL, "get_date_info", date=date)) == "invalid_date"


@pytest.mark.parametrize(
    ("start", "period", "expected"),
    [
        ("2026-01-31", {"months": 1}, "2026-02-28"),
        ("2024-01-31", {"months": 1}, "2024-02-29"),
        ("2026-03-31", {"months": -1}, "2026-02-28"),
        ("2024-02-29", {"years": -1}, "2023-02-28"),
        ("2026-01-31", {"months": 1, "days": 1}, "2026-03-01"),
        ("2026-12-15", {"months": 13, "weeks": -2}, "2028-01-01"),
        ("2026-05-05", {}, "2026-05-05"),
    ],
)
def test_years_and_months_come_first_and_end_with_the_month(start: str, period: dict[str, int], expected: str) -> None:
    assert add(start, **period)["date"] == expected


def test_it_is_said_when_the_end_of_a_month_cut_the_result() -> None:
    assert "last day" in add("2026-01-31", months=1)["note"]
    assert "note" not in add("2026-01-28", months=1)


@pytest.mark.parametrize(
    ("start", "period", "expected"),
    [
        ("2026-03-07T12:00", {"days": 1}, "2026-03-08T12:00:00-04:00"),
        ("2026-03-07T12:00", {"hours": 24}, "2026-03-08T13:00:00-04:00"),
        ("2026-10-31T12:00", {"days": 1, "hours": 1, "minutes": 30}, "2026-11-01T13:30:00-05:00"),
        ("2026-11-01T00:30", {"hours": 1}, "2026-11-01T01:30:00-04:00"),
        ("2026-11-01T00:30", {"hours": 2}, "2026-11-01T01:30:00-05:00"),
        ("2026-11-01T01:30-05:00", {"weeks": 1, "hours": -1}, "2026-11-08T00:30:00-05:00"),
        ("2025-11-02T01:30-05:00", {"days": 364}, "2026-11-01T01:30:00-05:00"),
        ("2025-07-01T01:30", {"months": 4}, "2025-11-01T01:30:00-04:00"),
    ],
)
def test_days_follow_the_clocks_on_the_wall_and_hours_the_time_that_passes(
    start: str, period: dict[str, int], expected: str
) -> None:
    assert add(start, timezone="America/New_York", **period).get("datetime") == expected


def test_a_sum_that_ends_where_clocks_jump_is_a_question() -> None:
    assert code_of(add("2026-03-07T02:30", days=1, timezone="America/New_York")) == "nonexistent_local_time"


def test_an_offset_alone_needs_no_zone() -> None:
    assert add("2026-03-07T12:00+01:00", days=1, hours=1)["datetime"] == "2026-03-08T13:00:00+01:00"


def test_a_date_alone_has_no_hours() -> None:
    result = add("2026-03-07", hours=1)
    assert code_of(result) == "invalid_datetime"
    assert "2026-08-06T14:30" in message_of(result)


@pytest.mark.parametrize("part", ["years", "months", "weeks", "days", "hours", "minutes"])
@pytest.mark.parametrize("amount", [10**400, -(10**400), 10**9, -(10**10)])
def test_periods_that_leave_the_calendar_are_refused(part: str, amount: int) -> None:
    if part == "minutes" and abs(amount) < 10**10:
        amount *= 10
    assert code_of(add("2026-03-07T12:00Z", **{part: amount})) == "date_range_exceeded"


@pytest.mark.parametrize("days", [True, 1.5, "one", None])
def test_only_whole_numbers_are_added(days: object) -> None:
    assert code_of(call(TEMPORAL, "add_business_days", date="2026-01-01", days=days)) == "invalid_arguments"


def test_differences_are_signed_and_end_before_the_end() -> None:
    def days(start: str, end: str, **options: object) -> object:
        return call(TEMPORAL, "calendar_days_between", start_date=start, end_date=end, **options)["calendar_days"]

    assert days("2024-02-28", "2024-03-01") == 2
    assert days("2024-03-01", "2024-02-28") == -2
    assert days("2024-02-28", "2024-03-01", inclusive=True) == 3
    assert days("2024-03-01", "2024-02-28", inclusive=True) == -3
    assert days("2024-03-01", "2024-03-01", inclusive=True) == 1
    assert days("0001-01-01", "9999-12-31") == 3_652_058


@pytest.mark.parametrize(
    ("start", "end", "expected", "inclusive"),
    [
        ("2026-07-06", "2026-07-10", 4, 5),  # Monday to Friday
        ("2026-07-06", "2026-07-11", 5, 5),  # to Saturday
        ("2026-07-03", "2026-07-06", 1, 2),  # Friday to Monday
        ("2026-07-04", "2026-07-05", 0, 0),  # Saturday to Sunday
        ("2026-07-05", "2026-07-10", 5, 5),  # Sunday to Friday: add_business_days leads there in five
        ("2026-07-10", "2026-07-05", -5, -5),
        ("2026-07-10", "2026-07-06", -4, -5),
        ("0001-01-01", "9999-12-31", 2_608_614, 2_608_615),
    ],
)
def test_business_days_between_two_dates(start: str, end: str, expected: int, inclusive: int) -> None:
    for option, days in ((False, expected), (True, inclusive)):
        result = call(TEMPORAL, "business_days_between", start_date=start, end_date=end, inclusive=option)
        assert result["business_days"] == days
        assert "holidays are not considered" in result["note"]


def test_business_days_never_leave_the_calendar() -> None:
    for date, days in (("9999-12-31", 1), ("0001-01-01", -1), ("2026-01-01", 10**400), ("2026-01-01", -(10**9))):
        assert code_of(call(TEMPORAL, "add_business_days", date=date, days=days)) == "date_range_exceeded"


def test_a_duration_is_told_in_seconds_in_words_and_as_an_age() -> None:
    assert call(
        TEMPORAL,
        "duration_between",
        start_datetime="2026-03-07T12:00",
        end_datetime="2026-03-08T13:00:01",
        timezone="America/New_York",
    ) == {
        "status": "ok",
        "start": "2026-03-07T12:00:00-05:00",
        "end": "2026-03-08T13:00:01-04:00",
        "seconds": 86401,
        "breakdown": {"days": 1, "hours": 0, "minutes": 0, "seconds": 1},
        "text": "1 day 1 second",
        "calendar": {"years": 0, "months": 0, "days": 1},
    }


@pytest.mark.parametrize(
    ("start", "end", "seconds", "text", "age"),
    [
        ("1990-05-17", "2026-08-06", 1_143_072_000, "13230 days", (36, 2, 20)),
        ("2026-08-06", "1990-05-17", -1_143_072_000, "-13230 days", (-36, -2, -20)),
        ("2004-02-29", "2005-02-28", 31_536_000, "365 days", (1, 0, 0)),
        ("2026-01-31", "2026-03-01", 2_505_600, "29 days", (0, 1, 1)),
        ("2026-01-01T00:00Z", "2026-01-01T00:00:00.5Z", 0.5, "0.5 seconds", (0, 0, 0)),
        ("2026-01-01T12:00+02:00", "2026-01-01T12:00Z", 7200, "2 hours", (0, 0, 0)),
        ("2026-01-31T12:00Z", "2026-02-28T11:00Z", 2_415_600, "27 days 23 hours", (0, 0, 27)),
        ("2026-01-01", "2026-01-01", 0, "0 seconds", (0, 0, 0)),
        ("2026-01-01", "2026-01-01T06:00Z", 61_200, "17 hours", (0, 0, 0)),
    ],
)
def test_durations(start: str, end: str, seconds: float, text: str, age: tuple[int, int, int]) -> None:
    result = call(TEMPORAL, "duration_between", start_datetime=start, end_datetime=end)
    assert (result["seconds"], result["text"]) == (seconds, text)
    assert tuple(result["calendar"].values()) == age
