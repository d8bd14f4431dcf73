"""``calculate`` against other implementations: fractions, decimals, mpmath; and against anything one can type."""

from __future__ import annotations

import decimal
import time
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.toolsets.calling import call, code_of

from react_toolsets.math import MathToolset

MATH = MathToolset()
CODES = {
    "ambiguous_number", "division_by_zero", "domain_error", "invalid_argument_count", "invalid_arguments",
    "invalid_expression", "numeric_limit_exceeded", "unknown_function", "unknown_identifier", "unsupported_syntax",
}  # fmt: skip

numbers = st.decimals(-1000, 1000, places=3).map(lambda number: number.normalize())
Tree = tuple[str, Fraction]


def literal(number: Decimal) -> Tree:
    return f"({number:f})", Fraction(number)


def combined(parts: tuple[Tree, str, Tree]) -> Tree:
    (left, a), sign, (right, b) = parts
    operations: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b if b else Fraction(0),
        "//": lambda a, b: Fraction(a // b) if b else Fraction(0),
        "%": lambda a, b: a % b if b else Fraction(0),
    }
    divides = sign in ("/", "//", "%")
    text = "0" if divides and not b else f"({left} {sign} {right})"
    return text, operations[sign](a, b)


trees = st.recursive(
    numbers.map(literal),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(combined),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(trees)
def test_arithmetic_is_that_of_fractions(tree: Tree) -> None:
    text, expected = tree
    if len(text) > 500:
        return
    result = call(MATH, "calculate", expression=text)
    if code_of(result):
        assert code_of(result) in ("invalid_expression", "numeric_limit_exceeded")  # too long, not wrong
        return
    context = Context(prec=50)
    shown = context.divide(Decimal(expected.numerator), Decimal(expected.denominator))
    assert Decimal(result["value"]) == shown
    assert result["approximate"] == bool(context.flags[decimal.Inexact])
    if "exact" in result:
        assert Fraction(result["exact"]) == expected


@settings(max_examples=100, deadline=None)
@given(st.decimals(-(10**9), 10**9, places=8), st.integers(-9, 12))
@example(Decimal("2.5"), 0)
@example(Decimal("0.00000005"), 7)
def test_rounding_is_that_of_decimals(number: Decimal, places: int) -> None:
    for name, mode in (("round", ROUND_HALF_UP), ("round_half_even", ROUND_HALF_EVEN)):
        value = call(MATH, "calculate", expression=f"{name}({number:f}, {places})")["value"]
        expected = number.quantize(Decimal(1).scaleb(-places), mode, Context(prec=60))
        assert Decimal(value) == expected
        assert len(value.partition(".")[2]) == max(0, places)


FUNCTIONS: dict[str, tuple[Callable[..., mpmath.mpf], float, float]] = {
    "sin": (mpmath.sin, -1e6, 1e6),
    "cos": (mpmath.cos, -1e6, 1e6),
    "tan": (mpmath.tan, -1e3, 1e3),
    "asin": (mpmath.asin, -1, 1),
    "acos": (mpmath.acos, -1, 1),
    "atan": (mpmath.atan, -1e6, 1e6),
    "exp": (mpmath.exp, -500, 500),
    "ln": (mpmath.log, 1e-9, 1e9),
    "log2": (lambda x: mpmath.log(x, 2), 1e-9, 1e9),
    "log10": (mpmath.log10, 1e-9, 1e9),
    "sqrt": (mpmath.sqrt, 0, 1e12),
    "cbrt": (mpmath.cbrt, 0, 1e12),
    "degrees": (mpmath.degrees, -1e6, 1e6),
    "radians": (mpmath.radians, -1e6, 1e6),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_digits_that_mpmath_finds(name: str) -> None:
    function, low, high = FUNCTIONS[name]

    @settings(max_examples=15, deadline=None)
    @given(st.decimals(Decimal(str(low)), Decimal(str(high)), places=9))
    def check(number: Decimal) -> None:
        value = call(MATH, "calculate", expression=f"{name}({number:f})")["value"]
        with mpmath.workdps(70):
            expected = function(mpmath.mpf(str(number)))
            error = abs(mpmath.mpf(value) - expected)
            assert error <= abs(expected) * mpmath.mpf(10) ** -49

    check()


@settings(max_examples=60, deadline=None)
@given(st.decimals(Decimal("0.001"), 1000, places=6), st.decimals(-30, 30, places=4))
def test_a_power_has_the_digits_that_mpmath_finds(base: Decimal, exponent: Decimal) -> None:
    value = call(MATH, "calculate", expression=f"{base:f}**({exponent:f})")["value"]
    with mpmath.workdps(90):
        expected = mpmath.mpf(str(base)) ** mpmath.mpf(str(exponent))
        assert abs(mpmath.mpf(value) - expected) <= abs(expected) * mpmath.mpf(10) ** -49


PIECES = [
    "(", ")", "+", "-", "*", "/", "//", "%", "**", "^", "!", "1", "9", "9999", "1e999", "0.001", "pi", "e", "sin(",
    "exp(", "ln(", "sqrt(", "cbrt(", "factorial(", "comb(", ",", ", ", "²", "√", "round(", "3**9999", "7**5000",
    "gcd(", "lcm(", "log(", "stdev(", "1e-999", "atan(", "tan(", "_", "x", " ", "1_0", "0x1f", "=",
    "\N{FULLWIDTH DIGIT ONE}", "\ud800",
]  # fmt: skip
typed = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join).map(lambda text: text + ")" * text.count("(")),
    st.text(max_size=500),
).map(lambda text: text[:500])


