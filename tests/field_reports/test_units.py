"""Units as people write them: parentheses, prefixes, data rates and fuel economy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.field_reports.rows import rows
from tests.toolsets.calling import Result, call, code_of, message_of

from react_toolsets.math import MathToolset

MATH = MathToolset()


def converted(value: object, from_unit: str, to_unit: str) -> Result:
    return call(MATH, "convert_units", value=value, from_unit=from_unit, to_unit=to_unit)


@pytest.mark.parametrize("row", rows("math.convert_units"))
def test_a_reported_conversion_gives_the_value_or_the_question_it_should(row: Mapping[str, Any]) -> None:
    result = converted(**row["input"])
    if "value" in row["expected"]:
        assert result.get("value") == row["expected"]["value"]
    else:
        assert (code_of(result), result["error"].get("choices")) == (
            row["expected"]["code"],
            row["expected"]["choices"],
        )


@pytest.mark.parametrize(
    ("value", "from_unit", "to_unit", "expected", "unit"),
    [
        (1, "kg/(m*s)", "Pa*s", "1", "Pa*s"),
        (1, "J/(kg*K)", "J/kg/K", "1", "J/kg/kelvin"),
        (1, "lb/(acre*week)", "kg/(hectare*day)", "0.160121593742065", "kg/(hectare*day)"),
        (1, "(kg*m)/(s*s)", "N", "1", "N"),
        (2, "(m/s)^2", "m2/s2", "2", "m2/s2"),
        (2, "(m/s)²", "J/kg", "2", "J/kg"),
        (1, "((m))", "cm", "100", "cm"),
        (1, "W/(m²·K)", "W/(cm2*K)", "0.0001", "W/(cm2*kelvin)"),
        (1, "m/(s/h)", "m", "3600", "m"),
        (1, "J/kg*K", "J/(kg*K)", "1", "J/(kg*kelvin)"),  # settled by the other unit
        (1, "Mbps/s", "kbit/s/s", "1000", "kbit/s/s"),
        (1, "gallon (US)", "l", "3.785411784", "l"),
        (3, "µK", "nK", "3000", "nkelvin"),
        (1, "gbps", "MB/s", "125", "MB/s"),
        (1, "mbps", "kbps", "1000", "kbit/s"),
        (1, "Kbps", "bps", "1000", "bit/s"),
        (1, "MBps", "Mbit/s", "8", "Mbit/s"),
        (30, "US mpg", "l/100 km", "7.84048611111111", "l/100km"),
        (7.5, "L/100km", "km/l", "13.3333333333333", "km/l"),
        (7, "l/100km", "mpg (imperial)", "40.3544194759746", "mi/imperial_gallon"),
        (100, "kcal/100g", "kJ/kg", "4184", "kJ/kg"),
        (250, "mcg", "mg", "0.25", "mg"),
        (1, "mmol/l", "mol/m3", "1", "mol/m3"),
        (100, "Nm", "ft-lb", "73.7562149277265", "ft*lbf"),
        (2, "carats", "mg", "400", "mg"),
        (1, "troy ounce", "g", "31.1034768", "g"),
        (1, "bbl", "us_gallon", "42", "us_gallon"),
        (1, "VA", "W", "1", "W"),
    ],
)
def test_its_siblings_are_converted(value: object, from_unit: str, to_unit: str, expected: str, unit: str) -> None:
    result = converted(value, from_unit, to_unit)
    assert (result.get("value"), result.get("unit")) == (expected, unit)


@pytest.mark.parametrize(
    ("from_unit", "to_unit", "code"),
    [
        ("m/(s", "km/h", "unknown_unit"),
        ("m/s)", "km/h", "unknown_unit"),
        ("()", "m", "unknown_unit"),
        ("kg(m/s)", "N*s", "unknown_unit"),
        ("W/(m*celsius)", "W/(m*K)", "unknown_unit"),
        ("m2", "mi/us_gallon", "incompatible_units"),
        ("mg/kg*min", "mg/kg*h", "ambiguous_unit"),
        ("MBPS", "MB/s", "ambiguous_unit"),
        ("mpg", "l/100km", "ambiguous_unit"),
    ],
)
def test_what_could_be_read_wrongly_is_refused_or_asked(from_unit: str, to_unit: str, code: str) -> None:
    assert code_of(converted(1, from_unit, to_unit)) == code


def test_nothing_driven_has_no_fuel_consumption() -> None:
    assert code_of(converted(0, "km/l", "l/100km")) == "domain_error"


@pytest.mark.parametrize(
    "name",
    [
        "gr",
        "mole",
        "gray",
        "grain",
        "dram",
        "slug",
        "henry",
        "farad",
        "barrel",
        "chain",
        "cwt",
        "m(s)",
        "k(m)h",
        "m(h)",
    ],
)
def test_no_hint_names_a_unit_that_means_something_else(name: str) -> None:
    result = converted(1, name, "m")
    assert code_of(result) in ("unknown_unit", "incompatible_units")
    assert "Did you mean" not in message_of(result)
