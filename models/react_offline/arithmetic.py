"""Parses arithmetic in digits, symbols and words into an expression for a tool.

``15 percent of 240`` becomes ``15/100*240`` for the tool: nothing is computed here. Text that people can read in two
ways (``the square root of 16 plus 9``) becomes a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from decimal import Decimal, InvalidOperation

from react_offline.formulas import ADD, ATOM, CONTINUED, MULTIPLY, PHRASES, POWER, TAILS, Formula
from react_offline.lexicon import FUNCTION
from react_offline.numbers import number_at
from react_offline.text import Token
from react_offline.units import currency_name, unit_name
from react_run.support import dataclass

REFERENCE = "{ref}"
"""A placeholder in an expression for the value of an earlier part."""

_ADDITIVE = {"+": "+", "-": "-", "plus": "+", "minus": "-"}
_MULTIPLICATIVE = {
    "*": "*", "times": "*", "multiplied by": "*", "multiplied with": "*",
    "/": "/", "divided by": "/", "over": "/", "//": "//", "mod": "%", "modulo": "%", "%": "%",
}  # fmt: skip
_POWERS = {"**", "^", "to the power of", "to the power", "raised to the power of", "raised to"}
_SUPERSCRIPTS = {"²": "**2", "³": "**3", "squared": "**2", "cubed": "**3"}
_CONSTANTS = {"pi": "pi", "π": "pi", "e": "e", "tau": "tau"}
_PERCENT = {"%", "percent", "pct"}
_REFERRING = {"that", "it", "this", "result", "answer"}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression for a tool; ``{ref}`` in ``text`` is an earlier value.

    ``operations`` counts the operations, ``operands`` are those of the outermost operation, ``unclear`` is the
    question to ask if it is ambiguous.
    """

    text: str
    level: int = ATOM
    operations: int = 0
    loose: bool = False
    percent: bool = False
    adjacent: bool = False
    unclear: str = ""
    operator: str = ""
    operands: tuple[Expression, ...] = ()

    @property
    def refers(self) -> bool:
        """Whether it needs an earlier value."""
        return REFERENCE in self.text

    def at(self, level: int) -> str:
        """The text, in brackets if it binds less tightly than ``level``."""
        return self.text if self.level >= level else f"({self.text})"

    def __format__(self, spec: str) -> str:
        return self.text if spec == "r" else self.at(ATOM)


@dataclass(frozen=True, slots=True)
class Operands:
    """A list of operands (``3, 5 and 10``)."""

    items: tuple[Expression, ...]

    def __format__(self, spec: str) -> str:
        level = MULTIPLY if spec == "+" else ATOM
        texts = [item.text if spec == "r" else item.at(level) for item in self.items]
        return (", " if spec == "r" else spec).join(texts)


Read = tuple[Expression, int]


