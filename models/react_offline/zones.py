"""Time zones of cities, countries and abbreviations.

The names, cities and countries of zones come from the ``tzdata`` package and are read on first use; only what it
lacks (large cities in another city's zone, everyday abbreviations) is listed here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from react_run.support import dataclass

_CITIES = {
    "Africa/Johannesburg": "cape town, durban, pretoria",
    "Africa/Casablanca": "marrakech, rabat",
    "America/Chicago": "cdt, austin, dallas, houston, memphis, milwaukee, minneapolis, new orleans, san antonio, "
    "st louis",
    "America/Denver": "mdt, albuquerque, salt lake city",
    "America/Los_Angeles": "la, las vegas, oakland, sacramento, san diego, san francisco, san jose california, seattle",
    "America/New_York": "edt, atlanta, baltimore, boston, brooklyn, charlotte, cleveland, manhattan, miami, "
    "new york city, nyc, orlando, philadelphia, pittsburgh, washington dc, washington d.c.",
    "America/Sao_Paulo": "brasilia, rio, rio de janeiro",
    "America/Toronto": "montreal, ottawa, quebec city",
    "America/Edmonton": "calgary",
    "America/Argentina/Buenos_Aires": "buenos aires",
    "America/Guayaquil": "quito",
    "Asia/Dubai": "abu dhabi",
    "Asia/Ho_Chi_Minh": "hanoi, saigon",
    "Asia/Hong_Kong": "hong kong",
    "Asia/Jakarta": "bandung",
    "Asia/Jerusalem": "tel aviv",
    "Asia/Karachi": "islamabad, lahore",
    "Asia/Kolkata": "bangalore, bengaluru, bombay, calcutta, chennai, delhi, hyderabad india, mumbai, new delhi, pune",
    "Asia/Riyadh": "jeddah, mecca",
    "Asia/Seoul": "busan",
    "Asia/Shanghai": "beijing, chengdu, guangzhou, shenzhen, wuhan, peking",
    "Asia/Tokyo": "jst, hiroshima, kobe, kyoto, nagoya, osaka, sapporo, yokohama",
    "Australia/Sydney": "canberra",
    "Europe/Berlin": "bonn, cologne, dresden, dusseldorf, frankfurt, hamburg, leipzig, munich, stuttgart",
    "Europe/Istanbul": "ankara, constantinople, izmir",
    "Europe/Kyiv": "kiev, lviv, odesa",
    "Europe/London": "bristol, cardiff, edinburgh, glasgow, leeds, liverpool, england, scotland, wales, "
    "great britain, uk",
    "Europe/Madrid": "barcelona, seville, valencia",
    "Europe/Moscow": "st petersburg, saint petersburg",
    "Europe/Paris": "cest, bordeaux, lille, lyon, marseille, nice, strasbourg, toulouse",
    "Europe/Rome": "bologna, florence, genoa, milan, naples, turin, venice",
    "Europe/Amsterdam": "rotterdam, the hague, holland",
    "Europe/Brussels": "antwerp, ghent",
    "Europe/Lisbon": "porto",
    "Europe/Warsaw": "gdansk, krakow, cracow, wroclaw",
    "Europe/Zurich": "basel, bern, geneva, lausanne",
    "Pacific/Auckland": "christchurch, wellington",
    "Indian/Christmas": "christmas island",
    "Pacific/Easter": "easter island",
    "Pacific/Honolulu": "hawaii",
    "US/Eastern": "eastern",
    "US/Central": "central",
    "US/Mountain": "mountain",
    "US/Pacific": "pacific, pst, pdt",
    "UTC": "coordinated universal, z, zulu, greenwich",
}
_SEVERAL = {
    "ist": ("Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"),
    "cst": ("America/Chicago", "Asia/Shanghai", "America/Havana"),
    "bst": ("Europe/London", "Asia/Dhaka"),
    "ast": ("America/Halifax", "Asia/Riyadh"),
    "georgia": ("Asia/Tbilisi", "America/New_York"),
    "portland": ("America/Los_Angeles", "America/New_York"),
    "san jose": ("America/Los_Angeles", "America/Costa_Rica"),
    "birmingham": ("Europe/London", "America/Chicago"),
    "washington": ("America/New_York", "America/Los_Angeles"),
    "hyderabad": ("Asia/Kolkata", "Asia/Karachi"),
    "cordoba": ("Europe/Madrid", "America/Argentina/Cordoba"),
    "santiago": ("America/Santiago", "Europe/Madrid"),
}
_COUNTRIES = {
    "US": "us, usa, u.s., u.s.a., united states of america, america, the states",
    "GB": "united kingdom, britain",
    "AE": "uae, emirates",
    "KR": "korea, republic of korea",
    "CZ": "czechia",
    "NL": "the netherlands",
    "CN": "china",
    "RU": "russia",
    "VN": "vietnam",
    "IR": "iran",
    "TW": "taiwan",
}
_ONE_IN_PRACTICE = {"CN": "Asia/Shanghai", "DE": "Europe/Berlin", "GB": "Europe/London", "MY": "Asia/Kuala_Lumpur"}
"""Countries with several zones but one wall clock."""

_NOT_CITIES = {"act", "christmas", "easter", "east", "factory", "north", "south", "west"}
_OFFSET = re.compile(r"(?:utc|gmt)\s*([+-])(\d{1,2})(?::?(\d{2}))?|([+-])(\d{2}):?(\d{2})")


@dataclass(frozen=True, slots=True)
class Zone:
    """The time zone of a place: one name, or the question to ask and the possible zones, ``among``."""

    name: str = ""
    unclear: str = ""
    among: tuple[str, ...] = ()

    def is_in(self, other: Zone) -> bool:
        """Whether this zone is one of the other's, as Boston's is one of the United States'."""
        return self.name != "" and (self.name == other.name or self.name in other.among)


