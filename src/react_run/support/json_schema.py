"""Validation with foreign JSON Schemas: nothing is fetched, and validation always ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from react_run.support.display import dotted
from react_run.support.regex import SlowPattern
from react_run.support.schema_pattern import pattern_problem, schema_pattern, unread_patterns

if TYPE_CHECKING:
    from jsonschema import SchemaError, ValidationError
    from jsonschema.protocols import Validator

SECONDS = 5.0
"""Time limit for checking one value, in seconds."""
_end: ContextVar[float] = ContextVar("_end", default=0.0)
Keyword = Callable[[Any, Any, Any, Mapping[str, Any]], "Iterator[ValidationError] | None"]


def schema_problem(schema: Mapping[str, Any]) -> str:
    """Why ``schema`` is not a JSON Schema of its declared draft, or of the latest; empty if it is one.

    A pattern that nothing can be checked against is a problem as well.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        _check_schema(validator_for(schema, default=Draft202012Validator), schema)
    except SchemaError as error:
        where = place_of(error)
        return f"{where}: {error.message}" if where else error.message
    for where, pattern, problem in unread_patterns(schema):
        return f"{where}: the pattern {pattern!r} cannot be read: {problem}"
    return ""


def place_of(error: ValidationError | SchemaError) -> str:
    """The location of an error in a value, such as ``items[0].name``; empty for the value itself."""
    return dotted(tuple(error.absolute_path))


class JsonSchema:
    """A JSON Schema of its declared draft, else of the latest.

    Args:
        schema: The schema.
        known: Whether the schema is known to be valid: checking a large one takes seconds.
    """

    def __init__(self, schema: Mapping[str, Any], *, known: bool = False) -> None:
        self.schema = schema
        self._known = known

    def errors(self, value: Any) -> list[ValidationError]:
        """The errors of ``value``; empty if it satisfies the schema.

        Raises:
            jsonschema.SchemaError: The schema is not one.
            SlowPattern: Validation takes too long, because of a backtracking pattern or references that double at each
                level.
        """
        token = _end.set(time.monotonic() + SECONDS)
        try:
            return list(self._validator.iter_errors(value))
        finally:
            _end.reset(token)

    @cached_property
    def _validator(self) -> Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend, validator_for
        from referencing import Registry

        schema = dict(self.schema)
        kind = validator_for(schema, default=Draft202012Validator)
        if not self._known:
            _check_schema(kind, schema)
        own: dict[str, Keyword] = {
            "pattern": _pattern_of_text,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            **{name: _timed(kind.VALIDATORS[name]) for name in ("$ref", "$dynamicRef") if name in kind.VALIDATORS},
        }
        # With an empty registry nothing is fetched: jsonschema's own would follow a foreign $ref over the network.
        made: Validator = cast("Any", extend)(kind, own)(schema, registry=Registry())
        return made


def _check_schema(kind: type[Validator], schema: Mapping[str, Any]) -> None:
    from jsonschema import FormatChecker

    cast("Any", kind).check_schema(dict(schema), format_checker=FormatChecker(()))  # its "regex" is Python's


def _timed(check: Keyword) -> Keyword:
    def timed(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
        if time.monotonic() > _end.get():
            raise SlowPattern(f"validation takes more than {SECONDS:g} s: the references of the schema multiply")
        yield from check(validator, value, instance, schema) or ()

    return timed


def _pattern_of_text(
    validator: Any, pattern: str, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not pattern_problem(pattern) and not schema_pattern(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, inner in patterns.items():
            for name, value in instance.items():
                if not pattern_problem(pattern) and schema_pattern(pattern).search(name):
                    yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, inner: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if not isinstance(instance, dict):
        return
    texts = schema.get("patternProperties", ())
    if any(map(pattern_problem, texts)):
        return  # which names it allows is not known
    patterns = [schema_pattern(text) for text in texts]
    known = schema.get("properties", {})
    extras = [name for name in instance if name not in known and not any(it.search(name) for it in patterns)]
    if isinstance(inner, dict):
        for name in extras:
            yield from validator.descend(instance[name], inner, path=name)
    elif not inner and extras:
        listed = ", ".join(repr(name) for name in sorted(extras, key=str))
        yield ValidationError(f"Additional properties are not allowed: {listed}")
