"""Parses units: names, prefixes, powers, products and quotients; an ambiguous name has several readings."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from itertools import product

from react_toolsets.answers import Refusal
from react_toolsets.math.spellings import plain_unit
from react_toolsets.math.units.names import (
    ADVERTISED,
    AMBIGUOUS,
    OTHERS,
    PREFIXED,
    PREFIXES,
    REFUSED,
    SYMBOLS,
    SYSTEMS,
    US_OR_IMPERIAL,
    WORDS,
)
from react_toolsets.math.units.table import UNITS
from react_toolsets.math.units.unit import Unit

MAX_LENGTH = 60
MAX_FACTORS = 6

_FACTOR = re.compile(
    r"(?:(?P<before>square|sq|cubic|cu)\b\.?\s*)?(?P<name>.*?)"
    r"(?:\s+(?P<after>squared|cubed)|\s*\^\s*(?P<power>-?[1-9])|(?P<digit>-?[1-9]))?",
    re.IGNORECASE,
)
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_GLUED_POWER = re.compile(r"(square|sq|cubic|cu)(.+)")
_SIGN = re.compile(r"(?<!\s)\s*(/|\*|\bper\b)\s*", re.IGNORECASE)
_GROUP = re.compile(r"\((?P<inner>.*)\)\s*+(?:\^\s*)?(?P<power>-?[1-9])?")
_COUNT = re.compile(r"(?P<count>1000?|10)\s*(?P<name>[^\d\W].*)")
_RATE = re.compile(r"(?P<prefix>[kmgt]?)(?P<unit>b)(?P<second>ps)", re.IGNORECASE)
_DEGREES = re.compile(r"(?:degrees?|deg|°)(c|f|k|celsius|centigrade|fahrenheit|kelvin|rankine)")
_NOISE = re.compile(r"[\s._()-]+")

_WORDS = {word: meaning for meaning, words in WORDS.items() for word in words.split()}
_VOLUMES = {word: measure for measure, words in US_OR_IMPERIAL.items() for word in words.split()}


def readings(text: str) -> list[Unit]:
    """All units that ``text`` can mean; several for ``gallon``.

    Raises:
        Refusal: ``unknown_unit``, with similar names.
    """
    if len(text) > MAX_LENGTH or len(_SIGN.findall(text)) >= MAX_FACTORS:
        raise Refusal("unknown_unit", f"{text[:40]!r}… is too long for a unit. Use one such as {_EXAMPLES}.")
    pieces = _pieces(plain_unit(text).strip())
    factors = [_factor(piece) if place == 0 else _of_many(piece) for place, piece in enumerate(pieces[::2])]
    if not all(factors):
        raise _unknown(text.strip())
    if len(factors) == 1:
        return factors[0]
    if any(unit.is_scale for factor in factors for unit in factor):
        raise Refusal("unknown_unit", f"{text[:40]!r}: °C and °F are scales and cannot be part of a unit. Use kelvin.")
    return [_combined(units, signs) for signs in _signs(pieces[1::2]) for units in product(*factors)]


def _signs(written: list[str]) -> list[list[int]]:
    """The possible signs of the exponents: in ``a/b*c``, the c may be in the numerator or the denominator."""
    signs = [1 if sign == "*" else -1 for sign in written]
    first = signs.index(-1) if -1 in signs else len(signs)
    below = signs[:first] + [-1] * len(signs[first:])
    return [signs] if below == signs else [signs, below]


def _pieces(text: str) -> list[str]:
    """The factors of ``text`` and the operators between them; a group in parentheses is one factor."""
    pieces, start = [], 0
    for sign in _SIGN.finditer(text):
        before = text[start : sign.start()]
        if before.count("(") == before.count(")"):
            pieces += [before, sign[1]]
            start = sign.end()
    return [*pieces, text[start:]]


def _of_many(text: str) -> list[Unit]:
    """The readings of a factor with an optional count of 10, 100 or 1000, such as ``100 km`` in ``l/100 km``."""
    match = _COUNT.fullmatch(text)
    return [unit.times(int(match["count"])) for unit in _factor(match["name"])] if match else _factor(text)


def _combined(units: tuple[Unit, ...], signs: list[int]) -> Unit:
    whole = units[0]
    for unit, sign in zip(units[1:], signs, strict=True):
        whole = whole.joined(unit, sign)
    return whole


def _factor(text: str) -> list[Unit]:
    """The readings of one unit with a power; empty if it is unknown."""
    if group := _GROUP.fullmatch(text):
        return _to_power(readings(group["inner"]), int(group["power"] or 1))
    if found := _named(text):
        return found
    match = _FACTOR.fullmatch(text)
    if match is None:
        return []
    powers = [_POWERS[word.lower()] for word in match.group("before", "after") if word]
    powers += [int(digits) for digits in match.group("power", "digit") if digits]
    units = _named(match["name"].strip())
    return [] if len(powers) != 1 or any(unit.is_scale for unit in units) else _to_power(units, powers[0])


def _to_power(units: list[Unit], power: int) -> list[Unit]:
    return units if power == 1 else [unit.raised(power) for unit in units]


def _named(name: str) -> list[Unit]:
    """The readings of a name without a power; case-sensitive symbols come before words. Empty if it is unknown."""
    if name in AMBIGUOUS:
        return _ids(AMBIGUOUS[name])
    if name in SYMBOLS:
        return readings(SYMBOLS[name])
    if rate := _RATE.fullmatch(name):
        return _data_rate(rate)
    if unit := _symbol(name):
        return [unit]
    key = _key(name)
    if name[:1] == "C" and _singular(key) in ("cal", "calorie"):
        return _ids(("cal", "kcal"))
    found = _word(key) or _of_system(name) or _prefixed_word(key) or _glued_power(key)
    return [] if "(" in name and _is_another(found, name.partition("(")[0].strip()) else found


def _is_another(found: list[Unit], before: str) -> bool:
    """Whether parentheses would turn the unit before them into another: ``c(m)`` is no centimetre, unlike
    ``metre(s)`` a metre. Degrees are no unit of temperature before it is said which.
    """
    if _singular(before.lower()) in ("degree", "deg", "°"):
        return False
    own = {unit.id for unit in _named(before)} if before else set()
    return bool(own) and not {unit.id for unit in found} <= own


def _ids(ids: tuple[str, ...]) -> list[Unit]:
    return [unit for name in ids for unit in (filter(None, [_symbol(name)]) if "/" not in name else readings(name))]


def _data_rate(rate: re.Match[str]) -> list[Unit]:
    """The readings of ``Mbps`` and the like: b means bits, B means bytes; in all capitals, it may be either."""
    prefix = "k" if rate["prefix"] in ("k", "K") else rate["prefix"].upper()
    either = rate["second"] != "ps" and rate["unit"] == "B"
    units = ("bit", "B") if either else ("bit",) if rate["unit"] == "b" else ("B",)
    return _ids(tuple(f"{prefix}{unit}/s" for unit in units))


def _symbol(symbol: str) -> Unit | None:
    if symbol in UNITS:
        return UNITS[symbol]
    for length in (1, 2):
        prefix, rest = symbol[:length].replace("u", "µ"), symbol[length:]
        base = SYMBOLS.get(rest, rest)
        if prefix in PREFIXED.get(base, ()):
            return _prefixed(prefix, UNITS[base])
    return None


def _prefixed(prefix: str, unit: Unit) -> Unit:
    _, base, exponent = PREFIXES[prefix]
    factor = unit.factor * Fraction(base) ** exponent
    return replace(unit, id=prefix + unit.id, symbol=prefix + unit.symbol, factor=factor)


def _key(name: str) -> str:
    return _NOISE.sub("", name).lower()


def _singular(key: str) -> str:
    return key[:-1] if len(key) > 2 and key.endswith("s") else key


def _word(key: str) -> list[Unit]:
    for word in (key, _singular(key)):
        if word in _WORDS:
            return readings(_WORDS[word])
        if word in _VOLUMES:
            return _ids((f"us_{_VOLUMES[word]}", f"imperial_{_VOLUMES[word]}"))
        if word in AMBIGUOUS:
            return _ids(AMBIGUOUS[word])
    degrees = _DEGREES.fullmatch(key)
    return _word(degrees[1]) if degrees else []


def _of_system(name: str) -> list[Unit]:
    """The readings of a volume, ounce or ton with a word such as ``US``."""
    words = [word for word in re.split(r"[\s_()]+", name.lower().replace(".", "")) if word not in ("", "liquid")]
    systems = {SYSTEMS[word] for word in words if word in SYSTEMS}
    if len(systems) != 1:
        return []
    (system,) = systems
    units = _word("".join(word for word in words if word not in SYSTEMS))
    of_system = "short_ton" if system == "us" else "long_ton"
    return [unit for unit in units if re.search(rf"\b({system}_|{of_system})", unit.id) or unit.id == "oz"]


def _prefixed_word(key: str) -> list[Unit]:
    for symbol, (prefix, _, _) in PREFIXES.items():
        if not key.startswith(prefix):
            continue
        base = _WORDS.get(_singular(key.removeprefix(prefix))) or _WORDS.get(key.removeprefix(prefix), "")
        if symbol in PREFIXED.get(base, ()):
            return [_prefixed(symbol, UNITS[base])]
    return []


def _glued_power(key: str) -> list[Unit]:
    match = _GLUED_POWER.fullmatch(key)
    return _to_power(_named(match[2]), _POWERS[match[1]]) if match else []


def _unknown(text: str) -> Refusal:
    shown = text[:40]
    key = _key(text)
    if reason := REFUSED.get(text.lower()) or REFUSED.get(_singular(key)):
        return Refusal("unknown_unit", f"{shown!r} cannot be converted: {reason}")
    near = [] if "(" in text else _near(key)  # metre(second) is not a millisecond
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Use a unit such as {_EXAMPLES}."
    return Refusal("unknown_unit", f"There is no unit {shown!r} (case counts in symbols). {hint}", near=near)


def _near(key: str) -> list[str]:
    """The ids of units with names similar to ``key``."""
    names = {**{_key(name): name for name in _VOLUMES}, **_WORDS, **{_key(name): name for name in ADVERTISED}}
    same_letters = [name for name in (*ADVERTISED, "Mb", "Gb") if name.lower() == key]
    # No suggestions for short names and for words of other units: they would change the dimension.
    alike = [] if len(key) < 4 or key in OTHERS else get_close_matches(key, names, n=3, cutoff=0.75)
    return list(dict.fromkeys(same_letters + [names[name] for name in alike]))[:3]


_EXAMPLES = "km, mi, kg, lb, celsius, us_cup or km/h"
