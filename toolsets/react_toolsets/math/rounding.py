"""Rounding to whole numbers and to places: half away from zero, as is usual for money, or half to even."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import Arithmetic, Number, Rounded, is_integer

FEWEST_PLACES, MOST_PLACES = -12, 30


def floor(arithmetic: Arithmetic, x: Number) -> Number:
    """The largest whole number up to ``x``."""
    return Fraction(math.floor(_certain(arithmetic, x)))


def ceil(arithmetic: Arithmetic, x: Number) -> Number:
    """The smallest whole number from ``x`` on."""
    return Fraction(math.ceil(_certain(arithmetic, x)))


def trunc(arithmetic: Arithmetic, x: Number) -> Number:
    """``x`` without its fractional part."""
    return Fraction(math.trunc(_certain(arithmetic, x)))


def round_half_away(arithmetic: Arithmetic, x: Number, places: Number = Fraction(0)) -> Number:
    """``x`` rounded to ``places`` digits after the point, halves away from zero: 2.345 becomes 2.35."""
    return _rounded(arithmetic, x, places, _half_away)


def _half_away(x: Fraction) -> int:
    return math.trunc(x + Fraction(1 if x > 0 else -1, 2))


def round_half_even(arithmetic: Arithmetic, x: Number, places: Number = Fraction(0)) -> Number:
    """``x`` rounded to ``places`` digits after the point, halves to the even digit: 2.345 becomes 2.34."""
    return _rounded(arithmetic, x, places, round)


def _rounded(arithmetic: Arithmetic, x: Number, places: Number, to_whole: Callable[[Fraction], int]) -> Number:
    if not is_integer(places) or not FEWEST_PLACES <= places <= MOST_PLACES:
        raise Refusal(
            "domain_error", f"The number of places must be a whole number from {FEWEST_PLACES} to {MOST_PLACES}."
        )
    scale = Fraction(10) ** int(places)
    scaled = x * scale if isinstance(x, Fraction) else arithmetic.context.multiply(x, arithmetic.decimal(scale))
    return Rounded.of(to_whole(_certain(arithmetic, scaled)) / scale, max(0, int(places)))


def _certain(arithmetic: Arithmetic, x: Number) -> Fraction:
    """``x`` as a fraction; a half or whole number with only a rounding error becomes exact."""
    if isinstance(x, Fraction):
        return x
    arithmetic.check_order(x)
    twice = arithmetic.context.multiply(x, Decimal(2))
    halves = twice.to_integral_value(context=arithmetic.context)
    distance = arithmetic.context.subtract(twice, halves)
    if distance and arithmetic.negligible(distance, max(0, x.adjusted())):
        return Fraction(halves) / 2
    return Fraction(x)
