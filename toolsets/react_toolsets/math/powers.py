"""Powers, roots, exponentials and logarithms: exact where the result is rational."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import MAX_DIGITS, Arithmetic, Number, digits_of, too_large, too_small
from react_toolsets.math.operators import absolute, negate

_LARGEST_DENOMINATOR = 64
"""Rational logarithms such as log(8, 4) = 3/2 are found up to this denominator."""


def power(arithmetic: Arithmetic, base: Number, exponent: Number) -> Number:
    """``base ** exponent``; ``0 ** 0`` is 1."""
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return _whole_power(arithmetic, base, exponent.numerator)
    if base < 0:
        raise Refusal(
            "domain_error",
            "A negative number has no real power with a fractional exponent. For a cube root use cbrt(x).",
        )
    if not base:
        return _power_of_zero(exponent)
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        root = _exact_root(arithmetic, base, exponent.denominator)
        if root is not None:
            return _whole_power(arithmetic, root, exponent.numerator)
    return arithmetic.context.power(arithmetic.decimal(base), arithmetic.decimal(exponent))


def _power_of_zero(exponent: Number) -> Number:
    if exponent < 0:
        raise Refusal("division_by_zero", "0 with a negative exponent is a division by zero.")
    return Fraction(0)


def _whole_power(arithmetic: Arithmetic, base: Number, exponent: int) -> Number:
    if exponent == 0:
        return Fraction(1)
    if not base:
        return _power_of_zero(Fraction(exponent))
    if isinstance(base, Fraction):
        times = min(abs(exponent), 10**9)  # above any limit, but not too large for a float
        numerator, denominator = (times * digits_of(part) for part in (base.numerator, base.denominator))
        if max(numerator, denominator) <= MAX_DIGITS + 1:
            return base**exponent
        if not min(numerator, denominator):
            raise too_large() if (exponent > 0) == (numerator > 0) else too_small()
    return arithmetic.context.power(arithmetic.decimal(base), Decimal(exponent))


def _exact_root(arithmetic: Arithmetic, x: Fraction, degree: int) -> Fraction | None:
    """The rational root of ``x``, if there is one."""
    roots = [_whole_root(arithmetic, part, degree) for part in (x.numerator, x.denominator)]
    numerator, denominator = roots
    return None if numerator is None or denominator is None else Fraction(numerator, denominator)


def _whole_root(arithmetic: Arithmetic, n: int, degree: int) -> int | None:
    bits = n.bit_length()
    if degree >= bits:
        return 1 if n == 1 else None
    arithmetic.spend((bits // 32 + 1) ** 2)
    if degree == 2:
        root = math.isqrt(n)
    else:
        arithmetic.spend((bits // 32 + 1) ** 2 * 3)
        root = _not_below_root(n, degree)
        while (smaller := ((degree - 1) * root + n // root ** (degree - 1)) // degree) < root:
            root = smaller
    return root if root**degree == n else None


def _not_below_root(n: int, degree: int) -> int:
    """A number just above the root, so that Newton's method needs few steps."""
    whole, fraction = divmod(math.log2(n) / degree, 1)
    return ((int(2**fraction * 2**50) + 2**14 << int(whole)) >> 50) + 1


def sqrt(arithmetic: Arithmetic, x: Number) -> Number:
    """The square root of ``x``."""
    if x < 0:
        raise Refusal("domain_error", "A negative number has no real square root. Check the sign of the argument.")
    return power(arithmetic, x, Fraction(1, 2))


def cbrt(arithmetic: Arithmetic, x: Number) -> Number:
    """The cube root of ``x``, negative for a negative number."""
    root = power(arithmetic, absolute(arithmetic, x), Fraction(1, 3))
    return negate(arithmetic, root) if x < 0 else root


def exp(arithmetic: Arithmetic, x: Number) -> Number:
    """``e ** x``."""
    return arithmetic.context.exp(arithmetic.decimal(x)) if x else Fraction(1)


def euler(arithmetic: Arithmetic) -> Number:
    """Euler's number, the base of the natural logarithm."""
    return exp(arithmetic, Fraction(1))


def ln(arithmetic: Arithmetic, x: Number) -> Number:
    """The natural logarithm of ``x``."""
    if x <= 0:
        raise Refusal("domain_error", "Only numbers above 0 have a logarithm. Check the argument.")
    return Fraction(0) if x == 1 and isinstance(x, Fraction) else arithmetic.context.ln(arithmetic.decimal(x))


def log(arithmetic: Arithmetic, x: Number, base: Number | None = None) -> Number:
    """The logarithm of ``x`` to ``base``; the natural logarithm by default."""
    if base is None:
        return ln(arithmetic, x)
    if base == 1:
        raise Refusal("domain_error", "There is no logarithm to the base 1. Use another base, such as log(x, 10).")
    quotient = arithmetic.context.divide(*(arithmetic.decimal(ln(arithmetic, part)) for part in (x, base)))
    rational = _rational_log(arithmetic, x, base, quotient)
    return quotient if rational is None else rational


def log2(arithmetic: Arithmetic, x: Number) -> Number:
    """The logarithm of ``x`` to the base 2."""
    return log(arithmetic, x, Fraction(2))


def log10(arithmetic: Arithmetic, x: Number) -> Number:
    """The logarithm of ``x`` to the base 10."""
    return log(arithmetic, x, Fraction(10))


def _rational_log(arithmetic: Arithmetic, x: Number, base: Number, near: Decimal) -> Fraction | None:
    """The logarithm as a fraction, if it is one: ``near`` gives the candidate, and whole powers verify it."""
    if not (isinstance(x, Fraction) and isinstance(base, Fraction)):
        return None
    candidate = Fraction(near).limit_denominator(_LARGEST_DENOMINATOR)
    longest = max(digits_of(x.numerator), digits_of(x.denominator))
    if abs(candidate - Fraction(near)) > Fraction(1, 10**40) or longest * candidate.denominator > MAX_DIGITS:
        return None
    powers = [_whole_power(arithmetic, x, candidate.denominator), _whole_power(arithmetic, base, candidate.numerator)]
    return candidate if powers[0] == powers[1] and isinstance(powers[0], Fraction) else None