@settings(max_examples=400, deadline=None)
@given(typed)
def test_whatever_is_typed_gives_a_value_or_a_code(text: str) -> None:
    result = call(MATH, "calculate", expression=text)
    assert result["status"] == "ok" or code_of(result) in CODES


HOSTILE = {
    "a tower of powers": "**".join(["9"] * 60),
    "sums of long numbers": "+".join(["3**20000"] * 60),
    "sums of long fractions": "+".join([f"(7**{11000 + i}/3**{19000 + i})" for i in range(25)]),
    "products that never end": "*".join(["3**2000"] * 60),
    "huge angles": "+".join([f"sin(1e{999 - i})" for i in range(40)]),
    "factorials": "+".join(["3248!"] * 90),
    "choices": "+".join(["comb(33200,16600)"] * 27),
    "square roots of long numbers": "+".join(["sqrt(3**20001)"] * 33),
    "cube roots of long numbers": "+".join(["cbrt(3**20000)"] * 33),
    "roots of high degree": "+".join(["(3**20000)**(1/977)"] * 22),
    "extremes of huge numbers": "max(" + ", ".join(["pi*1e9990"] * 45),
    "a median of long fractions": "median(" + ", ".join(["3**20000/7**11000"] * 25),
    "multiples": "lcm(" + ", ".join(f"3**{i}+1" for i in range(9000, 9040)),
    "logarithms of long numbers": "+".join(["log(3**20000,7)"] * 30),
    "exponentials of exponentials": "exp(" * 30 + "0.1" + ")" * 30,
    "roots of roots": "sqrt(" * 60 + "2" + ")" * 60,
    "remainders": "%".join(["7**11000"] * 50),
    "brackets": "(" * 500,
    "signs": "-" * 500,
    "dots": "." * 500,
    "commas": "1," * 250,
    "letters": "a" * 500,
    "digits": "9" * 500,
    "superscripts": "2" + "²" * 499,
    "marks": "9" + "!" * 499,
    "spaces and a digit": " " * 499 + "1",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_input_makes_it_slow(kind: str) -> None:
    text = HOSTILE[kind][:500]
    for closed in (text, (text + ")" * text.count("("))[:500]):
        start = time.process_time()
        call(MATH, "calculate", expression=closed)
        assert time.process_time() - start < 2  # finds a hang; benchmarks/ has the figures


def test_the_work_that_a_calculation_may_cost_is_the_same_on_every_machine() -> None:
    first, second = (
        call(MATH, "calculate", expression=HOSTILE["square roots of long numbers"][:500]) for _ in range(2)
    )
    assert code_of(first) == code_of(second) == "numeric_limit_exceeded"


def test_the_decimal_context_of_the_caller_does_not_matter() -> None:
    expressions = [
        "sqrt(2)*pi",
        "sin(1e20)",
        "atan(0.3)",
        "cbrt(-2)",
        "-sqrt(3)",
        "stdev(1, 2, 4)",
        "2**0.3",
        "abs(-pi)",
    ]
    usual = [call(MATH, "calculate", expression=expression) for expression in expressions]
    with decimal.localcontext() as context:
        context.prec = 3
        context.traps[decimal.Inexact] = True
        assert [call(MATH, "calculate", expression=expression) for expression in expressions] == usual