def zone_of(text: str) -> Zone | None:
    """The time zone for ``text``: a zone, a UTC offset, a city, a country or an abbreviation.

    A country with several zones, or a word with several meanings, results in a question; ``None`` means unknown.
    """
    folded = _folded(text)
    if match := _OFFSET.fullmatch(folded):
        sign, hours, minutes = [part for part in match.groups() if part] + ([] if match[3] or match[6] else ["00"])
        return Zone(f"{sign}{int(hours):02}:{minutes}")
    several = _SEVERAL.get(folded, ())
    code = _country_codes().get(folded, "")
    zones = several or _zones_of_countries().get(code, ())
    name = _ONE_IN_PRACTICE.get(code) or (zones[0] if len(zones) == 1 else "" if zones else _names().get(folded, ""))
    if name:
        return Zone(name)
    return _unclear(text, zones) if zones else None


def _unclear(text: str, zones: tuple[str, ...]) -> Zone:
    shown = ", ".join(zones[:4]) + (", …" if len(zones) > 4 else "")
    return Zone(unclear=f"Which time zone do you mean by '{text}'? For example {shown}", among=zones)


def _folded(text: str) -> str:
    plain = text
    if not text.isascii():
        plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(plain.replace("_", " ").casefold().split())


@cache
def _names() -> dict[str, str]:
    """Every zone by its full name and, if it is unique, by its city; then the cities listed here."""
    by_city: defaultdict[str, set[str]] = defaultdict(set)
    names: dict[str, str] = {}
    for zone in _lines("zones"):
        names[_folded(zone)] = zone
        region, slash, city = zone.rpartition("/")
        if slash and region.split("/")[0] not in ("Etc", "US", "Canada", "Brazil", "Mexico", "Chile", "SystemV"):
            by_city[_folded(city)].add(zone)
    for city, zones in by_city.items():
        if city not in _NOT_CITIES:
            names.setdefault(city, min(zones, key=lambda zone: (zone.count("/"), zone)))
    for zone, cities in _CITIES.items():
        names.update({_folded(city): zone for city in cities.split(", ")})
    return names


@cache
def _country_codes() -> dict[str, str]:
    codes = {}
    for line in _lines("zoneinfo/iso3166.tab"):
        code, name = line.split("\t")[:2]
        codes[_folded(name)] = code
    codes.update({_folded(name): code for code, names in _COUNTRIES.items() for name in names.split(", ")})
    return codes


@cache
def _zones_of_countries() -> dict[str, tuple[str, ...]]:
    zones: defaultdict[str, list[str]] = defaultdict(list)
    for line in _lines("zoneinfo/zone.tab"):
        code, _, zone = line.split("\t")[:3]
        zones[code].append(zone)
    return {code: tuple(names) for code, names in zones.items()}


def _lines(name: str) -> list[str]:
    """The lines of a data file of ``tzdata``, without comments; empty if the package is missing."""
    spec = find_spec("tzdata")
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        return []
    text = Path(places[0], name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
