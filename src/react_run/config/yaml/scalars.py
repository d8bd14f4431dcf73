"""The values of YAML scalars: the core types, without the forms that YAML 1.1 and 1.2 read differently."""

from __future__ import annotations

import re

import yaml

_TAG = "tag:yaml.org,2002:"
CORE_TAGS = {f"{_TAG}{name}": name for name in ("str", "int", "float", "bool", "null", "map", "seq")}
MERGE = f"{_TAG}merge"
_RESOLVER = yaml.resolver.Resolver()
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
_EXPONENT = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+")


class Ambiguous(ValueError):
    """A plain scalar that YAML versions read differently."""


def implicit_tag(text: str) -> str:
    """The tag of a plain scalar."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]  # no stubs


def scalar(text: str, tag: str) -> object:
    """The Python value of ``text``.

    Raises:
        Ambiguous: The scalar must be quoted or rewritten.
        ValueError: ``text`` is not such a value.
    """
    match CORE_TAGS.get(tag):
        case "null":
            return None
        case "bool":
            return _bool(text)
        case "int":
            return _int(text)
        case "float":
            return _float(text)
        case _:
            return text


def plain_scalar(text: str) -> object:
    """The Python value of an unquoted ``text``."""
    if _EXPONENT.fullmatch(text):
        return float(text)
    return scalar(text, implicit_tag(text))


def is_text_elsewhere(text: str) -> bool:
    """Whether YAML 1.1 reads an unquoted number as text: it requires a point, and a sign in the exponent."""
    return bool(_EXPONENT.fullmatch(text)) and implicit_tag(text) == f"{_TAG}str"


def _bool(text: str) -> bool:
    word = text.lower()
    if word not in ("true", "yes", "on", "false", "no", "off"):
        raise ValueError("it is neither true nor false")
    return word in ("true", "yes", "on")


def _int(text: str) -> int:
    if ":" in text:
        raise Ambiguous(f"{text} is a number in base 60 for YAML 1.1 and text for YAML 1.2; quote it, or give seconds")
    if _OCTAL.fullmatch(text):
        raise Ambiguous(f"{text} is octal for YAML 1.1 and decimal for YAML 1.2; drop the leading 0, or quote it")
    return int(text.replace("_", ""), 0)


def _float(text: str) -> float:
    if ":" in text:
        raise Ambiguous(f"{text} is a number in base 60 for YAML 1.1 and text for YAML 1.2; quote it")
    word = text.replace("_", "").lower()
    special = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
    return float(special.get(word, word))
