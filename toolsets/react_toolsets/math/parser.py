"""Parses tokens into a program, together with a normalised spelling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from react_run.support import dataclass
from react_toolsets.answers import Refusal
from react_toolsets.math import complaints
from react_toolsets.math.arithmetic import MAX_DIGITS, too_large, too_small
from react_toolsets.math.functions import CONSTANTS, FUNCTIONS
from react_toolsets.math.lexer import Token, tokenise
from react_toolsets.math.thousands import join_thousands

MAX_LENGTH = 500
MAX_NESTING = 64
_ARITIES = {name: (function.fewest, function.most) for name, function in FUNCTIONS.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """Replaces the top ``arguments`` values on the stack with the result of the operation ``name``."""

    name: str
    arguments: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """An expression in postfix order, and its normalised spelling."""

    steps: Sequence[Fraction | Operation]
    text: str


def parse(text: str) -> Program:
    """Parse an expression without evaluating it.

    Raises:
        Refusal: The expression is invalid; the code says why.
    """
    if not text.strip() or len(text) > MAX_LENGTH:
        raise Refusal("invalid_arguments", f"expression must have 1 to {MAX_LENGTH} characters, such as 15*23.")
    return _Parser(join_thousands(tokenise(text), _ARITIES)).program()


class _Parser:
    """A recursive-descent parser: each method parses one rule of the grammar and adds its steps to the program."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._steps: list[Fraction | Operation] = []
        self._text: list[str] = []
        self._problems: list[Refusal] = []

    def program(self) -> Program:
        """Parse the whole text. Unknown names are reported only if the syntax is correct."""
        self._sum()
        if self._next.kind != "end":
            raise complaints.stray_sign(self._next.text)
        if self._problems:
            raise self._problems[0]
        return Program(steps=self._steps, text="".join(self._text))

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _take_sign(self) -> str:
        sign = self._take().text
        self._text.append(sign)
        return sign

    def _do(self, name: str, arguments: int) -> None:
        self._steps.append(Operation(name=name, arguments=arguments))

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_NESTING + 1:
            raise complaints.invalid(f"It is nested more than {MAX_NESTING} deep. Split the expression.")
        yield
        self._depth -= 1

    def _sum(self) -> None:
        self._product()
        while self._next.text in ("+", "-"):
            sign = self._take_sign()
            self._product()
            self._do(sign, 2)

    def _product(self) -> None:
        self._signed()
        while True:
            if self._next.text in ("*", "/", "//", "%"):
                sign = self._take_sign()
                if sign == "%":
                    self._check_remainder()
                self._signed()
            elif self._next.text in ("(", "√") or self._next.kind == "name":
                sign = "*"
                self._text.append(sign)
                self._power()
            else:
                return
            self._do(sign, 2)

    def _check_remainder(self) -> None:
        after = self._tokens[self._at + 1 : self._at + 2]
        negative = self._next.text == "-" and all(token.glued for token in after)
        operand = self._next.kind in ("number", "name") or self._next.text in ("(", "√")
        if self._next.text == "of" or not (operand or negative):
            raise complaints.no_percent()

    def _signed(self) -> None:
        with self._nested():
            if self._next.text not in ("+", "-"):
                self._power()
            elif self._take_sign() == "-":
                self._signed()
                self._do("negate", 1)
            else:
                self._signed()

    def _power(self) -> None:
        self._postfix()
        if self._next.text == "**":
            self._take_sign()
            self._signed()
            self._do("**", 2)

    def _postfix(self) -> None:
        self._primary()
        if self._next.kind == "power":
            self._superscript(self._take().text)
        elif self._next.text == "!":
            self._take_sign()
            self._do("factorial", 1)
            if self._next.text == "!":
                raise complaints.unsupported("!! can be read in two ways", "write (3!)! with parentheses")

    def _superscript(self, exponent: str) -> None:
        if self._next.kind == "power" or self._next.text in ("!", "**"):
            raise complaints.unsupported(f"{self._next.text} after a superscript", "use parentheses, as in (2**3)**2")
        if not exponent.lstrip("+-").isdigit():
            raise complaints.unsupported(f"the superscript {exponent} is not a number", "write the exponent after **")
        self._text.append(f"**{exponent}")
        self._steps.append(Fraction(int(exponent)))
        self._do("**", 2)

    def _primary(self) -> None:
        token = self._take()
        if token.kind == "number":
            self._text.append(token.text.replace("_", ""))
            self._steps.append(_literal(token.text))
            if self._next.kind == "number":
                raise complaints.numbers_side_by_side(token.text, self._next.text)
        elif token.kind == "name":
            self._name(token.text)
        elif token.text == "√":
            self._root()
        elif token.text == "(":
            self._text.append("(")
            self._sum()
            self._close()
        else:
            raise complaints.number_missing(token.text)

    def _root(self) -> None:
        self._text.append("sqrt(")
        with self._nested():
            self._postfix()
        self._text.append(")")
        self._do("sqrt", 1)

    def _close(self) -> None:
        if self._next.text != ")":
            raise complaints.number_missing("") if self._next.kind == "end" else complaints.stray_sign(self._next.text)
        self._take_sign()
        if self._next.kind == "number":
            raise complaints.unsupported(f"{self._next.text} follows a ) without an operator", "write )* to multiply")

    def _name(self, written: str) -> None:
        name = written.lower()
        if self._next.kind == "number":
            usage = FUNCTIONS[name].usage if name in FUNCTIONS else ""
            raise complaints.word_before_number(written, self._next.text, usage)
        if self._next.text == "(" and name not in CONSTANTS:
            self._call(written)
            return
        if name in FUNCTIONS:
            self._problems.append(complaints.unsupported(f"{name} is a function", f"write {FUNCTIONS[name].usage}"))
        elif name not in CONSTANTS:
            self._problems.append(complaints.unknown_identifier(written, CONSTANTS))
        self._text.append(name)
        self._do(name, 0)

    def _call(self, written: str) -> None:
        name = written.lower()
        self._take()
        self._text.append(f"{name}(")
        count = 0
        while self._next.text != ")" or count:
            self._sum()
            count += 1
            if self._next.text != ",":
                break
            self._take()
            self._text.append(", ")
        self._close()
        self._check_call(written, count)
        self._do(name, count)

    def _check_call(self, written: str, count: int) -> None:
        function = FUNCTIONS.get(written.lower())
        if function is None:
            self._problems.append(complaints.unknown_function(written, FUNCTIONS))
        elif not function.fewest <= count <= function.most:
            message = f"{written.lower()} takes {function.arity}, not {count}: {function.usage}."
            self._problems.append(Refusal("invalid_argument_count", message))


def _literal(text: str) -> Fraction:
    if text[:2].lower() in ("0x", "0b", "0o"):
        return Fraction(int(text, 0))
    text = text.replace("_", "").lower()
    exponent = text.partition("e")[2]
    if len(exponent) > len(str(MAX_DIGITS)) + 1 or abs(int(exponent or 0)) > 2 * MAX_DIGITS:
        raise too_small() if exponent.startswith("-") else too_large()
    return Fraction(text)
