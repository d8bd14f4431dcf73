"""The functions, constants and operators of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from react_run.support import dataclass
from react_toolsets.math import aggregates, angles, integers, operators, powers, rounding
from react_toolsets.math.arithmetic import Number

MANY = 256


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its implementation, the number of its arguments, and an example of its use."""

    compute: Callable[..., Number]
    fewest: int
    most: int
    usage: str

    @property
    def arity(self) -> str:
        """The number of arguments in words."""
        if self.most == MANY:
            return f"{self.fewest} or more arguments"
        number = str(self.fewest) if self.fewest == self.most else f"{self.fewest} or {self.most}"
        return f"{number} argument{'s' if number != '1' else ''}"


FUNCTIONS: Mapping[str, Function] = {
    "abs": Function(operators.absolute, 1, 1, "abs(x)"),
    "sqrt": Function(powers.sqrt, 1, 1, "sqrt(x)"),
    "cbrt": Function(powers.cbrt, 1, 1, "cbrt(x)"),
    "floor": Function(rounding.floor, 1, 1, "floor(x)"),
    "ceil": Function(rounding.ceil, 1, 1, "ceil(x)"),
    "trunc": Function(rounding.trunc, 1, 1, "trunc(x)"),
    "round": Function(rounding.round_half_away, 1, 2, "round(x) or round(x, places)"),
    "round_half_even": Function(rounding.round_half_even, 1, 2, "round_half_even(x) or round_half_even(x, places)"),
    "min": Function(aggregates.smallest, 1, MANY, "min(a, b, c)"),
    "max": Function(aggregates.largest, 1, MANY, "max(a, b, c)"),
    "sum": Function(aggregates.total, 1, MANY, "sum(a, b, c)"),
    "mean": Function(aggregates.mean, 1, MANY, "mean(a, b, c)"),
    "median": Function(aggregates.median, 1, MANY, "median(a, b, c)"),
    "stdev": Function(aggregates.stdev, 2, MANY, "stdev(a, b, c)"),
    "variance": Function(aggregates.variance, 2, MANY, "variance(a, b, c)"),
    "product": Function(aggregates.product, 1, MANY, "product(a, b, c)"),
    "gcd": Function(integers.gcd, 2, MANY, "gcd(a, b)"),
    "lcm": Function(integers.lcm, 2, MANY, "lcm(a, b)"),
    "mod": Function(operators.modulo, 2, 2, "mod(a, b)"),
    "pow": Function(powers.power, 2, 2, "pow(base, exponent)"),
    "exp": Function(powers.exp, 1, 1, "exp(x)"),
    "ln": Function(powers.ln, 1, 1, "ln(x)"),
    "log": Function(powers.log, 1, 2, "log(x) for the natural logarithm, or log(x, base)"),
    "log2": Function(powers.log2, 1, 1, "log2(x)"),
    "log10": Function(powers.log10, 1, 1, "log10(x)"),
    "sin": Function(angles.sin, 1, 1, "sin(radians)"),
    "cos": Function(angles.cos, 1, 1, "cos(radians)"),
    "tan": Function(angles.tan, 1, 1, "tan(radians)"),
    "asin": Function(angles.asin, 1, 1, "asin(x)"),
    "acos": Function(angles.acos, 1, 1, "acos(x)"),
    "atan": Function(angles.atan, 1, 1, "atan(x)"),
    "degrees": Function(angles.degrees, 1, 1, "degrees(radians)"),
    "radians": Function(angles.radians, 1, 1, "radians(degrees)"),
    "hypot": Function(aggregates.hypot, 2, MANY, "hypot(a, b)"),
    "factorial": Function(integers.factorial, 1, 1, "factorial(n)"),
    "comb": Function(integers.comb, 2, 2, "comb(n, k)"),
    "perm": Function(integers.perm, 1, 2, "perm(n, k)"),
}
"""The functions by lower-case name, in the order in which messages list them."""

CONSTANTS: Mapping[str, Callable[..., Number]] = {"pi": angles.pi, "e": powers.euler, "tau": angles.tau}

OPERATIONS: Mapping[str, Callable[..., Number]] = {
    "+": operators.add,
    "-": operators.subtract,
    "*": operators.multiply,
    "/": operators.divide,
    "//": operators.floor_divide,
    "%": operators.modulo,
    "**": powers.power,
    "negate": operators.negate,
    **CONSTANTS,
    **{name: function.compute for name, function in FUNCTIONS.items()},
}
"""The operations by the names that steps of a program use."""
