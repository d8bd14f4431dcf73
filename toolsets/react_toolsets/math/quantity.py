"""Parses a number argument exactly, from a JSON number or text."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.spellings import plain_signs

MAX_DIGITS = 1_000
"""The most digits of an argument, before and after the point."""

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>[0-9]+(?:_[0-9]+)*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)?(?P<fraction>\.[0-9]*)?(?:[eE](?P<exponent>[+-]?[0-9]+))?"
)


def read_number(value: object) -> Fraction:
    """Parse ``value`` as an exact number.

    Raises:
        Refusal: ``value`` is not a finite number (``invalid_arguments``), or has too many digits (``domain_error``).
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _invalid(value)
    if isinstance(value, str):
        return _read_text(value)
    if not math.isfinite(value):
        raise _invalid(value)
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _read_text(value: str) -> Fraction:
    text = plain_signs(value).strip()
    match = _NUMBER.fullmatch(text)
    if match is None or not (match["digits"] or match["fraction"]) or match["fraction"] == text:
        raise _invalid(value)
    exponent = match["exponent"] or "0"
    if len(text) > MAX_DIGITS or len(exponent) > 5 or abs(int(exponent)) > MAX_DIGITS:
        raise Refusal("domain_error", f"The value has more than {MAX_DIGITS} digits. Use a number of a usual size.")
    mantissa = f"{match['sign']}{match['digits'] or '0'}{match['fraction'] or ''}"
    return Fraction(mantissa.replace(",", "").replace("_", "").removesuffix(".")) * Fraction(10) ** int(exponent)


def _invalid(value: object) -> Refusal:
    return Refusal(
        "invalid_arguments",
        f"value must be one finite number such as 5, -40 or 98.6, not {str(value)[:40]!r}. "
        "Calculate fractions first, and put the unit in from_unit.",
    )