def expression_at(tokens: Sequence[Token], index: int, *, continued: bool = False) -> Read | None:
    """The longest expression that starts at ``index``, and the index after it; ``None`` if it has no operation.

    Args:
        tokens: The tokens of the question.
        index: The start.
        continued: Whether there is an earlier result to continue from (``then divide by 6``).
    """
    reader = _Reader(tokens)
    read = reader.whole(index) or (reader.continued(index) if continued else None)
    return read if read and read[0].operations else None


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[Token]
    _seen: dict[int, Read | None] = field(default_factory=dict)

    def whole(self, index: int) -> Read | None:
        read = self.sum(index)
        return self._tail(*read) if read else None

    def continued(self, index: int) -> Read | None:
        token = self._token(index)
        if token and token.low in ("round", "rounded"):
            return self._tail(Expression(REFERENCE), index + 1)
        for formula in CONTINUED:
            if read := self._phrase(formula, index):
                return self._tail(*self._chain(read))
        return None

    def _chain(self, read: Read) -> Read:
        return self._sums(*self._products(*read))

    def _tail(self, read: Expression, index: int) -> Read:
        for formula in TAILS:
            matched = self._match(formula.pattern, index)
            if matched:
                first = format(matched[0][0], "r") if matched[0] else ""
                text = formula.template.replace("{e}", read.text).replace("{0}", first)
                unclear = read.unclear or _of_what(read, formula)
                return Expression(text, ATOM, read.operations + 1, unclear=unclear), matched[1]
        return read, index

    # the ladder: sums of products of powers of operands

    def sum(self, index: int) -> Read | None:
        read = self.product(index)
        return self._sums(*read) if read else None

    def _sums(self, left: Expression, index: int) -> Read:
        while True:
            operator, after = self._operator(index, _ADDITIVE)
            right = self.product(after) if operator else None
            if not right:
                return left, index
            left, index = self._binary(left, _ADDITIVE[operator], right[0], ADD), right[1]

    def product(self, index: int) -> Read | None:
        read = self.power(index)
        return self._products(*read) if read else None

    def _products(self, left: Expression, index: int) -> Read:
        while True:
            operator, after = self._operator(index, _MULTIPLICATIVE)
            if not operator and self._is_share(left, index):
                operator, after = "times", index + 1
            right = self.power(after) if operator else None
            if not right:
                return left, index
            product = self._binary(left, _MULTIPLICATIVE[operator], right[0], MULTIPLY)
            if self.tokens[index].low == "," and not product.unclear:
                product = replace(product, unclear=f"Where do the brackets go before '{operator} {right[0].text}'?")
            left, index = product, right[1]

    def _is_share(self, left: Expression, index: int) -> bool:
        """``3/4 of 80``"""
        token = self._token(index)
        parts = [operand.text.isdigit() for operand in left.operands]
        return token is not None and token.low == "of" and left.operator == "/" and parts == [True, True]

    def _binary(self, left: Expression, operator: str, right: Expression, level: int) -> Expression:
        unclear = left.unclear or right.unclear
        if left.loose and not _same_either_way(left, operator):
            unclear = (
                unclear or f"Where do the brackets go: does '{operator} {right.text}' belong inside '{left.text}'?"
            )
        if right.percent and level == ADD:
            unclear = unclear or f"Is '{right.text}' a share of what stands before it, or a plain fraction?"
        if right.adjacent and operator == "/":
            unclear = unclear or f"Where do the brackets go in '{left.text}{operator}{right.text}'?"
        text = f"{left.at(level)}{_spaced(operator, level)}{right.at(level + 1)}"
        return Expression(
            text,
            level,
            left.operations + right.operations + 1,
            loose=right.loose,
            unclear=unclear,
            operator=operator,
            operands=(left, right),
        )

    def power(self, index: int) -> Read | None:
        token = self._token(index)
        if token and token.low in ("-", "+", "minus", "negative"):
            read = self.power(index + 1)
            sign = "" if token.low == "+" else "-"
            return read and (replace(read[0], text=f"{sign}{read[0].at(POWER)}", level=POWER - 1), read[1])
        read = self.operand(index)
        if not read:
            return None
        base, index = self._postfix(*read)
        operator, after = self._operator(index, _POWERS)
        exponent = self.power(after) if operator else None
        if not exponent:
            return base, index
        return self._binary_power(base, exponent[0]), exponent[1]

    def _binary_power(self, base: Expression, exponent: Expression) -> Expression:
        text = f"{base.at(ATOM)}**{exponent.at(ATOM)}"
        operations = base.operations + exponent.operations + 1
        unclear = base.unclear or exponent.unclear
        return Expression(
            text, POWER, operations, exponent.loose, unclear=unclear, operator="**", operands=(base, exponent)
        )

    def _postfix(self, read: Expression, index: int) -> Read:
        while token := self._token(index):
            if token.low in _SUPERSCRIPTS:
                text, level = f"{read.at(ATOM)}{_SUPERSCRIPTS[token.low]}", POWER
            elif token.low == "!" and (not token.spaced or self._token(index + 1)):
                text, level = f"{read.at(ATOM)}!", ATOM
            elif token.low == "factorial":
                text, level = f"factorial({read.text})", ATOM
            elif token.low in _PERCENT and not self._is_modulo(index):
                return Expression(f"({read.text}/100)", ATOM, read.operations, percent=True), index + 1
            else:
                break
            read, index = Expression(text, level, read.operations + 1, unclear=read.unclear), index + 1
        return self._adjacent(read, index)

    def _adjacent(self, read: Expression, index: int) -> Read:
        """``2pi`` and ``2(3)`` are products."""
        token = self._token(index)
        if not token or not ((token.low == "(" and not token.spaced) or token.low in ("pi", "π")):
            return read, index
        factor = self.operand(index)
        if not factor or read.loose:
            return read, index
        product = self._binary(read, "*", factor[0], MULTIPLY)
        return replace(product, adjacent=True), factor[1]

    def _is_modulo(self, index: int) -> bool:
        """``7 % 3`` and ``7%3`` are remainders; in ``7% 3`` the sign belongs to the seven."""
        following = self._token(index + 1)
        even = following is not None and following.spaced == self.tokens[index].spaced
        return self.tokens[index].low == "%" and even and self.operand(index + 1) is not None

    # operands

    def operand(self, index: int) -> Read | None:
        if index not in self._seen:
            self._seen[index] = None  # prevents recursion in phrases that begin with an operand
            self._seen[index] = self._operand(index)
        return self._seen[index]

    def _operand(self, index: int) -> Read | None:
        token = self._token(index)
        if token is None or token.kind not in ("number", "word", "op", "money"):
            return None
        plain = self._plain(token, index)
        return self._phrases(index, plain) or plain

    def _phrases(self, index: int, plain: Read | None) -> Read | None:
        word = self.tokens[index].low
        for formula, words, operand_first in _CANDIDATES:
            if (word in words or (operand_first and plain)) and (read := self._phrase(formula, index, plain)):
                return read
        return None

    def _plain(self, token: Token, index: int) -> Read | None:
        if token.kind == "money":
            index += 1
        if number := number_at(self.tokens, index):
            return Expression(number[0]), number[1]
        if token.low == "(":
            inside = self.whole(index + 1)
            closed = inside and self._token(inside[1])
            if inside and closed and closed.low == ")":
                return replace(inside[0], text=f"({inside[0].text})", level=ATOM, loose=False), inside[1] + 1
            return None
        return self._named(token, index) if token.kind == "word" else None

    def _named(self, token: Token, index: int) -> Read | None:
        following = self._token(index + 1)
        if following and following.low == "(" and not following.spaced:
            return self._call(token.text, index + 2)
        if token.low in _CONSTANTS:
            return Expression(_CONSTANTS[token.low]), index + 1
        if token.low == "the" and following and following.low in ("result", "answer"):
            return Expression(REFERENCE), index + 2
        return (Expression(REFERENCE), index + 1) if token.low in _REFERRING else None

    def _call(self, name: str, index: int) -> Read | None:
        items: list[Expression] = []
        while read := self.whole(index):
            items.append(read[0])
            end = self._token(read[1])
            if end and end.low == ")":
                text = f"{name}({', '.join(item.text for item in items)})"
                return Expression(text, ATOM, 1 + sum(item.operations for item in items)), read[1] + 1
            if not end or end.low != ",":
                return None
            index = read[1] + 1
        return None

    # phrases

    def _phrase(self, formula: Formula, index: int, first: Read | None = None) -> Read | None:
        matched = self._match(formula.pattern, index, first)
        if not matched:
            return None
        operands, end = matched
        expressions = [item for operand in operands for item in _items(operand)]
        unclear = formula.unclear or next((item.unclear for item in expressions if item.unclear), "")
        percent = any(item.percent for item in expressions)
        if percent and formula.level == ADD:
            unclear = unclear or "Is the percentage a share of the other value, or a plain fraction?"
        text = _filled(formula.template, operands)
        operations = 1 + sum(item.operations for item in expressions)
        return (
            Expression(
                text,
                formula.level,
                operations,
                formula.loose,
                percent and formula.level == MULTIPLY,
                unclear=unclear,
                operator=_operator_of(formula),
                operands=tuple(_in_order(formula, expressions)),
            ),
            end,
        )

    def _match(
        self, pattern: tuple[str, ...], index: int, first: Read | None = None
    ) -> tuple[list[Expression | Operands], int] | None:
        operands: list[Expression | Operands] = []
        for position, element in enumerate(pattern):
            if element in _OPERANDS:
                given = first if position == 0 and element == "P" else None
                read = given or _OPERANDS[element](self, index)
                if not read:
                    return None
                operands.append(read[0])
                index = read[1]
                continue
            token = self._token(index)
            if token and (token.low in element.removeprefix("?").split("|") or (element == "*" and _is_thing(token))):
                index += 1
            elif not element.startswith("?"):
                return None
        return operands, index

    def _numeral(self, index: int) -> Read | None:
        number = number_at(self.tokens, index)
        return number and (Expression(number[0]), number[1])

    def _list(self, index: int) -> tuple[Operands, int] | None:
        items: list[Expression] = []
        while read := self.power(index):
            items.append(read[0])
            index = read[1]
            after = index
            while (token := self._token(after)) and token.low in (",", "and", "&"):
                after += 1
            if after == index:
                break
            index, restore = after, index
            if not self.power(index):
                index = restore
                break
        return (Operands(tuple(items)), index) if len(items) > 1 else None

    def _token(self, index: int) -> Token | None:
        return self.tokens[index] if index < len(self.tokens) else None

    def _operator(self, index: int, operators: dict[str, str] | set[str]) -> tuple[str, int]:
        """The operator at ``index``, of up to five words, and the index after it."""
        token = self._token(index)
        if (
            token
            and token.low == ","
            and (following := self._token(index + 1))
            and following.low in ("plus", "minus", "times")
        ):
            index += 1
        for length in (5, 4, 3, 2, 1):
            text = " ".join(token.low for token in self.tokens[index : index + length])
            if text in operators:
                return text, index + length
        return "", index


