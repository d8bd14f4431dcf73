"""Words for units and currencies, to recognise them and match them with a tool's list; there are no factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from react_offline.text import Token
from react_run.support import dataclass

_PREFIXES = {"k": "kilo", "m": "milli", "c": "centi", "M": "mega", "µ": "micro", "n": "nano", "G": "giga", "T": "tera"}
_PREFIXED = {
    "m": ("metre meter", "kmcµn"),
    "g": ("gram gramme", "kmµ"),
    "l": ("litre liter", "mc"),
    "s": ("second sec", "mµn"),
    "W": ("watt", "kM"),
    "J": ("joule", "kM"),
    "Pa": ("pascal", "k"),
    "B": ("byte", "kMGT"),
    "Wh": ("watt-hour watthour", "k"),
    "cal": ("calorie", "k"),
}
_NAMED = {
    "in": "inch|inches", "ft": "foot|feet|ft", "yd": "yard|yd", "mi": "mile|mi", "nmi": "nautical mile|nmi",
    "t": "tonne|metric ton", "ton": "ton", "short_ton": "short ton", "long_ton": "long ton",
    "oz": "ounce|oz", "lb": "pound|lb|lbs", "stone": "stone|stones|st",
    "celsius": "celsius|centigrade|degree celsius|degree centigrade|degree c|deg c|°c|℃|c",
    "fahrenheit": "fahrenheit|degree fahrenheit|degree f|deg f|°f|℉|f",
    "kelvin": "kelvin|degree kelvin|k",
    "min": "minute|min", "h": "hour|hr|h", "day": "day", "week": "week", "month": "month", "year": "year",
    "tsp": "teaspoon|tsp", "tbsp": "tablespoon|tbsp", "fl_oz": "fluid ounce|fl oz", "cup": "cup",
    "pint": "pint|pt", "quart": "quart|qt", "gallon": "gallon|gal",
    "acre": "acre", "hectare": "hectare|ha",
    "km/h": "km / h|kilometre per hour|kilometer per hour|kmh|kph|km/h",
    "m/s": "m / s|metre per second|meter per second|m/s", "mph": "mile per hour|mph", "knot": "knot|kt",
    "ft/s": "foot per second|feet per second|ft / s|ft/s", "hp": "horsepower|hp", "bar": "bar", "psi": "psi",
    "atm": "atmosphere|atm", "mmHg": "mmhg", "bit": "bit",
    "KiB": "kibibyte|kib", "MiB": "mebibyte|mib", "GiB": "gibibyte|gib", "TiB": "tebibyte|tib",
    "deg": "degree|deg", "rad": "radian|rad",
}  # fmt: skip
_VOLUMES = ("tsp", "tbsp", "fl_oz", "cup", "pint", "quart", "gallon")
_SYSTEMS = {"us": ("us", "u.s."), "imperial": ("imperial", "imp", "uk", "british")}
_SQUARED = ("m", "km", "cm", "mm", "ft", "yd", "mi", "in")
_CURRENCIES = {
    "USD": "usd|us dollar|dollar|$", "EUR": "eur|euro|€", "GBP": "gbp|pound sterling|british pound|pound|£",
    "JPY": "jpy|yen|¥", "CHF": "chf|swiss franc", "CAD": "cad|canadian dollar", "AUD": "aud|australian dollar",
    "NZD": "nzd|new zealand dollar", "CNY": "cny|yuan|renminbi", "INR": "inr|rupee|indian rupee",
    "SEK": "sek|swedish krona", "NOK": "nok|norwegian krone", "DKK": "dkk|danish krone", "PLN": "pln|zloty",
    "MXN": "mxn|mexican peso", "BRL": "brl|real|reais", "ZAR": "zar|rand", "SGD": "sgd|singapore dollar",
    "HKD": "hkd|hong kong dollar", "KRW": "krw|won",
}  # fmt: skip
_CAPITALISED = {"cal": "Cal"}
"""Units that may differ with a capital letter: a Calorie can be a kilocalorie, so the tool decides."""
_LONGEST = 4


@dataclass(frozen=True, slots=True)
class Measure:
    """A unit or currency as the user wrote it, and its canonical name; ``end`` is the index after it."""

    text: str
    name: str
    end: int


def unit_at(tokens: Sequence[Token], index: int) -> Measure | None:
    """The longest unit that starts at ``index``."""
    return _longest(tokens, index, unit_name)


def currency_at(tokens: Sequence[Token], index: int) -> Measure | None:
    """The longest currency that starts at ``index``."""
    return _longest(tokens, index, currency_name)


def is_unit_list(members: Sequence[object]) -> bool:
    """Whether a list of choices consists of units."""
    known = [member for member in members if isinstance(member, str) and unit_name(member)]
    return len(members) > 1 and len(known) * 2 >= len(members)


def is_currency_list(members: Sequence[object]) -> bool:
    """Whether a list of choices consists of ISO currency codes."""
    known = [member for member in members if isinstance(member, str) and member.upper() in _CURRENCIES]
    return len(known) * 2 > len(members)


def _longest(tokens: Sequence[Token], index: int, named: Callable[[str], str]) -> Measure | None:
    for length in range(min(_LONGEST, len(tokens) - index), 0, -1):
        words = tokens[index : index + length]
        if (
            all(token.kind in ("word", "op", "number", "money", "punct") for token in words)
            and words[0].kind != "number"
        ):
            text = _written(words)
            if name := named(text.replace("_", " ")):
                return Measure(text, name, index + length)
    return None


def _written(tokens: Sequence[Token]) -> str:
    return "".join(f" {token.text}" if token.spaced else token.text for token in tokens).strip()


@cache
def _unit_names() -> dict[str, str]:
    names = {spelling: name for name, spellings in _NAMED.items() for spelling in (name, *spellings.split("|"))}
    for symbol, (words, prefixes) in _PREFIXED.items():
        for prefix in ("", *prefixes):
            name = f"{prefix}{symbol}"
            names[name] = name
            names.update({f"{_PREFIXES.get(prefix, '')}{word}": name for word in words.split()})
    for name in _VOLUMES:
        for system, spellings in _SYSTEMS.items():
            for own in _NAMED[name].split("|"):
                names.update({f"{spelling} {own}": f"{system}_{name}" for spelling in spellings})
    for name in _SQUARED:
        for spelling in [own for own, unit in names.items() if unit == name]:
            names.update({f"{word} {spelling}": f"{name}2" for word in ("square", "sq")})
            names.update({f"{word} {spelling}": f"{name}3" for word in ("cubic", "cu")})
    return names


@lru_cache(maxsize=4096)
def unit_name(text: str) -> str:
    """The canonical name of a unit: ``mi`` for ``miles``, ``mile`` and ``mi``; "" if it is not a unit."""
    names = _unit_names()
    base, power = _powered(" ".join(text.replace("_", " ").split()))
    folded = base.casefold()
    mega = len(base) < 4 and base.startswith("M")  # Mg is not mg
    for spelling in (base,) if mega else (base, folded, _singular(folded)):
        if name := names.get(spelling):
            own = _CAPITALISED.get(name, name) if base[0].isupper() else name
            return f"{own}{power}"
    return ""


def _powered(text: str) -> tuple[str, str]:
    """``ft²``, ``ft^2`` and ``ft2`` are all square feet."""
    for mark, power in (("²", "2"), ("³", "3"), ("^2", "2"), ("^3", "3"), ("2", "2"), ("3", "3")):
        if len(text) > len(mark) and text.endswith(mark):
            return text.removesuffix(mark), power
    return text, ""


def _singular(text: str) -> str:
    words = text.split(" ")
    return " ".join(
        word.removesuffix("s") if len(word) > 2 and not word.endswith(("us", "ss")) else word for word in words
    )


@lru_cache(maxsize=4096)
def currency_name(text: str) -> str:
    """The ISO code for the word or sign of a currency; "" if it is not one."""
    folded = text.casefold()
    for spelling in (folded, _singular(folded)):
        for code, names in _CURRENCIES.items():
            if spelling in names.split("|"):
                return code
    return ""
