"""A unit of measurement, in terms of base units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from react_run.support import dataclass
from react_toolsets.math.spellings import raised

Dimensions = tuple[int, ...]
"""Exponents of metre, gram, second, kelvin, ampere, bit, turn (a whole circle) and mole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A unit, or a product of units.

    Args:
        id: The canonical name, in ASCII except for micro.
        symbol: The symbol for display.
        factor: The exact size in base units.
        dimensions: The exponents of the base units.
        pi: The exponent of pi, by which ``factor`` is multiplied; keeps ``factor`` exact.
        zero: The zero point of a temperature scale, in kelvin.
    """

    id: str
    symbol: str
    factor: Fraction
    dimensions: Dimensions
    pi: int = 0
    zero: Fraction = Fraction(0)

    @property
    def is_scale(self) -> bool:
        """Whether it is a temperature scale with its own zero point."""
        return bool(self.zero)

    @property
    def dimension(self) -> str:
        """The name of the quantity that it measures."""
        if self.dimensions == _FUEL and "/" in self.id:
            return "fuel consumption"
        return NAMES.get(self.dimensions, "derived quantity")

    def raised(self, exponent: int) -> Unit:
        """The unit to the power of ``exponent``."""
        compound = bool(re.search(r"[*/\d]", self.id))
        return Unit(
            id=f"({self.id})^{exponent}" if compound else f"{self.id}{exponent}",
            symbol=f"({self.symbol}){raised(exponent)}" if compound else f"{self.symbol}{raised(exponent)}",
            factor=self.factor**exponent,
            dimensions=_added(_NONE, self.dimensions, exponent),
            pi=self.pi * exponent,
        )

    def times(self, count: int) -> Unit:
        """A multiple of the unit."""
        return replace(self, id=f"{count}{self.id}", symbol=f"{count} {self.symbol}", factor=self.factor * count)

    def joined(self, other: Unit, sign: int) -> Unit:
        """The product of two units, or their quotient if ``sign`` is -1."""
        return Unit(
            id=_product(self.id, other.id, "*" if sign > 0 else "/"),
            symbol=_product(self.symbol, other.symbol, "·" if sign > 0 else "/"),
            factor=self.factor * other.factor**sign,
            dimensions=_added(self.dimensions, other.dimensions, sign),
            pi=self.pi + sign * other.pi,
        )

    def is_inverse_of(self, other: Unit) -> bool:
        """Whether one is distance per volume of fuel, and the other volume per distance."""
        quotients = "/" in self.id and "/" in other.id
        return quotients and {self.dimensions, other.dimensions} == {_FUEL, _added(_NONE, _FUEL, -1)}


def _product(left: str, right: str, sign: str) -> str:
    """Two names joined by an operator, with parentheses where needed."""
    left = f"({left})" if sign != "/" and "/" in left else left
    return f"{left}{sign}({right})" if re.search(r"[*·/]", right) else f"{left}{sign}{right}"


def _added(a: Dimensions, b: Dimensions, times: int) -> Dimensions:
    return tuple(x + times * y for x, y in zip(a, b, strict=True))


_NONE: Dimensions = (0,) * 8
_FUEL: Dimensions = (2, 0, 0, 0, 0, 0, 0, 0)

NAMES: Mapping[Dimensions, str] = {
    (1, 0, 0, 0, 0, 0, 0, 0): "length",
    (2, 0, 0, 0, 0, 0, 0, 0): "area",
    (3, 0, 0, 0, 0, 0, 0, 0): "volume",
    (0, 1, 0, 0, 0, 0, 0, 0): "mass",
    (-3, 1, 0, 0, 0, 0, 0, 0): "density",
    (0, 0, 1, 0, 0, 0, 0, 0): "time",
    (0, 0, -1, 0, 0, 0, 0, 0): "frequency",
    (1, 0, -1, 0, 0, 0, 0, 0): "speed",
    (1, 0, -2, 0, 0, 0, 0, 0): "acceleration",
    (3, 0, -1, 0, 0, 0, 0, 0): "flow",
    (1, 1, -2, 0, 0, 0, 0, 0): "force",
    (-1, 1, -2, 0, 0, 0, 0, 0): "pressure",
    (2, 1, -2, 0, 0, 0, 0, 0): "energy",
    (2, 1, -3, 0, 0, 0, 0, 0): "power",
    (0, 0, 0, 1, 0, 0, 0, 0): "temperature",
    (0, 0, 0, 0, 1, 0, 0, 0): "electric current",
    (2, 1, -3, 0, -1, 0, 0, 0): "voltage",
    (2, 1, -3, 0, -2, 0, 0, 0): "resistance",
    (0, 0, 0, 0, 0, 1, 0, 0): "data",
    (0, 0, -1, 0, 0, 1, 0, 0): "data rate",
    (0, 0, 0, 0, 0, 0, 1, 0): "angle",
    (0, 0, -1, 0, 0, 0, 1, 0): "rotation",
    (0, 1, -2, 0, -1, 0, 0, 0): "magnetic flux density",
    (-2, 0, 0, 0, 0, 0, 0, 0): "fuel economy",
    (0, 0, 0, 0, 0, 0, 0, 1): "amount of substance",
    (-3, 0, 0, 0, 0, 0, 0, 1): "molar concentration",
    (0, 1, 0, 0, 0, 0, 0, -1): "molar mass",
}
"""The quantities by the dimensions of their units."""
