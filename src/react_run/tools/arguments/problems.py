"""Describes problems with arguments so that a model can correct them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from react_run.support.dataclasses import dataclass
from react_run.support.display import Path, dotted, error_text, shown_value
from react_run.tools.arguments.json_types import allowed, alternatives, fits, is_echo, kinds
from react_run.tools.schemas.cleaning import object_schema, resolve

MAX_PROBLEMS = 3
"""How many problems to list at once (A4)."""

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
    "multipleOf": (lambda number, unit: number % unit == 0, "must be a multiple of {}"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One problem: where (keys and indices), what, and whether a value is missing there."""

    path: Path
    text: str
    missing: bool = False


class InvalidArguments(Exception):  # it never leaves the package: a verdict, not a fault
    """The arguments are not valid; ``problems`` says where and why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(len(problems))
        self.problems = problems


def unchecked(error: Exception) -> InvalidArguments:
    """For arguments that could not even be checked."""
    text = f"they could not be checked: {type(error).__name__}: {shown_value(error_text(error), 200)}"
    return InvalidArguments([Problem(path=(), text=text)])


def likeliest(found: Mapping[tuple[Path, str], Sequence[Problem]]) -> list[Problem]:
    """Reduce the problems of each union to those of the member most probably meant.

    Args:
        found: The problems by union (its path) and member; ``""`` for those outside unions.
    """
    best: dict[Path, Sequence[Problem]] = {}
    kept: list[Problem] = []
    for (path, member), problems in found.items():
        if not member:
            kept += problems
        elif path not in best or _distance(problems, path) < _distance(best[path], path):
            best[path] = problems
    return [*kept, *(problem for problems in best.values() for problem in problems)]


def _distance(problems: Sequence[Problem], path: Path) -> tuple[bool, int]:
    """The distance of a value from a union member: another type altogether, or the number of problems in it."""
    return any(problem.path == path for problem in problems), len(problems)


def report(tool: str, problems: Iterable[Problem], schema: Mapping[str, Any], unknown: Sequence[str]) -> str:
    """The result for arguments that could not be repaired: the most useful problems and the way out (A4)."""
    ordered = sorted(problems, key=lambda problem: not problem.missing)
    told = list({problem.path: _sentence(problem) for problem in ordered}.values())
    more = f"; and {len(told) - MAX_PROBLEMS} more" if len(told) > MAX_PROBLEMS else ""
    ignored = (
        f" There is no parameter {', '.join(shown_value(name) for name in unknown[:MAX_PROBLEMS])}." if unknown else ""
    )
    return (
        f"Error: invalid arguments for {tool}: {'; '.join(told[:MAX_PROBLEMS])}{more}.{ignored}"
        f" Parameters: {parameters(schema)}. Correct the arguments and call it again."
    )


def _sentence(problem: Problem) -> str:
    return f"{dotted(problem.path)} {problem.text}" if problem.path else problem.text


def parameters(schema: Mapping[str, Any], limit: int = 12) -> str:
    """A short description of a tool's parameters: ``city (required: a string), days (an integer)``."""
    top = object_schema(schema)
    required, properties = top.get("required", ()), top.get("properties", {})
    listed = [
        f"{name} ({'required: ' if name in required else ''}{expected(resolve(part, schema), schema)})"
        for name, part in list(properties.items())[:limit]
    ]
    return ", ".join([*listed, "…"] if len(properties) > limit else listed) or "none"


def expected(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Describe what ``schema`` accepts."""
    if union := list(alternatives(schema, root)):
        return " or ".join(dict.fromkeys(expected(part, root) for part in union))
    if (listed := allowed(schema)) is not None:
        return f"one of {shown_value(listed, 300)[1:-1]}" if len(listed) > 1 else "".join(map(shown_value, listed))
    return " or ".join(_ARTICLES.get(kind, kind) for kind in kinds(schema, root)) or "any value"


def explain(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Why ``value`` does not match ``schema``, as far as the common keywords tell; else empty."""
    if is_echo(value, schema):
        return f"send a value ({expected(schema, root)}), not a piece of the schema"
    if not fits(value, schema, root):
        return f"must be {expected(schema, root)}, got {shown_value(value)}"
    for keyword, broken in _BOUNDS.items():
        limit = schema.get(keyword)
        if isinstance(limit, int | float) and (measure := _measure(value, keyword)) is not None:
            test, words = broken
            if not test(measure, limit):
                return f"{words.format(limit)}, got {shown_value(value)}"
    return ""


def unmatched(value: object, schema: Mapping[str, Any]) -> str:
    """The message for text that does not match the ``pattern`` of ``schema``."""
    return f"must match the pattern {shown_value(schema.get('pattern'))}, got {shown_value(value)}"


def _measure(value: object, keyword: str) -> float | int | None:
    """The quantity that ``keyword`` limits: the number itself, or the length of the text or list."""
    if keyword.endswith("Length"):
        return len(value) if isinstance(value, str) else None
    if keyword.endswith("Items"):
        return len(value) if isinstance(value, list) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
