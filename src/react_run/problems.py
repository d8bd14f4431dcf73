"""What is wrong with arguments, told so that a model can correct it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_run.json_types import allowed, alternatives, fits, is_echo, kinds
from react_run.schema import resolve
from react_run.text import dotted, shown

MAX_PROBLEMS = 3
"""How many problems a model is told at once (A4)."""

_ARTICLES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

_BOUNDS: Mapping[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (operator.ge, "must be at least {}"),
    "maximum": (operator.le, "must be at most {}"),
    "exclusiveMinimum": (operator.gt, "must be more than {}"),
    "exclusiveMaximum": (operator.lt, "must be less than {}"),
    "minLength": (operator.ge, "must have at least {} characters"),
    "maxLength": (operator.le, "must have at most {} characters"),
    "minItems": (operator.ge, "must have at least {} items"),
    "maxItems": (operator.le, "must have at most {} items"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing that is wrong: where (keys and indices), what, and whether something is missing there."""

    path: tuple[str | int, ...]
    text: str
    missing: bool = False


class InvalidArguments(Exception):  # it never leaves the package: a verdict, not a fault
    """Arguments do not fit; ``problems`` says where and why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(len(problems))
        self.problems = problems


def report(tool: str, problems: Iterable[Problem], schema: Mapping[str, Any], unknown: Sequence[str]) -> str:
    """The text result for arguments that could not be repaired (A4)."""
    first = {problem.path: problem for problem in sorted(problems, key=lambda problem: not problem.missing)}
    told = [f"{dotted(problem.path)}: {problem.text}" if problem.path else problem.text for problem in first.values()]
    more = f"; and {len(told) - MAX_PROBLEMS} more" if len(told) > MAX_PROBLEMS else ""
    ignored = f" There is no parameter {', '.join(map(shown, unknown[:3]))}." if unknown else ""
    return (
        f"Error: invalid arguments for {tool}: {'; '.join(told[:MAX_PROBLEMS])}{more}.{ignored}"
        f" Parameters: {parameters(schema)}. Correct the arguments and call it again."
    )


def parameters(schema: Mapping[str, Any], limit: int = 12) -> str:
    """The parameters of a tool in a few words: ``city (a string, required), days (an integer)``."""
    required = schema.get("required", ())
    listed = [
        f"{name} ({expected(resolve(part, schema), schema)}{', required' if name in required else ''})"
        for name, part in list(schema.get("properties", {}).items())[:limit]
    ]
    return ", ".join(listed) or "none"


def expected(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """What ``schema`` wants, in words."""
    if union := list(alternatives(schema, root)):
        return " or ".join(dict.fromkeys(expected(part, root) for part in union))
    if (listed := allowed(schema)) is not None:
        return f"one of {shown(listed, 300)[1:-1]}" if len(listed) > 1 else "".join(map(shown, listed))
    return " or ".join(_ARTICLES.get(kind, kind) for kind in kinds(schema, root)) or "any value"


def explain(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Why ``value`` does not fit ``schema``, as far as the common keywords tell; else nothing."""
    if is_echo(value, schema):
        return f"send a value ({expected(schema, root)}), not a piece of the schema"
    if not fits(value, schema, root):
        return f"must be {expected(schema, root)}, got {shown(value)}"
    for keyword, broken in _BOUNDS.items():
        limit = schema.get(keyword)
        if isinstance(limit, int | float) and (measure := _measure(value, keyword)) is not None:
            test, words = broken
            if not test(measure, limit):
                return f"{words.format(limit)}, got {shown(value)}"
    return ""


def _measure(value: object, keyword: str) -> float | int | None:
    """What the bound ``keyword`` is about: the number itself, or how long the text or list is."""
    if keyword.endswith("Length"):
        return len(value) if isinstance(value, str) else None
    if keyword.endswith("Items"):
        return len(value) if isinstance(value, list) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