def _is_thing(token: Token) -> bool:
    """Whether a word names something with a price; not a unit or a currency."""
    known = token.low in FUNCTION or unit_name(token.low) or currency_name(token.low)
    return token.kind == "word" and not known


def _same_either_way(left: Expression, operator: str) -> bool:
    """``half of 10 times 3`` is the same in either order."""
    return left.level == MULTIPLY and operator in ("*", "/") and "%" not in left.text


def _of_what(read: Expression, tail: Formula) -> str:
    """``15% of 80 as a percentage``: a share of what?"""
    if "percent" not in tail.pattern[-1] or "/100" not in read.text:
        return ""
    return f"Of what shall '{read.text}' be a percentage?"


def _items(operand: Expression | Operands) -> tuple[Expression, ...]:
    return operand.items if isinstance(operand, Operands) else (operand,)


def _filled(template: str, operands: list[Expression | Operands]) -> str:
    if template == "{0:-}":
        first, second = (item for operand in operands for item in _items(operand))
        return "-".join(item.at(MULTIPLY) for item in _larger_first(first, second))
    return template.replace(REFERENCE, "\0").format(*operands).replace("\0", REFERENCE)


def _larger_first(first: Expression, second: Expression) -> tuple[Expression, Expression]:
    """The difference *between* two numbers has no sign."""
    try:
        return (second, first) if Decimal(second.text) > Decimal(first.text) else (first, second)
    except InvalidOperation:
        return first, second


