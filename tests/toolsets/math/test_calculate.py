# ruff: noqa: RUF001  # signs that look like others are part of what is tested
"""``calculate``: what expressions are worth, how values are written, and what is refused with which way out."""

from __future__ import annotations

import math

import pytest
from tests.toolsets.calling import Result, call, code_of, message_of

from react_toolsets.math import MathToolset

MATH = MathToolset()


def calculate(expression: str) -> Result:
    return call(MATH, "calculate", expression=expression)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2**-2", "0.25"),
        ("2**-2**2", "0.0625"),
        ("--3", "3"),
        ("+5", "5"),
        ("7//-2", "-4"),
        ("-7 % -3", "-1"),
        ("7 % -3", "-2"),
        ("7.5 % 2", "1.5"),
        ("mod(-7, 3)", "2"),
        ("2**3!", "64"),
        ("-3!", "-6"),
        ("(3!)!", "720"),
        ("2(3)", "6"),
        ("(1+2)(3+4)", "21"),
        ("6/2(1+2)", "9"),
        ("2(3)**2", "18"),
        ("2²", "4"),
        ("2⁻²", "0.25"),
        ("-2²", "-4"),
        ("3·4", "12"),
        ("10⁄4", "2.5"),
        ("√16", "4"),
        ("2√16", "8"),
        ("√(9+16)", "5"),
        ("８÷（２＋２）", "2"),
        ("0x1F + 0b11 + 0o17", "49"),
        ("1_000 + 1", "1001"),
        (".5 + 1.", "1.5"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
        ("007", "7"),
        ("SQRT(4)", "2"),
        ("0**0", "1"),
        ("(-8)**-1", "-0.125"),
        ("4**0.5", "2"),
        ("8**(2/3)", "4"),
        ("0.25**0.5", "0.5"),
        ("sqrt(0.0625)", "0.25"),
        ("sqrt(1/9)*9", "3"),
        ("cbrt(-27)", "-3"),
        ("cbrt(10**300) - 10**100", "0"),
        ("hypot(3, 4, 12)", "13"),
        ("exp(0)", "1"),
        ("ln(1)", "0"),
        ("log(8, 2)", "3"),
        ("log(8, 4)", "1.5"),
        ("log(0.001, 10)", "-3"),
        ("log10(10**9000)", "9000"),
        ("log2(1/1024)", "-10"),
        ("cos(0)", "1"),
        ("acos(1)", "0"),
        ("degrees(0)", "0"),
        ("trunc(-3.8)", "-3"),
        ("ceil(3.2)", "4"),
        ("median(3, 1, 2)", "2"),
        ("median(4, 1, 2, 3)", "2.5"),
        ("mean(1, 2)", "1.5"),
        ("variance(2, 4, 4, 4, 5, 5, 7, 9)*7", "32"),
        ("stdev(1, 3, 5)", "2"),
        ("product(2, 3, 4)", "24"),
        ("gcd(12, 18, 27)", "3"),
        ("lcm(4, 6, 10)", "60"),
        ("factorial(0)", "1"),
        ("20!", "2432902008176640000"),
        ("comb(52, 5)", "2598960"),
        ("comb(3, 5)", "0"),
        ("comb(10**12, 3)", "166666666666166666666667000000000000"),
        ("perm(5)", "120"),
        ("perm(5, 2)", "20"),
        ("max(1/3, 0.3)*3", "1"),
        ("abs(-1/4)", "0.25"),
        ("1/3 + 1/6", "0.5"),
        ("0.1 + 0.2 - 0.3", "0"),
        ("1/3*3", "1"),
        ("10**50", "1" + "0" * 50),
        ("0*pi", "0"),
    ],
)
def test_a_rational_result_is_exact(expression: str, value: str) -> None:
    result = calculate(expression)
    assert (result["value"], result["approximate"]) == (value, False)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("round(2.345, 2)", "2.35"),
        ("round(1.005, 2)", "1.01"),
        ("round(-2.345, 2)", "-2.35"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(1, 2)", "1.00"),
        ("round(0, 2)", "0.00"),
        ("round(-0.001, 2)", "0.00"),
        ("round(1234.5, -2)", "1200"),
        ("round(1250, -2)", "1300"),
        ("round(10**40 + 0.1, 1)", "1" + "0" * 40 + ".1"),
        ("round(1, 2) + 1", "2"),
        ("round_half_even(2.345, 2)", "2.34"),
        ("round_half_even(2.5)", "2"),
        ("round_half_even(0.125, 2)", "0.12"),
        ("round(sqrt(2), 3)", "1.414"),
        ("round(86.4 * 1.18 / 4, 2)", "25.49"),
    ],
)
def test_rounding_is_away_from_zero_and_keeps_the_places_asked_for(expression: str, value: str) -> None:
    result = calculate(expression)
    assert (result["value"], result["approximate"]) == (value, False)


