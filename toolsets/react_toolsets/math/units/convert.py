"""``convert_units``: converts with exact factors, and asks about ambiguous units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import MAX_DIGITS, Arithmetic, Number, digits_of
from react_toolsets.math.quantity import read_number
from react_toolsets.math.text import number_text, significant_text
from react_toolsets.math.units.parse import readings
from react_toolsets.math.units.unit import Unit

DIGITS = 15
"""The default number of significant digits."""


def convert(value: object, from_unit: str, to_unit: str, digits: int = DIGITS) -> Mapping[str, object]:
    """The fields of the result of a conversion.

    Args:
        value: A number, or a number as text.
        from_unit: The unit of ``value``.
        to_unit: The unit of the result.
        digits: Significant digits to show.

    Raises:
        Refusal: A unit is unknown, or there is no conversion, or more than one.
    """
    number = read_number(value)
    source, target = _settled(from_unit, to_unit)
    if source.dimension == "temperature" and number * source.factor + source.zero < 0:
        raise Refusal(
            "below_absolute_zero",
            f"{number_text(number)[0]} {source.symbol} is below absolute zero (0 K, -273.15 °C, -459.67 °F). "
            "Check the value; to convert a temperature difference, multiply by the factor alone with calculate.",
        )
    result = _converted(number, source, target, digits)
    text, lost = significant_text(result, digits)
    return {
        "value": text,
        "unit": target.id,
        "symbol": target.symbol,
        "dimension": target.dimension,
        "approximate": lost,
        "input": {"value": number_text(number)[0], "unit": source.id, "symbol": source.symbol},
    }


def _converted(number: Fraction, source: Unit, target: Unit, digits: int) -> Number:
    if source.dimensions != target.dimensions:  # such as l/100 km and miles per gallon, which are inverses
        if not number:
            raise Refusal("domain_error", f"0 {source.symbol} has no value in {target.symbol}. Check the value.")
        number, source = 1 / (number * source.factor), replace(source, factor=Fraction(1), pi=-source.pi)
    result = (number * source.factor + source.zero - target.zero) / target.factor
    if max(digits_of(result.numerator), digits_of(result.denominator)) > MAX_DIGITS:
        raise Refusal("domain_error", "The value is out of range. Use a number of a usual size.")
    turns = source.pi - target.pi
    if not result or not turns:
        return result
    from react_toolsets.math.angles import pi
    from react_toolsets.math.operators import multiply
    from react_toolsets.math.powers import power

    arithmetic = Arithmetic(digits + 20)
    return multiply(arithmetic, result, power(arithmetic, pi(arithmetic), Fraction(turns)))


def _settled(from_unit: str, to_unit: str) -> tuple[Unit, Unit]:
    """The pair of units for two texts; incompatible units are refused before the user is asked about ambiguous ones."""
    sources, targets = readings(from_unit), readings(to_unit)
    pairs = [
        (source, target)
        for source in sources
        for target in targets
        if source.dimensions == target.dimensions or source.is_inverse_of(target)
    ]
    if not pairs:
        raise _incompatible(from_unit, sources, to_unit, targets)
    if len(pairs) > 1:
        raise _ambiguous(from_unit, to_unit, pairs)
    return pairs[0]


def _incompatible(from_unit: str, sources: Sequence[Unit], to_unit: str, targets: Sequence[Unit]) -> Refusal:
    return Refusal(
        "incompatible_units",
        f"{from_unit.strip()[:40]} measures {_dimensions(sources)}, {to_unit.strip()[:40]} measures "
        f"{_dimensions(targets)}: there is no factor between them. Choose units of one kind; from mass to volume, "
        "calculate with a density.",
    )


def _dimensions(units: Sequence[Unit]) -> str:
    return " or ".join(dict.fromkeys(unit.dimension for unit in units))


def _ambiguous(from_unit: str, to_unit: str, pairs: Sequence[tuple[Unit, Unit]]) -> Refusal:
    questions, choices = [], {}
    for parameter, text, units in (
        ("from_unit", from_unit, [source for source, _ in pairs]),
        ("to_unit", to_unit, [target for _, target in pairs]),
    ):
        ids = list(dict.fromkeys(unit.id for unit in units))
        if len(ids) > 1:
            questions.append(f"Which {text.strip()[:40]!r} is meant: {' or '.join(ids)}?")
            choices[parameter] = ids
    return Refusal("ambiguous_unit", " ".join(questions), choices=choices)
