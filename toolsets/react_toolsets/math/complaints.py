"""The refusals for wrong expressions, each with the form to use instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from react_toolsets.answers import Refusal
from react_toolsets.math.spellings import CURRENCY_SIGNS, QUOTATION_MARKS, VULGAR_FRACTIONS

_HINTS = {
    **dict.fromkeys("<>=!≤≥≠", "send one expression without comparison operators, and compare the values yourself"),
    **dict.fromkeys("&~", "there are no logical operators"),
    **dict.fromkeys("[]{}", "lists are written as arguments, such as sum(1, 2, 3), and groups with ( )"),
    **dict.fromkeys(CURRENCY_SIGNS, "leave out currency signs"),
    **dict.fromkeys(VULGAR_FRACTIONS, "write a fraction such as (1/2)"),
    **dict.fromkeys(QUOTATION_MARKS, "leave out quotation marks"),
    "°": "write radians(30) for 30 degrees",
    "|": "write abs(x) for |x|",
    "∞": "there is no infinity",
    ".": "write numbers such as 0.5",
    ":": "write a ratio with /",
}
_OTHERWISE = "use numbers, + - * / // % ** !, parentheses, and functions such as sqrt(x)"


def unsupported(what: str, instead: str) -> Refusal:
    """The refusal for unsupported syntax."""
    return Refusal("unsupported_syntax", f"{what[:160]}: {instead}.")


def invalid(message: str) -> Refusal:
    """The refusal for text that is not an expression."""
    return Refusal("invalid_expression", message)


def stray_character(character: str) -> Refusal:
    """The refusal for a character that expressions cannot contain."""
    return unsupported(f"{character!r} cannot be used here", _HINTS.get(character, _OTHERWISE))


def no_percent() -> Refusal:
    """The refusal for a percent sign that is not a remainder: ``50%``, ``15% of 240``, ``200 + 10%``, ``50% - 3``."""
    return unsupported(
        "% is the remainder of a division, not percent", "write 15/100*240 for 15% of 240, and 50/100 for 50%"
    )


def numbers_side_by_side(before: str, after: str) -> Refusal:
    """The refusal for two numbers without an operator."""
    joined = f", or {before}{after} for one number" if f"{before}{after}".isdecimal() else ""
    return unsupported(f"{before} {after} has no operator", f"write {before}*{after}{joined}")


def word_before_number(word: str, number: str, usage: str = "") -> Refusal:
    """The refusal for a function without parentheses, if it has a ``usage``, or for a word in place of an operator."""
    if usage:
        right = usage if "," in usage else f"{word}({number})"
        return unsupported(f"{word} {number} has no parentheses", f"write {right}")
    return unsupported(f"{word[:40]!r} before {number} is not an operator", "write + - * / // % or **")


def number_missing(before: str) -> Refusal:
    """The refusal for an operator, a parenthesis or the end in place of a number."""
    return invalid(f"A number is missing before {before!r}." if before else "A number or ) is missing at the end.")


def stray_sign(sign: str) -> Refusal:
    """The refusal for an operator after a complete expression."""
    if sign == ",":
        return unsupported("a comma belongs between the arguments of a function", "send one expression per call")
    return invalid("There is a ) without its (." if sign == ")" else f"{sign[:40]!r} is not expected there.")


def unknown_function(name: str, known: Iterable[str]) -> Refusal:
    """The refusal for a call of an unknown function."""
    near = get_close_matches(name.lower(), known, n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(known)}."
    return Refusal("unknown_function", f"There is no function {name[:40]!r}. {hint}", near=near)


def unknown_identifier(name: str, constants: Iterable[str]) -> Refusal:
    """The refusal for a name that is not a constant."""
    near = get_close_matches(name.lower(), constants, n=3)
    return Refusal(
        "unknown_identifier",
        f"{name[:40]!r} is not a number: put numbers in place of names. The only names are {', '.join(constants)}.",
        near=near,
    )