@pytest.mark.parametrize(
    ("expression", "value", "exact"),
    [
        ("1/3", "0." + "3" * 50, "1/3"),
        ("-2/3", "-0." + "6" * 49 + "7", "-2/3"),
        ("100/7", "14.285714285714285714285714285714285714285714285714", "100/7"),
        ("10**60 + 0.5", "1e60", f"{2 * 10**60 + 1}/2"),
        ("2**-1000", "9.3326361850321887899008954472381716961709144637171e-302", None),
        ("1.0001**3650", "1.4404877207609194519934308590639249857166864454936", None),
        ("(1+0.05/365)**3650", "1.6486648137654718302139994211968295767743855616373", None),
    ],
)
def test_a_rational_result_with_too_many_digits_has_its_fraction_when_that_is_short(
    expression: str, value: str, exact: str | None
) -> None:
    result = calculate(expression)
    assert (result["value"], result["approximate"], result.get("exact")) == (value, True, exact)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sqrt(2)**2", "2"),
        ("sin(pi)", "0"),
        ("sin(pi)*1e40", "0"),
        ("cos(pi/3)", "0.5"),
        ("tan(pi/4)", "1"),
        ("exp(ln(5))", "5"),
        ("sqrt(8) - 2*sqrt(2)", "0"),
        ("atan(1)*4 - pi", "0"),
        ("degrees(pi)", "180"),
        ("sin(radians(30))", "0.5"),
        ("2*asin(1)/pi", "1"),
        ("exp(1e-60) - 1", "1e-60"),
        ("e", "2.7182818284590452353602874713526624977572470937"),
        ("2PI", "6.2831853071795864769252867665590057683943387987502"),
        ("tau/2", "3.1415926535897932384626433832795028841971693993751"),
        ("exp(100) % 7", "2.7737419224151916086152802870349095649141588710972"),
        ("sin(exp(200))", "-0.81559757475265142779214991430306603480869038882108"),
    ],
)
def test_an_irrational_result_has_fifty_digits_that_are_right(expression: str, value: str) -> None:
    result = calculate(expression)
    assert result["approximate"] is True
    assert result["value"] == value


def test_rounding_an_irrational_number_gives_an_exact_one() -> None:
    assert calculate("floor(exp(200)) % 10")["value"] == "1"
    assert calculate("floor(ln(e**2))")["value"] == "2"
    assert calculate("min(sqrt(2), 1)")["approximate"] is False


@pytest.mark.parametrize(
    ("expression", "normalised"),
    [
        ("15 * 23", "15*23"),
        ("3 × 4 ÷ 2 − 1", "3*4/2-1"),
        ("2^10", "2**10"),
        ("2pi", "2*pi"),
        ("√9 + 2²", "sqrt(9)+2**2"),
        ("½ + 1¾ * √¼", "(1/2)+(1+3/4)*sqrt((1/4))"),
        ("-2 ½", "-(2+1/2)"),
        ("1,000 + 1_000", "1000+1000"),
        ("Max( 1,2 )", "max(1, 2)"),
    ],
)
def test_the_result_shows_how_the_expression_was_read(expression: str, normalised: str) -> None:
    assert calculate(expression)["expression"] == normalised


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1,000+1", "1001"),
        ("1,234,567.5*2", "2469135"),
        ("(1,000)", "1000"),
        ("sqrt(1,024)", "32"),
        ("round(1,234.567, 2)", "1234.57"),
        ("pow(1,000, 2)", "1000000"),
        ("comb(1,000,2)", "499500"),
        ("gcd(100,250)", "50"),
        ("sum(100, 200, 300)", "600"),
        ("sum(1, 000)", "1"),
        ("min(30,1000,2)", "2"),
        ("sum((1,000), 2)", "1002"),
    ],
)
def test_a_comma_is_read_in_the_only_way_there_is(expression: str, value: str) -> None:
    assert calculate(expression)["value"] == value


