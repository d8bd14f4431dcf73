"""The ``math`` toolset: its tools, and the meaning of their results for a run."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from react_run import Outcome, ReActSkillSpec, ReActToolset, tool
from react_toolsets.answers import Fields, answer, interpret_answer
from react_toolsets.math.units.names import ADVERTISED

ASK = frozenset({"ambiguous_unit"})
"""Codes that only the user can resolve; the model may correct every other error."""

_LONGEST_SUMMARY = 400

Expression = Annotated[
    str,
    Field(
        description="The arithmetic expression to calculate, with numbers in place of names and without units or an "
        "equals sign. Percentages are written as divisions: 15/100*240.",
        min_length=1,
        max_length=500,
        examples=["15*23", "round(86.4*1.18/4, 2)", "(1+0.05/12)**120", "sqrt(2)", "mean(3, 5, 10)"],
    ),
]
Value = Annotated[
    int | float | str,
    Field(
        description="The number to convert, without its unit.",
        json_schema_extra=lambda schema: schema.update(anyOf=[{"type": "number"}, {"type": "string"}]),
        examples=[5, 98.6, "1,250.5"],
    ),
]


def _unit(description: str, *examples: str) -> object:
    return Field(description=description, json_schema_extra={"enum": list(ADVERTISED)}, examples=list(examples))


class MathToolset(ReActToolset):
    """Exact arithmetic and unit conversion."""

    kind: ClassVar[str] = "math"

    @tool(read_only=True, inline=True)
    def calculate(self, expression: Expression) -> str:
        """Calculate an arithmetic expression exactly: sums, products, powers, percentages, roots, averages, rounding.

        Signs: + - * / // (whole division) % (remainder) ** (power) ! (factorial), and parentheses.
        Functions: abs sqrt cbrt floor ceil trunc round(x, places) round_half_even min max sum mean median stdev
        variance product gcd lcm mod pow exp ln log(x, base) log2 log10 sin cos tan asin acos atan degrees radians
        hypot factorial comb perm. Constants: pi e tau. Angles are in radians, log(x) is the natural logarithm.
        Put a space after the comma between arguments: sum(1, 000) has two, 1,000 is one thousand.
        """
        from react_toolsets.math.calculate import calculate

        return answer(lambda: calculate(expression))

    @tool(read_only=True, inline=True)
    def convert_units(
        self,
        value: Value,
        from_unit: Annotated[str, _unit("The unit to convert from.", "mi", "celsius", "us_cup")],
        to_unit: Annotated[str, _unit("The unit to convert to.", "km", "fahrenheit", "ml")],
        digits: Annotated[int, Field(description="Significant digits of the result.", ge=1, le=50)] = 15,
    ) -> str:
        """Convert a measurement from one unit to another.

        Length, mass and weight, temperature, time, volume, area, speed, energy, power, pressure, data and angles.
        Common names, plurals, prefixes and compounds such as kg/m3 are understood, too. No currencies, no months or
        years. Cups, pints, gallons and the like must say whether they are US (us_gallon) or Imperial (imperial_gallon).
        """
        from react_toolsets.math.units.convert import convert

        return answer(lambda: convert(value, from_unit, to_unit, digits))

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """Success is a verified equation; ambiguous units need the user; other errors may be retried."""
        return interpret_answer(result, _equation if tool_name == "calculate" else _conversion, ASK)

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skill group ``math_and_units``."""
        return [
            ReActSkillSpec(
                name="math_and_units",
                description="Calculate numbers exactly and convert units of measurement.",
                tool_names=("calculate", "convert_units"),
                instructions="Give calculate one expression with numbers only, convert_units one value and two units. "
                "Use the values they return as they are; one that is marked approximate is rounded.",
                examples=("What is 15% of 240?", "Convert 5 miles to kilometres.", "What is the square root of 2?"),
                order=10,
            )
        ]


def _equation(fields: Fields) -> str:
    text = f"{fields.get('expression')} {_sign(fields)} {fields.get('value')}"
    return text if len(text) <= _LONGEST_SUMMARY else f"{text[: _LONGEST_SUMMARY - 1]}…"


def _conversion(fields: Fields) -> str:
    given = fields.get("input")
    if not isinstance(given, dict):
        return ""
    return f"{given['value']} {given['symbol']} {_sign(fields)} {fields.get('value')} {fields.get('symbol')}"


def _sign(fields: Fields) -> str:
    return "≈" if fields.get("approximate") else "="
