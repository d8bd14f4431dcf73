"""Functions of whole numbers: divisors, factorials and choices."""

from __future__ import annotations

import math
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import MAX_DIGITS, Arithmetic, Number, digits_of, is_integer, too_large

_LARGEST_FACTORIAL = 3_300
"""The factorial of this number has more than 10 000 digits."""


def gcd(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The greatest common divisor."""
    return Fraction(math.gcd(*_whole("gcd", numbers)))


def lcm(arithmetic: Arithmetic, *numbers: Number) -> Number:
    """The least common multiple."""
    multiple = Fraction(1)
    for number in _whole("lcm", numbers):
        multiple = Fraction(math.lcm(multiple.numerator, number))
        arithmetic.settle(multiple)
    return multiple


def factorial(arithmetic: Arithmetic, n: Number) -> Number:
    """The product of the whole numbers from 1 to ``n``."""
    (whole,) = _natural("factorial", [n])
    if whole > _LARGEST_FACTORIAL:
        raise too_large()
    return Fraction(math.factorial(whole))


def comb(arithmetic: Arithmetic, n: Number, k: Number) -> Number:
    """The number of ways to choose ``k`` of ``n`` things, regardless of order."""
    total, chosen = _natural("comb", [n, k])
    if chosen > total:
        return Fraction(0)
    chosen = min(chosen, total - chosen)
    _check_size(arithmetic, chosen, _factorial_digits(total, chosen) - math.lgamma(chosen + 1) / math.log(10))
    return Fraction(math.comb(total, chosen))


def perm(arithmetic: Arithmetic, n: Number, k: Number | None = None) -> Number:
    """The number of ways to arrange ``k`` of ``n`` things; all of them by default."""
    if k is None:
        return factorial(arithmetic, n)
    total, chosen = _natural("perm", [n, k])
    if chosen > total:
        return Fraction(0)
    _check_size(arithmetic, chosen, _factorial_digits(total, chosen))
    return Fraction(math.perm(total, chosen))


def _factorial_digits(n: int, k: int) -> float:
    """The number of digits of the product of the ``k`` whole numbers up to ``n``."""
    if k > 10 * MAX_DIGITS:  # all but the last few factors add at least one digit
        raise too_large()
    if n > 10**12:  # lgamma is not precise enough above that, and the factors hardly differ
        return k * digits_of(n)
    return (math.lgamma(n + 1) - math.lgamma(n - k + 1)) / math.log(10)


def _check_size(arithmetic: Arithmetic, factors: int, digits: float) -> None:
    if digits > MAX_DIGITS + 1:
        raise too_large()
    arithmetic.spend(int(factors * digits / 10))


def _whole(function: str, numbers: tuple[Number, ...]) -> list[int]:
    if not all(is_integer(number) for number in numbers):
        raise Refusal("domain_error", f"{function} takes whole numbers only. Use round(x) or another function.")
    return [int(number) for number in numbers]


def _natural(function: str, numbers: list[Number]) -> list[int]:
    if not all(is_integer(number) and number >= 0 for number in numbers):
        raise Refusal("domain_error", f"{function} takes whole numbers from 0 on. Check the formula.")
    return [int(number) for number in numbers]
