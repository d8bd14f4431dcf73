"""Summarises results as verified facts of one line, for grounded answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from react_toolsets.answers import Fields


def summary_of(tool_name: str, fields: Fields) -> str:
    """A successful result of ``tool_name`` as one line."""
    return _SUMMARIES[tool_name](fields) if tool_name in _SUMMARIES else ""


def _now(fields: Fields) -> str:
    return f"It is {fields['weekday']}, {fields['datetime']} in {fields['timezone']}"


def _converted(fields: Fields) -> str:
    given = fields["input"]
    start = f"{given['datetime']} ({given['timezone']})" if isinstance(given, dict) else ""
    return f"{start} = {fields['weekday']}, {fields['datetime']} ({fields['timezone']})"


def _date(fields: Fields) -> str:
    holiday = f" and a public holiday ({fields['holiday']})" if "holiday" in fields else ""
    return (
        f"{fields['date']} is a {fields['weekday']}{holiday}, day {fields['day_of_year']} of the year, "
        f"in ISO week {fields['iso_week']} of {fields['iso_year']}"
    )


def _moved(fields: Fields) -> str:
    delta = fields["delta"]
    parts = delta.items() if isinstance(delta, dict) else ()
    said = " ".join(f"{'+' if amount > 0 else '-'} {_amount(abs(amount), name)}" for name, amount in parts if amount)
    if "datetime" in fields:
        return f"{fields['input_datetime']} {said or '+ 0 days'} = {fields['datetime']} ({fields['weekday']})"
    return f"{fields['input_date']} {said or '+ 0 days'} = {fields['date']} ({fields['weekday']})"


def _worked(fields: Fields) -> str:
    days = fields["business_days"]
    amount = f"{'+' if days >= 0 else '-'} {_amount(abs(days), 'business days')}" if isinstance(days, int) else ""
    return f"{fields['input_date']} {amount} = {fields['date']} ({fields['weekday']})"


def _between(fields: Fields) -> str:
    days = fields.get("calendar_days", fields.get("business_days"))
    what = "days" if "calendar_days" in fields else "business days"
    amount = _amount(days, what) if isinstance(days, int) else ""
    ends = ", both ends included" if fields["inclusive"] else ""
    return f"From {fields['start_date']} to {fields['end_date']}: {amount}{ends}"


def _duration(fields: Fields) -> str:
    calendar = fields["calendar"]
    age = " ".join(_amount(amount, name) for name, amount in calendar.items()) if isinstance(calendar, dict) else ""
    return f"From {fields['start']} to {fields['end']}: {fields['text']} ({fields['seconds']} seconds; {age})"


def _amount(number: int, unit: str) -> str:
    return f"{number} {unit[:-1] if abs(number) == 1 else unit}"


_SUMMARIES: Mapping[str, Callable[[Fields], str]] = {
    "get_current_time": _now,
    "convert_datetime": _converted,
    "get_date_info": _date,
    "add_calendar_period": _moved,
    "add_business_days": _worked,
    "calendar_days_between": _between,
    "business_days_between": _between,
    "duration_between": _duration,
}
