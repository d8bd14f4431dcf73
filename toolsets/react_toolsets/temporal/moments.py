"""Converts wall times to moments: handles gaps, overlaps, wrong offsets and the limits of the calendar."""

from __future__ import annotations

import datetime as dt

from react_toolsets.answers import Refusal
from react_toolsets.temporal.iso import Written
from react_toolsets.temporal.zones import UTC, Zone, offset_text


def moment_of(written: Written, zone: Zone) -> tuple[dt.datetime, str]:
    """The moment of ``written`` in ``zone``, and a note if its offset is not the zone's.

    Raises:
        Refusal: ``nonexistent_local_time``, ``ambiguous_local_time`` or ``date_range_exceeded``.
    """
    if written.offset is None:
        return in_local_time(written.wall, zone), ""
    instant = written.wall.replace(tzinfo=dt.timezone(written.offset))
    moment = in_zone(instant, zone)
    if moment.replace(tzinfo=None) == written.wall:
        return moment, ""
    return moment, (
        f"The text says {offset_text(written.offset)}, but {zone.name} is at {offset_of(moment)} then; the moment "
        f"{utc_text(instant)} was used."
    )


def in_local_time(wall: dt.datetime, zone: Zone, like: dt.timedelta | None = None) -> dt.datetime:
    """The moment at which the clocks of ``zone`` show ``wall``.

    Args:
        wall: Date and time without a zone.
        zone: The time zone.
        like: The offset to use if the clocks show it twice.

    Raises:
        Refusal: The clocks never show it, or show it twice.
    """
    first = wall.replace(tzinfo=zone.tzinfo, fold=0)
    second = first.replace(fold=1)
    before, after = _offset(first), _offset(second)
    if before < after:
        raise _gap(wall, zone, before, after)
    if before > after and like == after:
        return second
    if before > after and like != before:
        raise _overlap(wall, zone, before, after)
    return first


def in_zone(moment: dt.datetime, zone: Zone) -> dt.datetime:
    """``moment`` as a time in ``zone``.

    Raises:
        Refusal: ``date_range_exceeded``.
    """
    try:
        return moment.astimezone(zone.tzinfo)
    except (OverflowError, ValueError):
        raise out_of_range() from None


def out_of_range() -> Refusal:
    """The refusal for a date before the year 1 or after the year 9999."""
    return Refusal(
        "date_range_exceeded", "The result is outside the years 1 to 9999. Use a date or a period within them."
    )


def seconds_between(start: dt.datetime, end: dt.datetime) -> dt.timedelta:
    """The elapsed time; unlike subtraction, it accounts for changes of offset, and never overflows."""
    return (end.replace(tzinfo=None) - start.replace(tzinfo=None)) - (_offset(end) - _offset(start))


def offset_of(moment: dt.datetime) -> str:
    """The offset from UTC at ``moment``, as in +05:30."""
    return offset_text(_offset(moment))


def utc_text(moment: dt.datetime) -> str:
    """``moment`` in UTC, as in 2026-08-06T21:30:00Z."""
    return in_zone(moment, UTC).replace(tzinfo=None).isoformat() + "Z"


def _offset(moment: dt.datetime) -> dt.timedelta:
    return moment.utcoffset() or dt.timedelta()


def _gap(wall: dt.datetime, zone: Zone, before: dt.timedelta, after: dt.timedelta) -> Refusal:
    choices = [wall.isoformat() + offset_text(offset) for offset in (before, after)]
    return Refusal(
        "nonexistent_local_time",
        f"{wall.isoformat()} does not exist in {zone.name}: clocks are set forward over it, from {offset_text(before)} "
        f"to {offset_text(after)}. Which time is meant? An offset settles it: {choices[0]} or {choices[1]}.",
        choices=choices,
    )


def _overlap(wall: dt.datetime, zone: Zone, before: dt.timedelta, after: dt.timedelta) -> Refusal:
    choices = [wall.isoformat() + offset_text(offset) for offset in (before, after)]
    return Refusal(
        "ambiguous_local_time",
        f"{wall.isoformat()} happens twice in {zone.name}: at {offset_text(before)}, and again at {offset_text(after)} "
        f"after clocks are set back. Which is meant: {choices[0]} or {choices[1]}?",
        choices=choices,
    )
