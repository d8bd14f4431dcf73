"""Finds time zones: by IANA name in any case, UTC, fixed offsets, and the zone of this computer."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from difflib import get_close_matches
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from react_run.support import dataclass
from react_toolsets.answers import Refusal

MAX_LENGTH = 80

_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*([0-9]{1,2})(?::?([0-9]{2}))?", re.IGNORECASE)
_PATH = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)+")
_UTC_NAMES = frozenset({"utc", "z", "zulu"})


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone and its name."""

    name: str
    tzinfo: dt.tzinfo


UTC = Zone("UTC", dt.UTC)


def zone_named(text: str) -> Zone:
    """The zone called ``text``.

    Raises:
        Refusal: ``unknown_timezone``, with similar names.
    """
    name = text.strip().replace("\u2212", "-")
    if len(name) > MAX_LENGTH:
        raise Refusal("unknown_timezone", f"{name[:40]!r}… is too long for a time zone. {_FORM}")
    if name.lower() in _UTC_NAMES:
        return UTC
    if canonical := _names().get(name.lower()):
        return Zone(canonical, ZoneInfo(canonical))
    # Only Debian has a copy of every zone under this name.
    if name.startswith("posix/") and (canonical := _names().get(name.removeprefix("posix/").lower())):
        return Zone(f"posix/{canonical}", ZoneInfo(canonical))
    zone = _offset_named(name) or _newer(name)
    if zone is None:
        raise _unknown(name)
    return zone


def fixed_zone(offset: dt.timedelta) -> Zone:
    """The zone with a fixed ``offset`` from UTC."""
    return Zone(offset_text(offset), dt.timezone(offset)) if offset else UTC


def offset_text(offset: dt.timedelta) -> str:
    """``offset`` in the form +05:30, with seconds if there are any."""
    return dt.datetime(2000, 1, 1, tzinfo=dt.timezone(offset)).isoformat()[19:]


def system_zone() -> Zone:
    """The zone of this computer, from ``TZ`` or its settings.

    Raises:
        Refusal: ``system_timezone_unavailable``; the zone is never guessed.
    """
    try:
        found = _local()
    except (LookupError, OSError, ValueError) as error:
        reason = " ".join(str(error.args[0] if error.args else error).split())[:200]
        raise Refusal(
            "system_timezone_unavailable",
            f"The time zone of this computer is unknown ({reason}). Which time zone is meant? It can be given in the "
            "call, in the option timezone of this toolset, or in the environment variable TZ as an IANA name.",
        ) from None
    return Zone(getattr(found, "key", None) or "local", found)


@cache
def _local() -> dt.tzinfo:
    import tzlocal

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = tzlocal.get_localzone()
    for warning in warned:  # it fell back to UTC, or the settings disagree; other threads may have warned, too
        if "tzlocal" in warning.filename:
            raise LookupError(str(warning.message))
    return found


@cache
def _names() -> dict[str, str]:
    """The IANA names by their lower-case form."""
    text = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8")
    return {name.lower(): name for name in text.split()}


def _offset_named(name: str) -> Zone | None:
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    hours, minutes = int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59:
        return None
    size = dt.timedelta(hours=hours, minutes=minutes)
    return fixed_zone(-size if match[1] == "-" else size)


def _newer(name: str) -> Zone | None:
    """A zone of this computer that is newer than the list; ``None`` for directories and other files."""
    if not _PATH.fullmatch(name) or name.startswith(("right/", "posix/")):
        return None
    try:
        return Zone(name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return None


_FORM = "Use an IANA name such as Europe/Paris, UTC, or an offset such as +05:30."


def _unknown(name: str) -> Refusal:
    near = _near(name.lower().replace(" ", "_"))
    hint = f"Did you mean {' or '.join(near)}?" if near else _FORM
    if re.fullmatch("[A-Z]{2,5}", name):
        hint = f"Abbreviations can mean several zones. {_FORM}"
    return Refusal("unknown_timezone", f"There is no time zone {name[:60]!r}. {hint}", near=near)


_SPOKEN = {
    "pacific": "America/Los_Angeles", "mountain": "America/Denver", "central": "America/Chicago",
    "eastern": "America/New_York", "atlantic": "America/Halifax", "alaska": "America/Anchorage",
    "hawaii": "Pacific/Honolulu", "british": "Europe/London", "greenwich_mean": "UTC",
    "central_european": "Europe/Berlin", "eastern_european": "Europe/Athens", "western_european": "Europe/Lisbon",
    "indian": "Asia/Kolkata", "india": "Asia/Kolkata", "japan": "Asia/Tokyo", "china": "Asia/Shanghai",
}  # fmt: skip
"""Spoken names of zones (``Pacific Time``): suggested, never assumed, because they can mean other zones."""


def _near(name: str) -> list[str]:
    """Zones with a name or a city similar to ``name``."""
    region = re.sub(r"_(?:standard_|daylight_|summer_)?time$", "", name)
    if region in _SPOKEN and region != name:
        return [_SPOKEN[region]]
    names = _names()
    cities: dict[str, str] = {}
    for lower, canonical in names.items():
        cities.setdefault(lower.rpartition("/")[2], canonical)
    found = [names[match] for match in get_close_matches(name, names, n=2, cutoff=0.75)]
    found += [cities[match] for match in get_close_matches(name.rpartition("/")[2], cities, n=2, cutoff=0.75)]
    return list(dict.fromkeys(found))[:3]
