"""Replaces the many spellings of operators, fractions and superscripts with one."""

# ruff: noqa: RUF001  # this module is about characters that look alike

from __future__ import annotations

import re
import unicodedata

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("×∗⋅·∙✕✖", "*"),
        **dict.fromkeys("÷∕⁄", "/"),
        **dict.fromkeys("−–—‐‑‒﹣", "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "),
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    }
)
_UNITS = str.maketrans(
    {
        "\u03bc": "\u00b5",
        "\u212a": "K",
        "\u2126": "\u03a9",
        "℃": "°C",
        "℉": "°F",
        "º": "°",
        "’": "'",
        "”": '"',
    }
)
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_RAISED = re.compile(f"[{SUPERSCRIPTS}]+")
_LOWERED = str.maketrans(SUPERSCRIPTS, "0123456789+-")
_SHOWN = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

CURRENCY_SIGNS = "$€£¥₹"
VULGAR_FRACTIONS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
QUOTATION_MARKS = "\"'`“”‘’"
_FRACTION = re.compile(
    rf"(?<![\w.,])(?P<whole>\d+) ?(?P<part>[{VULGAR_FRACTIONS}])(?![\d.])"
    rf"|(?<![\w.)²³])(?<![\d.)] )(?P<alone>[{VULGAR_FRACTIONS}])(?![\d.])"
)


def plain_signs(text: str) -> str:
    """``text`` with one character per operator, and without full-width forms."""
    return text.translate(_SIGNS)


def plain_fractions(text: str) -> str:
    """``text`` with ``½`` as ``(1/2)`` and ``1½`` as ``(1+1/2)``; fractions with an unclear meaning are kept."""
    return _FRACTION.sub(_plain_fraction, text)


def _plain_fraction(found: re.Match[str]) -> str:
    part = unicodedata.normalize("NFKC", found["part"] or found["alone"]).replace("\u2044", "/")
    return f"({found['whole']}+{part})" if found["whole"] else f"({part})"


def plain_unit(text: str) -> str:
    """``text`` with one spelling of each symbol in a unit, and powers with ``^``."""
    return _RAISED.sub(lambda run: f"^{lowered(run[0])}", text.translate(_UNITS)).translate(_SIGNS).replace("**", "^")


def lowered(superscript: str) -> str:
    """``superscript`` as plain digits."""
    return superscript.translate(_LOWERED)


def raised(number: int) -> str:
    """``number`` as a superscript."""
    return str(number).translate(_SHOWN)
