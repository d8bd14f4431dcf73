"""Names of units: data for the parser."""

from __future__ import annotations

from collections.abc import Mapping

_ADVERTISED = """
    mm cm m km in ft yd mi nmi  mg g kg t oz lb stone  celsius fahrenheit kelvin  ms s min h day week
    ml l m3 us_tsp us_tbsp us_fl_oz us_cup us_pint us_quart us_gallon
    imperial_tsp imperial_tbsp imperial_fl_oz imperial_cup imperial_pint imperial_quart imperial_gallon
    m2 km2 cm2 ft2 yd2 mi2 acre hectare  m/s km/h mph knot ft/s  J kJ kWh cal kcal  W kW hp  Pa kPa bar psi atm mmHg
    bit B kB MB GB TB KiB MiB GiB  deg rad
"""
ADVERTISED: tuple[str, ...] = tuple(_ADVERTISED.split())
"""The ids in the tool's schema; the parser understands many more."""

SYMBOLS: Mapping[str, str] = {
    "b": "bit",
    "L": "l",
    "C": "celsius",
    "F": "fahrenheit",
    "K": "kelvin",
    "R": "rankine",
    "d": "day",
    "ha": "hectare",
    "ac": "acre",
    "kn": "knot",
    "Ω": "ohm",
    "Torr": "torr",
    "PS": "metric_hp",
    "°": "deg",
    "'": "ft",
    '"': "in",
    "KB": "kB",
    "Kb": "kbit",
    "Nm": "N*m",
    "VA": "V*A",
    "mcg": "µg",
}
"""Case-sensitive symbols and their units; ids are understood as well."""

WORDS: Mapping[str, str] = {
    "m": "metre meter",
    "in": "in inch inche",
    "ft": "ft foot feet",
    "yd": "yd yard",
    "mi": "mi mile statutemile",
    "nmi": "nmi nauticalmile seamile",
    "ly": "ly lightyear",
    "au": "au astronomicalunit",
    "g": "gram gramme",
    "t": "tonne metricton",
    "lb": "lb pound poundmass",
    "short_ton": "shortton",
    "long_ton": "longton",
    "stone": "stone st",
    "s": "second sec",
    "min": "min minute",
    "h": "h hour hr",
    "day": "day",
    "week": "week wk",
    "celsius": "c celsius centigrade",
    "fahrenheit": "f fahrenheit",
    "kelvin": "k kelvin",
    "rankine": "rankine",
    "l": "l litre liter",
    "acre": "acre",
    "hectare": "hectare",
    "knot": "knot kts",
    "mph": "mph milesanhour",
    "N": "newton",
    "lbf": "lbf poundforce",
    "kgf": "kgf kilogramforce",
    "J": "j joule",
    "Wh": "wh watthour",
    "cal": "cal calorie",
    "BTU": "btu britishthermalunit",
    "eV": "ev electronvolt",
    "W": "w watt",
    "hp": "hp horsepower",
    "metric_hp": "metrichorsepower metrichp",
    "Pa": "pa pascal",
    "bar": "bar",
    "psi": "psi",
    "atm": "atm atmosphere standardatmosphere",
    "mmHg": "mmhg",
    "inHg": "inhg",
    "torr": "torr",
    "A": "ampere amp",
    "V": "volt",
    "ohm": "ohm",
    "Hz": "hz hertz",
    "bit": "bit",
    "B": "byte",
    "turn": "turn revolution rev",
    "rad": "rad radian",
    "deg": "deg degree",
    "grad": "grad gradian gon",
    "arcmin": "arcmin arcminute",
    "arcsec": "arcsec arcsecond",
    "km": "km",
    "cm": "cm",
    "kg": "kg kilo",
    "kJ": "kj",
    "kWh": "kwh",
    "kW": "kw",
    "kPa": "kpa",
    "kcal": "kcal foodcalorie largecalorie",
    "µm": "micron",
    "cm3": "cc",
    "km/h": "kmh kph kmph kmhr",
    "m/s": "mps",
    "ft/s": "fps",
    "km/s": "kps",
    "turn/min": "rpm",
    "ft*lbf": "ftlb footpound ftlbf",
    "mol": "mol mole",
    "are": "are",
    "T": "tesla",
    "carat": "carat",
    "troy_oz": "troyounce troyoz oztroy ozt",
    "oil_bbl": "oilbarrel bbl barrelofoil",
}
"""Case-insensitive words by unit, without spaces; a plural s is understood."""

