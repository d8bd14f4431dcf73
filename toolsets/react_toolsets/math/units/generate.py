"""Generates ``table.py`` from pint's definitions: ``python -m react_toolsets.math.units.generate`` (needs pint).

Only the definitions are used, since importing pint takes longer than a first conversion may, and its parser for unit
expressions can hang on hostile input.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pint import UnitRegistry

DEFINITIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "length": {
        "m": ("m", "meter"),
        "in": ("in", "inch"),
        "ft": ("ft", "foot"),
        "yd": ("yd", "yard"),
        "mi": ("mi", "mile"),
        "nmi": ("nmi", "nautical_mile"),
        "ly": ("ly", "light_year"),
        "au": ("au", "astronomical_unit"),
    },
    "mass": {
        "g": ("g", "gram"),
        "t": ("t", "metric_ton"),
        "oz": ("oz", "ounce"),
        "lb": ("lb", "pound"),
        "stone": ("st", "stone"),
        "short_ton": ("short ton", "short_ton"),
        "long_ton": ("long ton", "long_ton"),
        "carat": ("ct", "carat"),
        "troy_oz": ("oz t", "troy_ounce"),
    },
    "time": {
        "s": ("s", "second"),
        "min": ("min", "minute"),
        "h": ("h", "hour"),
        "day": ("d", "day"),
        "week": ("wk", "week"),
    },
    "temperature": {
        "kelvin": ("K", "kelvin"),
        "celsius": ("°C", "degree_Celsius"),
        "fahrenheit": ("°F", "degree_Fahrenheit"),
        "rankine": ("°R", "degree_Rankine"),
    },
    "area": {
        "acre": ("ac", "4840 * yard ** 2"),  # pint's acre is based on the US survey foot, which was abolished in 2022
        "hectare": ("ha", "hectare"),
        "are": ("are", "are"),
    },
    "volume": {
        "l": ("l", "liter"),
        "us_tsp": ("US tsp", "teaspoon"),
        "us_tbsp": ("US tbsp", "tablespoon"),
        "us_fl_oz": ("US fl oz", "fluid_ounce"),
        "us_cup": ("US cup", "cup"),
        "us_pint": ("US pt", "pint"),
        "us_quart": ("US qt", "quart"),
        "us_gallon": ("US gal", "gallon"),
        "imperial_tsp": ("imp tsp", "imperial_cup / 48"),
        "imperial_tbsp": ("imp tbsp", "imperial_cup / 16"),
        "imperial_fl_oz": ("imp fl oz", "imperial_fluid_ounce"),
        "imperial_cup": ("imp cup", "imperial_cup"),
        "imperial_pint": ("imp pt", "imperial_pint"),
        "imperial_quart": ("imp qt", "imperial_quart"),
        "imperial_gallon": ("imp gal", "imperial_gallon"),
        "oil_bbl": ("bbl", "oil_barrel"),
    },
    "speed": {
        "mph": ("mph", "mile / hour"),
        "knot": ("kn", "knot"),
    },
    "force": {
        "N": ("N", "newton"),
        "lbf": ("lbf", "force_pound"),
        "kgf": ("kgf", "force_kilogram"),
    },
    "energy": {
        "J": ("J", "joule"),
        "Wh": ("Wh", "watt_hour"),
        "cal": ("cal", "calorie"),
        "BTU": ("BTU", "british_thermal_unit"),
        "eV": ("eV", "electron_volt"),
    },
    "power": {
        "W": ("W", "watt"),
        "hp": ("hp", "horsepower"),
        "metric_hp": ("PS", "metric_horsepower"),
    },
    "pressure": {
        "Pa": ("Pa", "pascal"),
        "bar": ("bar", "bar"),
        "psi": ("psi", "pound_force_per_square_inch"),
        "atm": ("atm", "standard_atmosphere"),
        "mmHg": ("mmHg", "millimeter_Hg"),
        "inHg": ("inHg", "inch_Hg"),
        "torr": ("Torr", "torr"),
    },
    "electricity": {
        "A": ("A", "ampere"),
        "V": ("V", "volt"),
        "ohm": ("Ω", "ohm"),
        "T": ("T", "tesla"),
    },
    "amount of substance": {
        "mol": ("mol", "mole"),
    },
    "frequency": {
        "Hz": ("Hz", "hertz"),
    },
    "data": {
        "bit": ("bit", "bit"),
        "B": ("B", "byte"),
    },
    "angle": {
        "turn": ("turn", "turn"),
        "rad": ("rad", "radian"),
        "deg": ("°", "degree"),
        "grad": ("gon", "grade"),
        "arcmin": ("arcmin", "arcminute"),
        "arcsec": ("arcsec", "arcsecond"),
    },
}

BASES = ("meter", "gram", "second", "kelvin", "ampere", "bit", "radian", "mole")
"""Pint's names of the base units, in the order of a unit's dimensions; angles are converted to whole turns."""

_HEAD = '''\
"""The known units, generated from pint's definitions by ``generate.py``: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from react_toolsets.math.units.unit import Unit

UNITS: Mapping[str, Unit] = {
    name: Unit(id=name, symbol=symbol, factor=Fraction(factor), dimensions=dimensions, pi=pi, zero=Fraction(zero))
    for name, symbol, factor, dimensions, pi, zero in (
'''
_TAIL = '''\
    )
}
"""The units by canonical id."""
'''


def render() -> str:
    """The source of ``table.py``."""
    from pint import UnitRegistry

    registry: UnitRegistry[Any] = UnitRegistry(non_int_type=Fraction, autoconvert_offset_to_baseunit=True)
    rows = [_row(registry, name, *definition) for group in DEFINITIONS.values() for name, definition in group.items()]
    return _HEAD + "".join(f"        {row},\n" for row in rows) + _TAIL


def _row(registry: UnitRegistry[Any], name: str, symbol: str, definition: str) -> str:
    zero, _ = _root(registry, 0, definition)
    one, dimensions = _root(registry, 1, definition)
    factor, pi = one - zero, 0
    if name == "rad":  # pint's pi is rounded; all other angles are exact fractions of a turn
        factor, pi = Fraction(1, 2), -1
    elif dimensions == _ANGLE:
        factor /= _root(registry, 1, "turn")[0]
    return str((name, symbol, str(factor), dimensions, pi, str(zero))).replace("'", '"')


def _root(registry: UnitRegistry[Any], value: int, definition: str) -> tuple[Fraction, tuple[int, ...]]:
    if definition.isidentifier():
        quantity = registry.Quantity(Fraction(value), definition)
    else:
        quantity = value * registry.parse_expression(definition)
    root = quantity.to_root_units()
    exponents = dict(root.unit_items())
    return Fraction(root.magnitude), tuple(int(str(exponents.get(base, 0))) for base in BASES)


_ANGLE = (0, 0, 0, 0, 0, 0, 1, 0)

if __name__ == "__main__":
    Path(__file__).with_name("table.py").write_text(render(), encoding="utf-8")
