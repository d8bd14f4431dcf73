"""The ``temporal`` toolset: its tools, and the meaning of their results for a run."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from react_run import Outcome, ReActSkillSpec, ReActToolset, tool
from react_toolsets.answers import Fields, Refusal, answer, interpret_answer

if TYPE_CHECKING:
    from react_toolsets.temporal.business import Calendar
    from react_toolsets.temporal.iso import Written
    from react_toolsets.temporal.zones import Zone

ASK = frozenset({"ambiguous_local_time", "nonexistent_local_time", "system_timezone_unavailable"})
"""Codes that only the user can resolve; the model may correct every other error."""


def _date(description: str, *examples: str) -> object:
    return Field(description=description, json_schema_extra={"format": "date"}, examples=list(examples))


def _moment(description: str, *examples: str) -> object:
    # Not ``format: date-time``: that requires an offset, which a model would invent.
    return Field(description=description, examples=list(examples))


def _zone(description: str) -> object:
    return Field(description=description, examples=["Europe/Paris", "America/New_York", "UTC", "+05:30"])


def _amount(unit: str) -> object:
    return Field(description=f"How many {unit} to add; negative to subtract.")


StartDate = Annotated[str, _date("The date to count from.", "2026-01-01")]
EndDate = Annotated[str, _date("The date to count to.", "2026-12-31")]
Inclusive = Annotated[bool, Field(description="Count the first and the last day both.")]
LocalZone = Annotated[str, _zone("The IANA time zone of times without an offset; leave it out for the user's own.")]


class TemporalToolset(ReActToolset):
    """Calendar and clock, offline: dates, time zones, durations and business days.

    A subclass may override :meth:`now` and :meth:`system_zone`, for example to stop the clock in tests.
    """

    kind: ClassVar[str] = "temporal"

    timezone: str = ""
    """The default time zone, such as ``Europe/Paris``; if empty, that of the computer."""
    country: str = ""
    """The country whose public holidays apply, such as ``FR`` (ISO 3166; needs the extra ``holidays``)."""
    subdivision: str = ""
    """A state or region of the country, such as ``CA`` of ``US``."""

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        if not name:
            return name
        from react_toolsets.temporal.zones import zone_named

        try:
            return zone_named(name).name
        except Refusal as refusal:
            raise ValueError(str(refusal)) from None

    @model_validator(mode="after")
    def _known_country(self) -> Self:
        if self.subdivision and not self.country:
            raise ValueError("subdivision needs country, such as country: US with subdivision: CA")
        if self.country:
            _ = self._calendar  # report an unknown country now
        return self

    @cached_property
    def _calendar(self) -> Calendar:
        from react_toolsets.temporal.business import CountryCalendar, Weekdays

        return CountryCalendar(self.country, self.subdivision) if self.country else Weekdays()

    def now(self) -> dt.datetime:
        """The current moment, with a time zone."""
        return dt.datetime.now(dt.UTC)

    def system_zone(self) -> Zone:
        """The time zone of this computer.

        Raises:
            Refusal: ``system_timezone_unavailable``.
        """
        from react_toolsets.temporal.zones import system_zone

        return system_zone()

    @tool(read_only=True, repeatable=True)
    def get_current_time(
        self, timezone: Annotated[str, _zone("The IANA time zone; leave it out for the user's own.")] = ""
    ) -> str:
        """Get the current time, date and weekday (now, today) in a time zone."""
        from react_toolsets.temporal.facts import time_now

        return answer(lambda: time_now(self.now(), self._zone(timezone)))

    @tool(read_only=True, repeatable=True, bookkeeping=True, timeout=90)
    async def wait(self, seconds: Annotated[float, Field(description="How many seconds to wait.", ge=0, le=60)]) -> str:
        """Wait up to 60 seconds, for something that takes time, before asking about it again."""
        await asyncio.sleep(seconds)
        return json.dumps({"status": "ok", "waited_seconds": seconds})

    @tool(read_only=True)
    def convert_datetime(
        self,
        datetime: Annotated[str, _moment("The date and time to convert, in ISO 8601.", "2026-08-06T14:30:00")],
        from_timezone: Annotated[str, _zone("The IANA time zone it is in; leave it out for the user's own.")] = "",
        to_timezone: Annotated[str, _zone("The IANA time zone to convert to; leave it out for the user's own.")] = "",
    ) -> str:
        """Convert a date and time from one time zone to another.

        Add an offset such as +02:00 or Z to the time only when one was given.
        """
        from react_toolsets.temporal.facts import converted
        from react_toolsets.temporal.iso import read_datetime

        def work() -> Fields:
            written = read_datetime(datetime, "datetime", needs_time=True)
            return converted(written, self._zone(from_timezone, written), self._zone(to_timezone))

        return answer(work)

    @tool(read_only=True, inline=True)
    def get_date_info(self, date: Annotated[str, _date("The date.", "2026-08-06")]) -> str:
        """Tell a date's weekday (day of the week) or weekend, ISO week number, day of the year, and leap year."""
        from react_toolsets.temporal.facts import date_info
        from react_toolsets.temporal.iso import read_date

        return answer(lambda: date_info(read_date(date, "date"), self._calendar))

    @tool(read_only=True)
    def add_calendar_period(
        self,
        date: Annotated[str, _moment("The date, or date and time, to start from.", "2026-01-31", "2026-01-31T09:00")],
        years: Annotated[int, _amount("years")] = 0,
        months: Annotated[int, _amount("months")] = 0,
        weeks: Annotated[int, _amount("weeks")] = 0,
        days: Annotated[int, _amount("days")] = 0,
        hours: Annotated[int, _amount("hours")] = 0,
        minutes: Annotated[int, _amount("minutes")] = 0,
        timezone: LocalZone = "",
    ) -> str:
        """Add years, months, weeks, days, hours or minutes to a date, or subtract them: the date before or after.

        Years and months are added first and end at the latest on the last day of the month.
        """
        from react_toolsets.temporal.facts import moved_date, moved_moment
        from react_toolsets.temporal.iso import read_datetime
        from react_toolsets.temporal.periods import Period

        def work() -> Fields:
            period = Period(years=years, months=months, weeks=weeks, days=days, hours=hours, minutes=minutes)
            written = read_datetime(date, "date", needs_time=False)
            if written.time is None:
                return moved_date(written.day, period, self._calendar)
            return moved_moment(written, self._zone(timezone, written), period, self._calendar)

        return answer(work)

    @tool(read_only=True)
    def add_business_days(
        self,
        date: Annotated[str, _date("The date to start from.", "2026-07-03")],
        days: Annotated[int, _amount("business days")],
    ) -> str:
        """Add business days (working days, weekdays) to a date, or subtract them."""
        from react_toolsets.temporal.facts import moved_by_business_days
        from react_toolsets.temporal.iso import read_date

        return answer(lambda: moved_by_business_days(read_date(date, "date"), days, self._calendar))

    @tool(read_only=True, inline=True)
    def calendar_days_between(self, start_date: StartDate, end_date: EndDate, inclusive: Inclusive = False) -> str:
        """Count the days between two dates: how many days from one to the other, or until it."""
        from react_toolsets.temporal.facts import days_between

        return answer(lambda: days_between(*_dates(start_date, end_date), inclusive=inclusive))

    @tool(read_only=True)
    def business_days_between(self, start_date: StartDate, end_date: EndDate, inclusive: Inclusive = False) -> str:
        """Count the business days (working days, weekdays) between two dates."""
        from react_toolsets.temporal.facts import worked_between

        return answer(
            lambda: worked_between(*_dates(start_date, end_date), calendar=self._calendar, inclusive=inclusive)
        )

    @tool(read_only=True)
    def duration_between(
        self,
        start_datetime: Annotated[str, _moment("The date and time at the start.", "2026-08-06T14:30:00", "1990-05-17")],
        end_datetime: Annotated[str, _moment("The date and time at the end.", "2026-08-07T09:00:00", "2026-08-06")],
        timezone: LocalZone = "",
    ) -> str:
        """Measure the time between two dates and times: exact seconds, and age in years, months and days."""
        from react_toolsets.temporal.facts import duration
        from react_toolsets.temporal.iso import read_datetime

        def work() -> Fields:
            start = read_datetime(start_datetime, "start_datetime", needs_time=False)
            end = read_datetime(end_datetime, "end_datetime", needs_time=False)
            only_dates = start.time is None and end.time is None
            return duration(start, end, None if only_dates else self._zone(timezone, start, end))

        return answer(work)

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """Success is a verified fact; unclear local times go to the user; other errors may be retried."""
        from react_toolsets.temporal.summaries import summary_of

        return interpret_answer(result, lambda fields: summary_of(tool_name, fields), ASK)

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skill group ``dates_and_time``."""
        return [
            ReActSkillSpec(
                name="dates_and_time",
                description="Tell the current time and date, convert time zones, and calculate with dates, days, "
                "weeks, business days, durations and ages.",
                tool_names=tuple(tool.name for tool in self.tools()),
                instructions="Never guess today's date or a weekday: ask these tools. Write dates as 2026-08-06 and "
                "times as 2026-08-06T14:30, and add an offset only when one was given.",
                examples=(
                    "What time is it in Tokyo?",
                    "What day of the week is 2026-08-06?",
                    "How many days until 2026-12-31?",
                ),
                order=20,
            )
        ]

    def _zone(self, name: str, *written: Written) -> Zone:
        """The zone called ``name``; if empty, the offset of ``written``, the option, or the computer's zone."""
        from react_toolsets.temporal.zones import fixed_zone, zone_named

        if name.strip():
            return zone_named(name)
        offsets = [each.offset for each in written]
        if offsets and offsets[0] is not None and None not in offsets:
            return fixed_zone(offsets[0])
        return zone_named(self.timezone) if self.timezone else self.system_zone()


def _dates(start_date: str, end_date: str) -> tuple[dt.date, dt.date]:
    from react_toolsets.temporal.iso import read_date

    return read_date(start_date, "start_date"), read_date(end_date, "end_date")