US_OR_IMPERIAL: Mapping[str, str] = {
    "tsp": "teaspoon tsp",
    "tbsp": "tablespoon tbsp tbs",
    "fl_oz": "fluidounce floz fluidoz ozfl",
    "cup": "cup",
    "pint": "pint pt",
    "quart": "quart qt",
    "gallon": "gallon gal",
}
"""Measures of volume that differ between the United States and the United Kingdom."""

AMBIGUOUS: Mapping[str, tuple[str, ...]] = {
    "oz": ("oz", "us_fl_oz", "imperial_fl_oz"),
    "ounce": ("oz", "us_fl_oz", "imperial_fl_oz"),
    "ton": ("t", "short_ton", "long_ton"),
    "kt": ("knot", "kt"),
    "mpg": ("mi/us_gallon", "mi/imperial_gallon"),
}
"""Words for several units; the other unit of a conversion may resolve which is meant."""

SYSTEMS: Mapping[str, str] = {
    **dict.fromkeys(("us", "usa", "american"), "us"),
    **dict.fromkeys(("imperial", "imp", "uk", "british"), "imperial"),
}
"""Words for a system of measures."""

PREFIXES: Mapping[str, tuple[str, int, int]] = {
    "p": ("pico", 10, -12),
    "n": ("nano", 10, -9),
    "µ": ("micro", 10, -6),
    "m": ("milli", 10, -3),
    "c": ("centi", 10, -2),
    "d": ("deci", 10, -1),
    "da": ("deca", 10, 1),
    "h": ("hecto", 10, 2),
    "k": ("kilo", 10, 3),
    "M": ("mega", 10, 6),
    "G": ("giga", 10, 9),
    "T": ("tera", 10, 12),
    "P": ("peta", 10, 15),
    "Ki": ("kibi", 2, 10),
    "Mi": ("mebi", 2, 20),
    "Gi": ("gibi", 2, 30),
    "Ti": ("tebi", 2, 40),
    "Pi": ("pebi", 2, 50),
}
"""The word and the value (base and exponent) of each prefix, by symbol."""

PREFIXED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("m", "g", "s", "l", "N", "J", "Wh", "cal", "eV", "W", "Pa", "bar", "V", "ohm", "Hz", "kelvin"),
        ("p", "n", "µ", "m", "c", "d", "da", "h", "k", "M", "G", "T", "P"),
    ),
    **dict.fromkeys(("bit", "B"), ("k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi")),
    **dict.fromkeys(("mol", "T"), ("p", "n", "µ", "m", "k")),
    "A": ("p", "n", "µ", "m", "k"),
    "t": ("k", "M", "G"),
    "rad": ("µ", "m"),
}
"""The prefixes that units take; other units take none."""

_CURRENCIES = "usd eur gbp jpy chf cny inr cad aud dollar euro sterling yen yuan rupee franc peso bitcoin $ € £ ¥ ₹"
_WITHOUT_LENGTH = "month year yr decade century"
_NO_MONEY = "exchange rates change daily, so this tool has no currencies. Use a source of current rates."
_NO_LENGTH = "it has no fixed length. Use the calendar tools, or days."
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(_CURRENCIES.split(), _NO_MONEY),
    **dict.fromkeys(_WITHOUT_LENGTH.split(), _NO_LENGTH),
}
"""Words that are not units, with the reason."""

_OTHERS = """
    gray grain gramforce dram slug dalton mole henry farad lumen lux candela sievert becquerel katal weber siemens
    coulomb poise stokes dyne erg gauss oersted maxwell curie rontgen roentgen rem parsec angstrom fathom furlong
    chain link rod perch rood hand span league cable point pica bushel peck barrel firkin hogshead minim gill shot
    stere cord quintal hundredweight cwt pennyweight therm baud nit footcandle decibel neper mired dioptre diopter
    bel
"""
OTHERS = frozenset(_OTHERS.split())
"""Units that exist but are not supported: similar names must not be suggested for them."""
