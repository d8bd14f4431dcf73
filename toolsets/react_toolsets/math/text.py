"""Formats numbers: exact numbers in full where that is sensible, others with significant digits."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction

from react_toolsets.math.arithmetic import MAX_DIGITS, Number, Rounded, digits_of

DIGITS = 50
"""How many significant digits to show of a number that is not shown in full."""
_SMALLEST_PLAIN = -9
_LONGEST_FRACTION = 300


def number_text(value: Number) -> tuple[str, bool]:
    """``value`` as text, and whether digits were lost; whole and rounded numbers are shown in full."""
    if isinstance(value, Rounded):
        return _with_places(value), False
    if isinstance(value, Fraction) and value.denominator == 1:
        return _whole_text(value.numerator), False
    return significant_text(value, DIGITS)


def significant_text(value: Number, digits: int) -> tuple[str, bool]:
    """``value`` with at most ``digits`` significant digits, and whether digits were lost."""
    context = _context(digits)
    if isinstance(value, Decimal):
        return _decimal_text(context.plus(value), digits), True
    shown = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    lost = bool(context.flags[Inexact])
    return _decimal_text(shown, digits if lost else max(digits, DIGITS)), lost


def exact_fraction(value: Fraction) -> str | None:
    """``value`` as a fraction such as 1/3; ``None`` if it is too long to be useful."""
    if digits_of(value.numerator) + digits_of(value.denominator) > _LONGEST_FRACTION:
        return None
    return f"{value.numerator}/{value.denominator}"


def _context(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=2 * MAX_DIGITS, Emin=-2 * MAX_DIGITS, traps=[])


def _whole_text(number: int) -> str:
    # str(int) refuses more than 4 300 digits, and is slower.
    return format(Decimal(number), "f")


def _with_places(value: Rounded) -> str:
    digits = _whole_text(abs(int(value * 10**value.places))).zfill(value.places + 1)
    whole, fraction = digits[: len(digits) - value.places], digits[len(digits) - value.places :]
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def _decimal_text(number: Decimal, known: int) -> str:
    """``number`` in plain digits if ``known`` digits reach its point, otherwise with an exponent."""
    context = _context(MAX_DIGITS)
    number = number.normalize(context)
    if not number:
        return "0"
    exponent = number.adjusted()
    if _SMALLEST_PLAIN <= exponent < known:
        return format(number, "f")
    return f"{number.scaleb(-exponent, context):f}e{exponent}"
