"""The four basic operations, whole division and remainder."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import Arithmetic, Number
from react_toolsets.math.rounding import floor


def add(arithmetic: Arithmetic, a: Number, b: Number) -> Number:
    """``a + b``; approximate numbers that cancel out give zero, not their rounding errors."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    x, y = arithmetic.decimal(a), arithmetic.decimal(b)
    total = arithmetic.context.add(x, y)
    cancelled = bool(x and y) and arithmetic.negligible(total, max(x.adjusted(), y.adjusted()))
    return Decimal(0) if cancelled else total


def subtract(arithmetic: Arithmetic, a: Number, b: Number) -> Number:
    """``a - b``."""
    return add(arithmetic, a, negate(arithmetic, b))


def negate(_: Arithmetic, a: Number) -> Number:
    """``-a``."""
    return -a if isinstance(a, Fraction) else a.copy_negate()


def absolute(_: Arithmetic, a: Number) -> Number:
    """The absolute value of ``a``."""
    return abs(a) if isinstance(a, Fraction) else a.copy_abs()


def multiply(arithmetic: Arithmetic, a: Number, b: Number) -> Number:
    """``a * b``; exactly 0 if one of them is."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if any(isinstance(factor, Fraction) and not factor for factor in (a, b)):
        return Fraction(0)
    return arithmetic.context.multiply(arithmetic.decimal(a), arithmetic.decimal(b))


def divide(arithmetic: Arithmetic, a: Number, b: Number) -> Number:
    """``a / b``.

    Raises:
        Refusal: ``division_by_zero``.
    """
    if not b:
        raise Refusal("division_by_zero", "Division by zero: the divisor is 0. Check the formula or the numbers in it.")
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a / b
    return arithmetic.context.divide(arithmetic.decimal(a), arithmetic.decimal(b))


def floor_divide(arithmetic: Arithmetic, a: Number, b: Number) -> Number:
    """``a // b``, rounded down."""
    return floor(arithmetic, divide(arithmetic, a, b))


def modulo(arithmetic: Arithmetic, a: Number, b: Number) -> Number:
    """The remainder of ``a // b``, with the sign of ``b``."""
    return subtract(arithmetic, a, multiply(arithmetic, b, floor_divide(arithmetic, a, b)))
