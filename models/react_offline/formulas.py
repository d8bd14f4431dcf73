"""Arithmetic phrases and their formulas; nothing is computed here.

A pattern is a sequence of words (``a|b`` for either, ``?a`` for optional) and operands: ``N`` is a numeral, ``P`` a
single operand, ``E`` a whole expression, ``L`` a list of operands. In a formula, ``{0}`` is the first operand, in
brackets if necessary, and ``{0:r}`` the first operand without brackets.
"""

from __future__ import annotations

from react_run.support import dataclass

ADD, MULTIPLY, POWER, ATOM = 1, 2, 3, 4
"""How tightly the outermost operation of an expression binds."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A phrase and its formula.

    ``loose``: an operator after it could belong inside (``half of 10 plus 6``), so the user is asked.
    ``unclear``: the question to ask if the phrase itself is ambiguous.
    """

    pattern: tuple[str, ...]
    template: str
    level: int
    loose: bool = False
    unclear: str = ""


def _formulas(level: int, *rows: tuple[str, str], loose: bool = False) -> list[Formula]:
    return [Formula(tuple(pattern.split()), template, level, loose) for pattern, template in rows]


_ANGLES = ("sine|sin", "cosine|cos", "tangent|tan")
_CALLS = _formulas(
    ATOM,
    ("?the square root of P", "sqrt({0:r})"),
    ("?the sqrt of P", "sqrt({0:r})"),
    ("?the cube root of P", "cbrt({0:r})"),
    ("?the absolute value of P", "abs({0:r})"),
    ("?the factorial of P", "factorial({0:r})"),
    ("?the floor of P", "floor({0:r})"),
    ("?the ceil|ceiling of P", "ceil({0:r})"),
    ("?the natural log|logarithm of P", "ln({0:r})"),
    ("?the log|logarithm base 2 of P", "log2({0:r})"),
    ("?the log|logarithm base 10 of P", "log10({0:r})"),
    *((f"?the {name} of P degrees", f"{name[-3:]}(radians({{0:r}}))") for name in _ANGLES),
    *((f"?the {name} of P radians", f"{name[-3:]}({{0:r}})") for name in _ANGLES),
    ("?the average|mean of L", "mean({0:r})"),
    ("?the median of L", "median({0:r})"),
    ("?the max|maximum|largest|biggest|greatest|highest of L", "max({0:r})"),
    ("?the min|minimum|smallest|lowest|least of L", "min({0:r})"),
    ("?the gcd of L", "gcd({0:r})"),
    ("?the greatest|highest common divisor|factor of L", "gcd({0:r})"),
    ("?the lcm of L", "lcm({0:r})"),
    ("?the least|lowest common multiple of L", "lcm({0:r})"),
    ("N choose N", "comb({0:r}, {1:r})"),
    loose=True,
)
_SIGNS = _formulas(ATOM, ("√ P", "sqrt({0:r})"))
_SHARES = (("half", 2), ("third", 3), ("quarter|fourth", 4), ("fifth", 5), ("tenth", 10))
_PARTS = _formulas(
    MULTIPLY,
    ("half|halve ?of P", "{0}/2"),
    ("twice|double P", "2*{0}"),
    ("triple P", "3*{0}"),
    *((f"a|one {part} of P", f"{{0}}/{number}") for part, number in _SHARES),
    ("two thirds of P", "{0}*2/3"),
    ("three quarters|fourths of P", "{0}*3/4"),
    ("?the product of L", "{0:*}"),
    ("?the quotient of P and P", "{0}/{1}"),
    ("?the remainder of P divided by P", "{0}%{1}"),
    ("?the remainder when|if P is divided by P", "{0}%{1}"),
    ("?the remainder when|from|of dividing P by P", "{0}%{1}"),
    ("split|divide|share ?up P ?evenly|equally ?up among|between|amongst P ?people|persons|friends|ways", "{0}/{1}"),
    ("split|divide|share P P ways", "{0}/{1}"),
    ("what percent|percentage of P is P", "{1}/{0}*100"),
    ("P is what percent|percentage of P", "{0}/{1}*100"),
    ("P as ?a percent|percentage of P", "{0}/{1}*100"),
    ("P out of P as|in ?a percent|percentage", "{0}/{1}*100"),
    ("?the percent|percentage change|increase from P to P", "({1}-{0})/{0}*100"),
    ("?the percent|percentage decrease from P to P", "({0}-{1})/{0}*100"),
    loose=True,
) + _formulas(
    MULTIPLY,
    ("N %|percent of P", "{0}/100*{1}"),
    ("N %|percent off ?of P", "{1}*(1-{0}/100)"),
    ("a|an P * at|with N %|percent off", "{0}*(1-{1}/100)"),
    ("N %|percent more than P", "{1}*(1+{0}/100)"),
    ("N %|percent less than P", "{1}*(1-{0}/100)"),
    ("?a N %|percent tip|tax|vat|gratuity|commission on|for P", "{0}/100*{1}"),
    ("multiply P by|with|and P", "{0}*{1}"),
    ("multiply L ?together", "{0:*}"),
    ("divide P by P", "{0}/{1}"),
    ("increase|raise P by N %|percent", "{0}*(1+{1}/100)"),
    ("decrease|reduce|lower P by N %|percent", "{0}*(1-{1}/100)"),
)
_SUMS = _formulas(
    ADD, ("?the sum|total of L", "{0:+}"), ("?the difference between|of P and P", "{0:-}"), loose=True
) + _formulas(
    ADD,
    ("add L ?together", "{0:+}"),
    ("add P to P", "{1}+{0}"),
    ("subtract|deduct|take P ?away from P", "{1}-{0}"),
    ("increase P by P", "{0}+{1}"),
    ("decrease|reduce P by P", "{0}-{1}"),
)
_POWERS = _formulas(
    POWER,
    ("square P", "{0}**2"),
    ("cube P", "{0}**3"),
    ("P to the N th|st|nd|rd power", "{0}**{1}"),
    ("raise P to the power ?of P", "{0}**{1}"),
)
_PLACES = (
    ("whole|integer|one|unit ?number", ""), ("ten", ", -1"), ("hundred", ", -2"), ("thousand", ", -3"),
    ("tenth", ", 1"), ("hundredth|cent|penny", ", 2"),
)  # fmt: skip
_ROUNDING = _formulas(
    ATOM,
    ("round up E", "ceil({0:r})"),
    ("round E up", "ceil({0:r})"),
    ("round down E", "floor({0:r})"),
    ("round E down", "floor({0:r})"),
    ("round ?off E to N decimal|decimals|places|digits ?place|places|digits", "round({0:r}, {1})"),
    *((f"round ?off E to the nearest {place}", f"round({{0:r}}{digits})") for place, digits in _PLACES),
    ("round ?off E", "round({0:r})"),
)
_UNCLEAR = [
    Formula(tuple(pattern.split()), template, ATOM, unclear=question)
    for pattern, template, question in (
        ("?the log|logarithm of P", "log10({0:r})", "Which logarithm: natural (ln), or to base 10 (log10)?"),
        ("?the sine|sin|cosine|cos|tangent|tan of P", "sin({0:r})", "Is the angle in degrees or in radians?"),
        ("?a N %|percent discount on|for P", "{0}/100*{1}",
         "Do you want the discount itself ('20% of 50') or the price after it ('20% off 50')?"),
    )
]  # fmt: skip
CONTINUED = _formulas(
    ADD,
    ("add P ?to ?it", "{ref}+{0}"),
    ("plus P", "{ref}+{0}"),
    ("subtract|minus P", "{ref}-{0}"),
    ("take away P", "{ref}-{0}"),
) + _formulas(
    MULTIPLY,
    ("multiply by P", "{ref}*{0}"),
    ("times P", "{ref}*{0}"),
    ("divide by P", "{ref}/{0}"),
    ("divided by P", "{ref}/{0}"),
)
"""Phrases that continue from an earlier result without naming it."""

PHRASES = [*_ROUNDING, *_PARTS, *_SUMS, *_CALLS, *_SIGNS, *_POWERS, *_UNCLEAR]
TAILS = _formulas(
    ATOM,
    ("?, ?rounded to N decimal|decimals|places ?place|places", "round({e}, {0})"),
    ("?, rounded to N digits", "round({e}, {0})"),
    *((f"?, ?rounded to the nearest {place}", f"round({{e}}{digits})") for place, digits in _PLACES),
    ("?, rounded up", "ceil({e})"),
    ("?, rounded down", "floor({e})"),
    ("?, rounded ?off", "round({e})"),
    ("as|in ?a percent|percentage", "({e})*100"),
)
"""Phrases that may follow a whole expression."""
