"""Numbers: exact fractions where possible, otherwise decimals of one precision; both are limited.

An exact number is a ``Fraction``, an approximate one a ``Decimal``, so the type says whether digits were lost.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, Underflow
from fractions import Fraction

from react_toolsets.answers import Refusal

Number = Fraction | Decimal

MAX_DIGITS = 10_000
"""The most digits of a result, before or after the decimal point."""
MAX_WORK = 20_000_000
"""The most units of work per calculation, one for each multiplied pair of 32-bit digits: about 20 ms."""
GUARD = 8
"""How many last digits of the working precision may be wrong because of rounding errors."""

_CEILING = 10**MAX_DIGITS
_TOO_LARGE = f"has more than {MAX_DIGITS} digits. Use a smaller exponent or argument, or a logarithm such as log10(x)."


def too_large() -> Refusal:
    """The refusal for a number above the limit."""
    return Refusal("numeric_limit_exceeded", f"A value in this calculation {_TOO_LARGE}")


def too_small() -> Refusal:
    """The refusal for a number that is too close to zero."""
    return Refusal(
        "numeric_limit_exceeded",
        f"A value in this calculation is closer to zero than 1e-{MAX_DIGITS}. Rearrange it, or use logarithms.",
    )


class Imprecise(Exception):  # not an error: the calculation is repeated with more digits
    """This precision is too low to know any digit of a value."""


class Rounded(Fraction):
    """An exact number rounded to a number of places; it is shown with these places until it is used again."""

    __slots__ = ("places",)
    places: int

    @classmethod
    def of(cls, value: Fraction, places: int) -> Rounded:
        """``value`` to show with ``places`` digits after the point."""
        rounded = cls(value)
        rounded.places = places
        return rounded


class Arithmetic:
    """One pass of a calculation: its working precision, and its remaining work.

    Args:
        precision: Significant digits of approximate numbers.
        work: The remaining units of work, shared between passes.
    """

    def __init__(self, precision: int, work: int = MAX_WORK, *, largest: int = MAX_DIGITS) -> None:
        self.precision = precision
        self.work = work
        self.approximated = False
        self.context = Context(
            prec=precision,
            rounding=ROUND_HALF_EVEN,
            Emax=largest - 1,
            Emin=-largest,
            traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
        )

    def wider(self, digits: int) -> Arithmetic:
        """Arithmetic with ``digits`` more digits and room for any exponent, for the steps of a series."""
        return Arithmetic(self.precision + digits, largest=1_000 * MAX_DIGITS)

    def decimal(self, number: Number) -> Decimal:
        """``number`` in the working precision."""
        self.approximated = True
        if isinstance(number, Decimal):
            return self.context.plus(number)
        self.spend(_cost(number))
        if number.denominator == 1:
            return self.context.create_decimal(number.numerator)
        return self.context.divide(Decimal(number.numerator), Decimal(number.denominator))

    def spend(self, units: int) -> None:
        """Count work.

        Raises:
            Refusal: The calculation takes too much work.
        """
        self.work -= units
        if self.work < 0:
            raise Refusal(
                "numeric_limit_exceeded",
                "This calculation is too long. Split it into smaller ones, or use smaller numbers.",
            )

    def settle(self, number: Number) -> Number:
        """``number``, checked against the limits; a fraction with too many digits becomes approximate."""
        if isinstance(number, Decimal):
            return number
        self.spend(_cost(number))
        if abs(number.numerator) < _CEILING and number.denominator <= _CEILING:
            return number
        if number.denominator == 1:
            raise too_large()
        return self.decimal(number)

    def check_order(self, number: Decimal) -> None:
        """Check that the digits around the point of ``number`` are known.

        Raises:
            Imprecise: ``number`` is too large for the precision.
        """
        if number.adjusted() > self.precision - 2 * GUARD:
            raise Imprecise

    def negligible(self, number: Decimal, beside: int) -> bool:
        """Whether ``number`` may be only a rounding error of numbers of the order 10**``beside``."""
        return number.adjusted() < beside - self.precision + GUARD


def _cost(number: Fraction) -> int:
    limbs = (number.numerator.bit_length() + number.denominator.bit_length()) // 32 + 1
    return limbs * limbs


def is_integer(number: Number) -> bool:
    """Whether ``number`` is exact and whole."""
    return isinstance(number, Fraction) and number.denominator == 1


def digits_of(number: int) -> float:
    """The approximate number of decimal digits of ``number``."""
    return math.log10(abs(number)) if number else 0.0
