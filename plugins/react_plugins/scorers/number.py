"""The scorer ``number``: the number in the answer, within a tolerance, in any unit of its kind."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from pydantic import Field

from react_plugins.scorers.texts import Expects
from react_run import Score, ScoredRun

_NUMBER = re.compile(
    r"(?<![\w.])[-+\u2212]?(?:\d{1,3}(?:[,\u00a0\u202f ]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?:\s*/\s*\d+)?(?![\d])"
    r"|(?<![\w.])[-+\u2212]?\.\d+"
)
_UNIT = re.compile(r"[ \u00a0]?\s*([°%\u00b5\u03bcA-Za-z][\w°%/²³·^*-]*)")


class Number(Expects):
    """The answer must have the expected number, within a tolerance."""

    kind: ClassVar[str] = "number"

    value: float | None = None
    """The number, also as text with a unit; by default that of the case, such as `"3.2 km"`."""
    tolerance: float = Field(default=0.0, ge=0)
    """The allowed difference."""
    relative: float = Field(default=1e-9, ge=0)
    """The allowed difference relative to the number: `0.01` is one per cent."""
    unit: str = ""
    """The expected unit; numbers in other units of the same kind are converted."""
    which: Literal["last", "first", "any"] = "last"
    """Which number counts if the answer has several."""

    async def score(self, run: ScoredRun) -> Score:
        expected, unit = self._expected(self.wanted(run, self.value))
        found = [self._converted(number, own, unit) for number, own in numbers(run.answer)]
        if not found:
            return Score(value=0.0, reason=f"there is no number in the answer {run.answer!r}")
        counted = found if self.which == "any" else found[:1] if self.which == "first" else found[-1:]
        room = max(self.tolerance, self.relative * abs(expected))
        hit = any(number is not None and abs(number - expected) <= room for number in counted)
        shown = ", ".join("of another kind" if number is None else f"{number:.12g}" for number in counted)
        wanted = f"{expected:.12g}{f' {unit}' if unit else ''}"
        return Score(value=float(hit), reason=f"number: expected {wanted}, got {shown}")

    def _expected(self, wanted: object) -> tuple[float, str]:
        if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
            return float(wanted), self.unit
        found = numbers(str(wanted))
        if len(found) != 1:
            raise ValueError(f"{wanted!r} is not a number, so the answer cannot be compared with it")
        return found[0][0], self.unit or found[0][1]

    @staticmethod
    def _converted(number: float, own: str, unit: str) -> float | None:
        """The number in the expected unit, which is assumed if it has none; ``None`` if its unit is of another kind."""
        if not unit or not own or own == unit:
            return number
        from react_toolsets.answers import Refusal
        from react_toolsets.math.units.convert import convert

        try:
            return float(str(convert(repr(number), own, unit)["value"]))
        except Refusal as refusal:  # the word after it may not be a unit
            return None if refusal.code == "incompatible_units" else number


def numbers(text: str) -> list[tuple[float, str]]:
    """The numbers in a text, each with the word after it."""
    found = []
    for match in _NUMBER.finditer(text):
        written = re.sub(r"(?<=\d)[,\u00a0\u202f ](?=\d{3})", "", match[0]).replace("\u2212", "-")
        number, slash, divisor = written.partition("/")
        if slash and not float(divisor):
            continue
        unit = _UNIT.match(text, match.end())
        found.append((float(number) / float(divisor or 1), unit[1].rstrip(".,;:") if unit else ""))
    return found
