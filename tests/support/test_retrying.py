"""``Retry-After``, as servers send it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from react_run.support import retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("", None), ("7", 7.0), (" 1.5 ", 1.5), ("-3", None), ("soon", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
)
def test_seconds_and_dates_are_read(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


def test_a_date_is_so_many_seconds_from_now() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    seconds = retry_after({"retry-after": later})
    assert seconds is not None
    assert 85 < seconds <= 90


@pytest.mark.parametrize(
    "value",
    [
        *("nan", "inf", "1e999", "Mon, 99 Foo 99999 00:00:00", "Mon, 01 Jan 2020 00:00:00 +99999999999999999"),
        *("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2020 00:00:00 -99999", "9" * 5_000 + "x"),
    ],
)
def test_nonsense_is_ignored(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


def test_milliseconds_count_first() -> None:
    assert retry_after(httpx.Headers({"Retry-After": "9", "Retry-After-Ms": "250"})) == 0.25


def test_a_server_that_asks_for_nothing_is_not_waited_for() -> None:
    assert retry_after({}) is None
