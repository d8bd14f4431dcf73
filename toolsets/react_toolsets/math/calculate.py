"""``calculate``: runs a program as exactly as possible, and formats the result."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal, Overflow, Underflow
from fractions import Fraction

from react_toolsets.answers import Refusal
from react_toolsets.math.arithmetic import MAX_WORK, Arithmetic, Imprecise, Number, too_large, too_small
from react_toolsets.math.functions import OPERATIONS
from react_toolsets.math.parser import Program, parse
from react_toolsets.math.text import DIGITS, exact_fraction, number_text

PRECISIONS = (70, 110, 250, 500)
"""Working precisions; they are tried in turn until two successive results agree on the digits shown."""


def calculate(expression: str) -> Mapping[str, object]:
    """The fields of the result of ``expression``.

    Raises:
        Refusal: The expression is invalid, or its value exceeds the limits.
    """
    program = parse(expression)
    value = evaluate(program)
    text, approximate = number_text(value)
    fields: dict[str, object] = {"expression": program.text, "value": text, "approximate": approximate}
    if approximate and isinstance(value, Fraction) and (exact := exact_fraction(value)):
        fields["exact"] = exact
    return fields


def evaluate(program: Program) -> Number:
    """The value of ``program``: exact, or approximate with all digits shown correct.

    One approximation does not show the size of its rounding errors; two that agree in different precisions do.
    """
    before: str | Number | None = None
    work = MAX_WORK
    for precision in PRECISIONS:
        arithmetic = Arithmetic(precision, work)
        try:
            value = _run(program, arithmetic)
        except Imprecise:
            seen: str | Number | None = None
        except Refusal as refusal:
            if not arithmetic.approximated or refusal.code == "numeric_limit_exceeded" or refusal.code == before:
                raise
            seen = refusal.code
        else:
            if not arithmetic.approximated:
                return value
            seen = Context(prec=DIGITS).plus(value) if isinstance(value, Decimal) else value
            # Terms that seem to cancel may still differ, so zero is accepted only in the highest precision.
            if seen == before and (value or precision == PRECISIONS[-1]):
                return value
        before, work = seen, arithmetic.work
    raise Refusal(
        "numeric_limit_exceeded",
        f"The digits of this value cancel out beyond {PRECISIONS[-1]} places. Rearrange the formula.",
    )


def _run(program: Program, arithmetic: Arithmetic) -> Number:
    stack: list[Number] = []
    try:
        for step in program.steps:
            if isinstance(step, Fraction):
                value: Number = step
            else:
                start = len(stack) - step.arguments
                value = OPERATIONS[step.name](arithmetic, *stack[start:])
                del stack[start:]
            stack.append(arithmetic.settle(value))
    except Overflow:
        raise too_large() from None
    except Underflow:
        raise too_small() from None
    return stack.pop()
