"""Pi, the trigonometric functions and their inverses, in radians."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import Arithmetic, Number
from react_toolsets.math.operators import divide, multiply
from react_toolsets.math.powers import sqrt

_LARGEST_ORDER = 1_000
"""Angles above 10**1000 are refused, because reducing them needs too many digits of pi."""


WORK_PER_SERIES = 60_000
"""Units of work for summing a series, in addition to those for its precision."""


@lru_cache(maxsize=64)
def _pi(precision: int) -> Decimal:
    """Pi by the Gauss-Legendre algorithm, which doubles the digits with each step."""
    context = Arithmetic(precision + 10).context
    a, b, rest = Decimal(1), context.sqrt(Decimal("0.5")), Decimal("0.25")
    for step in count():
        mean = context.divide(context.add(a, b), Decimal(2))
        difference = context.subtract(a, mean)
        b = context.sqrt(context.multiply(a, b))
        rest = context.subtract(rest, context.multiply(Decimal(2**step), context.multiply(difference, difference)))
        a = mean
        if difference.adjusted() < -precision // 2 - 5:
            break
    return context.divide(context.multiply(context.add(a, b), context.add(a, b)), context.multiply(Decimal(4), rest))


def pi(arithmetic: Arithmetic) -> Number:
    """Pi, half the circumference of a circle of radius 1."""
    return arithmetic.decimal(_pi(arithmetic.precision))


def tau(arithmetic: Arithmetic) -> Number:
    """Tau, the circumference of a circle of radius 1."""
    return multiply(arithmetic, Fraction(2), pi(arithmetic))


def degrees(arithmetic: Arithmetic, x: Number) -> Number:
    """Convert ``x`` radians to degrees."""
    return divide(arithmetic, multiply(arithmetic, x, Fraction(180)), pi(arithmetic)) if x else Fraction(0)


def radians(arithmetic: Arithmetic, x: Number) -> Number:
    """Convert ``x`` degrees to radians."""
    return divide(arithmetic, multiply(arithmetic, x, pi(arithmetic)), Fraction(180)) if x else Fraction(0)


def sin(arithmetic: Arithmetic, x: Number) -> Number:
    """The sine of ``x`` radians."""
    return _turned(arithmetic, x, 0) if x else Fraction(0)


def cos(arithmetic: Arithmetic, x: Number) -> Number:
    """The cosine of ``x`` radians."""
    return _turned(arithmetic, x, 1) if x else Fraction(1)


def tan(arithmetic: Arithmetic, x: Number) -> Number:
    """The tangent of ``x`` radians."""
    if not x:
        return Fraction(0)
    cosine = _turned(arithmetic, x, 1)
    if not cosine:
        raise Refusal("domain_error", "The tangent of a right angle is infinite. Check the argument (in radians).")
    return divide(arithmetic, _turned(arithmetic, x, 0), cosine)


def _turned(arithmetic: Arithmetic, x: Number, quarters: int) -> Decimal:
    """The sine of ``x`` plus ``quarters`` right angles; zero if only rounding errors are left."""
    given = arithmetic.decimal(x)
    size = max(0, given.adjusted())
    if size > _LARGEST_ORDER:
        raise Refusal("numeric_limit_exceeded", "The angle is too large. Take off whole turns first, with % (2*pi).")
    if isinstance(x, Decimal):
        arithmetic.check_order(x)
    wide = arithmetic.wider(size + 10)
    arithmetic.spend(WORK_PER_SERIES + 6 * wide.precision**2)
    right_angle = wide.context.divide(_pi(wide.precision), Decimal(2))
    angle = wide.decimal(x)
    turns = wide.context.divide(angle, right_angle).to_integral_value(context=wide.context)
    rest = wide.context.subtract(angle, wide.context.multiply(turns, right_angle))
    quadrant = (int(turns) + quarters) % 4
    value = _cosine(wide, rest) if quadrant % 2 else _sine(wide, rest)
    value = arithmetic.decimal(value if quadrant < 2 else value.copy_negate())
    return Decimal(0) if isinstance(x, Decimal) and arithmetic.negligible(value, size) else value


def _sine(arithmetic: Arithmetic, x: Decimal) -> Decimal:
    return _series(arithmetic, x, x, 1)


def _cosine(arithmetic: Arithmetic, x: Decimal) -> Decimal:
    return _series(arithmetic, x, Decimal(1), 0)


def _series(arithmetic: Arithmetic, x: Decimal, first: Decimal, power: int) -> Decimal:
    """The Taylor series of sine and cosine: each term is the previous one times -x²/((n+1)(n+2))."""
    context = arithmetic.context
    square = context.multiply(x, x)
    term = total = first
    while term and not _vanishes(arithmetic, term, total):
        term = context.divide(context.multiply(term.copy_negate(), square), Decimal((power + 1) * (power + 2)))
        total = context.add(total, term)
        power += 2
    return total


def _vanishes(arithmetic: Arithmetic, term: Decimal, total: Decimal) -> bool:
    return term.adjusted() < total.adjusted() - arithmetic.precision - 2


def atan(arithmetic: Arithmetic, x: Number) -> Number:
    """The angle in radians whose tangent is ``x``."""
    return _arctangent(arithmetic, arithmetic.decimal(x)) if x else Fraction(0)


def asin(arithmetic: Arithmetic, x: Number) -> Number:
    """The angle in radians whose sine is ``x``."""
    if not x:
        return Fraction(0)
    value = _within_one(arithmetic, x)
    if abs(value) == 1:
        return multiply(arithmetic, Fraction(value) / 2, pi(arithmetic))
    other = arithmetic.decimal(sqrt(arithmetic, (1 - value) * (1 + value)))
    return _arctangent(arithmetic, arithmetic.context.divide(arithmetic.decimal(value), other))


def acos(arithmetic: Arithmetic, x: Number) -> Number:
    """The angle in radians whose cosine is ``x``."""
    value = _within_one(arithmetic, x)
    if value == 1:
        return Fraction(0)
    if value == -1:
        return pi(arithmetic)
    tangent = sqrt(arithmetic, (1 - value) / (1 + value))
    return multiply(arithmetic, Fraction(2), _arctangent(arithmetic, arithmetic.decimal(tangent)))


def _within_one(arithmetic: Arithmetic, x: Number) -> Fraction:
    """``x``, which must be between -1 and 1 except for rounding errors."""
    value = Fraction(x)
    if abs(value) <= 1:
        return value
    if isinstance(x, Decimal) and arithmetic.negligible(arithmetic.context.subtract(x.copy_abs(), Decimal(1)), 0):
        return Fraction(1 if value > 0 else -1)
    raise Refusal("domain_error", "asin and acos take numbers from -1 to 1. Check the argument.")


def _arctangent(arithmetic: Arithmetic, x: Decimal) -> Decimal:
    wide = arithmetic.wider(10)
    arithmetic.spend(WORK_PER_SERIES + 6 * wide.precision**2)
    context = wide.context
    if x.copy_abs() > 1:
        right_angle = context.divide(_pi(wide.precision), Decimal(2))
        rest = _small_arctangent(wide, context.divide(Decimal(1), x))
        return arithmetic.decimal(context.subtract(right_angle.copy_sign(x), rest))
    return arithmetic.decimal(_small_arctangent(wide, x))


def _small_arctangent(arithmetic: Arithmetic, x: Decimal) -> Decimal:
    """Halve the angle three times, then sum the Taylor series, which converges fast for small angles."""
    context = arithmetic.context
    for _ in range(3):
        x = context.divide(x, context.add(1, context.sqrt(context.add(1, context.multiply(x, x)))))
    square = context.multiply(x, x)
    power = total = x
    for odd in count(3, 2):
        power = context.multiply(power.copy_negate(), square)
        term = context.divide(power, Decimal(odd))
        total = context.add(total, term)
        if not term or _vanishes(arithmetic, term, total):
            break
    return context.multiply(Decimal(8), total)