@pytest.mark.parametrize(
    ("expression", "readings"),
    [
        ("sum(1,000, 2,000)", ["1000, 2000", "1, 000, 2, 000"]),
        ("sum(1,000,2,000)", ["10002000", "1, 000, 2, 000"]),
        ("sum(100,200,300)", ["100200300", "100, 200, 300"]),
        ("max(1,234.5, 3)", ["1234.5", "1, 234.5"]),
        ("log(1,000)", ["1000", "1, 000"]),
        ("comb(100,200,300)", ["100200300", "100, 200, 300"]),
    ],
)
def test_a_comma_with_two_readings_is_refused_with_both(expression: str, readings: list[str]) -> None:
    result = calculate(expression)
    assert code_of(result) == "ambiguous_number"
    assert result["error"]["readings"] == readings


@pytest.mark.parametrize("expression", ["1,5", "3,14*2", "0,500", "1.000,5", "(1,2)", "1,2,3", "1,0000"])
def test_a_decimal_comma_is_refused(expression: str) -> None:
    assert code_of(calculate(expression)) == "ambiguous_number"


@pytest.mark.parametrize(
    ("expression", "advice", "nonsense"),
    [
        ("1.000,5", "such as 1000.5", "1.000.5"),
        ("1.5e3.2", "write 1.5e3*.2", "or 1.5e3.2"),
        ("1..2", "write 1.*.2", "or 1..2"),
        ("5 mod 3", "write mod(a, b)", "mod(3)"),
    ],
)
def test_no_refusal_says_to_write_what_would_be_refused(expression: str, advice: str, nonsense: str) -> None:
    message = message_of(calculate(expression))
    assert advice in message
    assert nonsense not in message


@pytest.mark.parametrize(
    ("expression", "code", "hint"),
    [
        ("15% of 240", "unsupported_syntax", "15/100*240"),
        ("50%", "unsupported_syntax", "50/100"),
        ("(50%)*2", "unsupported_syntax", "50/100"),
        ("200 + 10%", "unsupported_syntax", "100"),
        ("50% - 3", "unsupported_syntax", "100"),
        ("50% + 3", "unsupported_syntax", "100"),
        ("5%*2", "unsupported_syntax", "100"),
        ("2 plus 3", "unsupported_syntax", "'plus'"),
        ("3 x 4", "unsupported_syntax", "'x' before 4"),
        ("2 3", "unsupported_syntax", "2*3"),
        ("1 000", "unsupported_syntax", "1000"),
        ("(2)3", "unsupported_syntax", ")*"),
        ("pi 2", "unsupported_syntax", "operator"),
        ("sin 30", "unsupported_syntax", "sin(30)"),
        ("sin", "unsupported_syntax", "sin(radians)"),
        ("3!!", "unsupported_syntax", "(3!)!"),
        ("2²³!", "unsupported_syntax", "parentheses"),
        ("2⁻", "unsupported_syntax", "**"),
        ("1e", "unsupported_syntax", "1e6"),
        ("2e+", "unsupported_syntax", "2*e"),
        ("1.2.3", "unsupported_syntax", "operator"),
        ("1<2", "unsupported_syntax", "comparison"),
        ("2+2=", "unsupported_syntax", "comparison"),
        ("3!=6", "unsupported_syntax", "comparison"),
        ("sum([1,2])", "unsupported_syntax", "sum(1, 2, 3)"),
        ("$5 + 3", "unsupported_syntax", "currency"),
        ("|3|", "unsupported_syntax", "abs"),
        ("30°", "unsupported_syntax", "radians(30)"),
        ("1.5½", "unsupported_syntax", "(1/2)"),
        ("½½", "unsupported_syntax", "(1/2)"),
        ("pi½", "unsupported_syntax", "(1/2)"),
        ("__import__('os')", "unsupported_syntax", "quotation"),
        ("a.b", "unsupported_syntax", "0.5"),
        ("1; 2", "unsupported_syntax", "numbers"),
        ("1, 2", "unsupported_syntax", "one expression"),
        ("٣+1", "unsupported_syntax", "numbers"),
        ("2 * (3", "invalid_expression", ")"),
        ("()", "invalid_expression", "missing"),
        ("2+", "invalid_expression", "end"),
        ("*2", "invalid_expression", "'*'"),
        ("2)", "invalid_expression", "without its ("),
        ("sum(1,)", "invalid_expression", "missing"),
        ("sum(,1)", "invalid_expression", "missing"),
        ("-", "invalid_expression", "missing"),
        ("x + 1", "unknown_identifier", "'x'"),
        ("1__0", "unknown_identifier", "'__0'"),
        ("2x", "unknown_identifier", "numbers in place of names"),
        ("foo(1)", "unknown_function", "floor"),
        ("sqroot(4)", "unknown_function", "sqrt"),
        ("zzzzzz(4)", "unknown_function", "factorial"),
        ("sqrt(1, 2)", "invalid_argument_count", "takes 1 argument, not 2"),
        ("sqrt()", "invalid_argument_count", "not 0"),
        ("stdev(1)", "invalid_argument_count", "2 or more"),
        ("pow(2, 3, 5)", "invalid_argument_count", "pow(base, exponent)"),
        ("1/0", "division_by_zero", "divisor"),
        ("1//0", "division_by_zero", "divisor"),
        ("1 % 0", "division_by_zero", "divisor"),
        ("0**-1", "division_by_zero", "negative exponent"),
        ("1/(sqrt(8)-2*sqrt(2))", "division_by_zero", "divisor"),
        ("sqrt(-1)", "domain_error", "negative"),
        ("(-8)**(1/3)", "domain_error", "cbrt"),
        ("ln(0)", "domain_error", "above 0"),
        ("log(2, 1)", "domain_error", "base 1"),
        ("asin(2)", "domain_error", "-1 to 1"),
        ("tan(pi/2)", "domain_error", "right angle"),
        ("factorial(1.5)", "domain_error", "whole"),
        ("factorial(-1)", "domain_error", "from 0"),
        ("gcd(1.5, 2)", "domain_error", "whole"),
        ("round(1, 31)", "domain_error", "-12 to 30"),
        ("round(1, 0.5)", "domain_error", "whole"),
        ("   ", "invalid_arguments", "15*23"),
        ("9" * 501, "invalid_arguments", "expression"),
        ("", "invalid_arguments", "expression"),
    ],
)
def test_what_is_no_calculation_is_refused_with_the_way_out(expression: str, code: str, hint: str) -> None:
    result = calculate(expression)
    assert code_of(result) == code
    assert hint in message_of(result)