_OF_TWO = re.compile(r"\{0:([-+*])\}|\{[01]\}([-+/%]|\*\*?)\{[01]\}")
"""A formula with one operation."""


def _operator_of(formula: Formula) -> str:
    binary = _OF_TWO.fullmatch(formula.template)
    return binary[1] or binary[2] if binary else ""


def _in_order(formula: Formula, expressions: list[Expression]) -> Iterator[Expression]:
    if formula.template == "{0:-}":
        return iter(_larger_first(*expressions))
    return iter(expressions[::-1] if formula.template.startswith("{1}") else expressions)


def _spaced(operator: str, level: int) -> str:
    return f" {operator} " if level == ADD else operator


def _beginning(pattern: tuple[str, ...]) -> tuple[frozenset[str], bool]:
    """The words that a phrase can begin with, and whether it can begin with an operand."""
    words: set[str] = set()
    for element in pattern:
        if element in _OPERANDS:
            return frozenset(words), True
        words.update(element.removeprefix("?").split("|"))
        if not element.startswith("?"):
            break
    return frozenset(words), False


_OPERANDS = {"N": _Reader._numeral, "P": _Reader.power, "E": _Reader.sum, "L": _Reader._list}
_CANDIDATES = [(formula, *_beginning(formula.pattern)) for formula in PHRASES]
