"""Business days of a country, with the ``holidays`` library."""

from __future__ import annotations

import datetime as dt
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.toolsets.calling import call, code_of, message_of

from react_toolsets.temporal import TemporalToolset

US = TemporalToolset(timezone="UTC", country="us")


def test_a_public_holiday_is_no_business_day() -> None:
    assert call(US, "add_business_days", date="2026-07-02", days=1)["date"] == "2026-07-06"  # Friday: day observed
    info = call(US, "get_date_info", date="2026-12-25")
    assert (info["holiday"], info["is_weekend"]) == ("Christmas Day", False)
    assert "holiday" not in call(US, "get_date_info", date="2026-12-24")
    result = call(US, "business_days_between", start_date="2026-12-21", end_date="2026-12-28")
    assert result["business_days"] == 4
    assert "public holidays of US" in result["note"]


def test_a_subdivision_has_holidays_of_its_own() -> None:
    bavaria = TemporalToolset(country="DE", subdivision="BY")
    assert call(bavaria, "get_date_info", date="2026-01-06")["holiday"]
    assert "holiday" not in call(TemporalToolset(country="DE"), "get_date_info", date="2026-01-06")
    assert "DE BY" in call(bavaria, "add_business_days", date="2026-01-05", days=1)["note"]


def test_the_weekend_is_that_of_the_country() -> None:
    saudi = TemporalToolset(country="SA")
    assert call(saudi, "get_date_info", date="2026-07-03")["is_weekend"] is True  # Friday
    assert call(saudi, "add_business_days", date="2026-07-02", days=1)["date"] == "2026-07-05"  # Thursday to Sunday


def test_a_worked_weekend_day_is_a_business_day() -> None:
    china = TemporalToolset(country="CN")
    assert call(china, "add_business_days", date="2026-01-03", days=1)["date"] == "2026-01-04"  # a Sunday


@settings(max_examples=60, deadline=None)
@given(st.dates(dt.date(2000, 1, 1), dt.date(2050, 1, 1)), st.integers(-300, 300))
def test_adding_and_counting_are_inverse_with_holidays_too(start: dt.date, days: int) -> None:
    end = call(US, "add_business_days", date=start.isoformat(), days=days)["date"]
    back = call(US, "business_days_between", start_date=start.isoformat(), end_date=end)
    assert back["business_days"] == days


def test_years_without_known_holidays_are_refused() -> None:
    for result in (
        call(US, "get_date_info", date="2500-01-01"),
        call(US, "add_business_days", date="2026-01-01", days=10**7),
        call(US, "business_days_between", start_date="1500-01-01", end_date="2026-01-01"),
    ):
        assert code_of(result) == "date_range_exceeded"
        assert "holidays of US are known for" in message_of(result)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"country": "XX"}, "XX"),
        ({"country": "US", "subdivision": "ZZ"}, "ZZ"),
        ({"subdivision": "CA"}, "needs country"),
        ({"timezone": "Europe/Pariss"}, "Europe/Paris"),
        ({"nation": "FR"}, "nation"),
    ],
)
def test_wrong_options_are_reported_when_the_toolset_is_made(options: dict[str, str], hint: str) -> None:
    with pytest.raises(ValidationError, match=hint):
        TemporalToolset(**options)


def test_a_missing_library_is_reported_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(ValidationError, match=r"react-run\[holidays\]"):
        TemporalToolset(country="NZ")


def test_business_days_come_one_after_another() -> None:
    days = [call(US, "add_business_days", date="2026-11-20", days=count)["date"] for count in range(1, 40)]
    assert all(earlier < later for earlier, later in pairwise(days))