def test_the_whole_text_is_parsed_before_anything_is_evaluated() -> None:
    assert code_of(calculate("1/0 + foo(2)")) == "unknown_function"
    assert code_of(calculate("1/0 + x +")) == "invalid_expression"


@pytest.mark.parametrize(
    "expression",
    ["2**1001", "2**33219", "3248!", "1e9999", "comb(33200, 16600)", "-(10**9999)", "7**1234 * 7**4321"],
)
def test_whole_numbers_are_shown_in_full_up_to_ten_thousand_digits(expression: str) -> None:
    result = calculate(expression)
    assert result["approximate"] is False
    digits = result["value"].lstrip("-")
    assert digits.isdigit()
    assert len(digits) <= 10_000


def test_a_long_number_has_the_right_digits() -> None:
    digits = calculate("3**20000")["value"]
    # Python itself refuses to read that many digits at once.
    assert (
        int(digits[:4000]) * 10 ** (len(digits) - 4000)
        <= 3**20000
        < (int(digits[:4000]) + 1) * 10 ** (len(digits) - 4000)
    )
    assert int(digits[-4000:]) == pow(3, 20000, 10**4000)
    assert len(digits) == math.floor(20000 * math.log10(3)) + 1


@pytest.mark.parametrize(
    "expression",
    [
        "1e10000", "10**10000", "2**100000", "2**-100000", "3249!", "exp(100000)", "exp(-100000)", "9**9**9**9",
        "9**(9**99)", "1.0001**(10**300)", "comb(34000, 17000)", "perm(10**9, 10**8)", "1/10**9000/10**9000",
        "sin(exp(2000))", "floor(exp(2000)) % 10", "sin(10**2000)", "1e999999999999", "0.5**99999", "(-2)**99999",
        "exp(1e-450) - 1", "lcm(10**9000, 3**9000)", "10**9000 * 10**9000",
    ],
)  # fmt: skip
def test_what_is_beyond_the_limits_is_refused(expression: str) -> None:
    assert code_of(calculate(expression)) == "numeric_limit_exceeded"


def test_powers_with_fractions_of_many_digits_become_approximate_instead_of_failing() -> None:
    result = calculate("1.0001**9999")
    assert result["approximate"] is True
    assert float(result["value"]) == pytest.approx(1.0001**9999)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 249 + "1" + ")" * 249,
        "-" * 499 + "1",
        "+".join("1" * 250),
        "**".join(["2"] * 100),
        "sqrt(" * 65 + "1" + ")" * 65,
    ],
)
def test_what_is_too_long_or_too_deep_is_no_expression(expression: str) -> None:
    assert code_of(calculate(expression)) == "invalid_expression"


def test_sixty_four_levels_are_allowed() -> None:
    assert calculate("(" * 64 + "1" + ")" * 64)["value"] == "1"
