"""Checks arguments with jsonschema, for tools with their own JSON Schema (behaviour A7)."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_json

from react_run.support.display import Path, shown_value
from react_run.support.json_schema import JsonSchema
from react_run.support.jsonable import encode
from react_run.support.schema_pattern import unread_patterns
from react_run.tools.arguments.problems import InvalidArguments, Problem, explain, likeliest, unchecked, unmatched
from react_run.tools.arguments.repair import own_copy, repair_properties
from react_run.tools.schemas.cleaning import clean_schema, resolve
from react_run.tools.schemas.modern import modernised
from react_run.tools.schemas.quick import quickly_cleaned
from react_run.tools.schemas.words import Schema

if TYPE_CHECKING:
    import jsonschema


class SchemaChecker:
    """Checks with jsonschema, imported on the first call; the arguments are passed on as keywords.

    Args:
        schema: Returns the schema, on first use.
    """

    fills_defaults = True

    def __init__(self, schema: Callable[[], Mapping[str, Any]]) -> None:
        self.parameters = schema
        self.sent: bytes | None = None
        """The cleaned schema as JSON, if it was cleaned when the tool was made."""

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> SchemaChecker:
        """Check with ``schema`` as it is now, whatever becomes of the object.

        A schema of common keywords is cleaned at once, and kept as bytes: objects would take ten times the memory, and
        most tools of a big catalogue are never called.
        """
        cleaned = quickly_cleaned(schema)
        if cleaned is None or not isinstance(schema, dict):
            return cls(lambda: schema)
        try:
            snapshot = marshal.dumps(schema)
        except ValueError:  # foreign objects
            return cls(lambda: schema)
        checker = cls(partial(marshal.loads, snapshot))
        checker.sent = encode(cleaned)
        return checker

    def cleaned(self) -> Schema:
        """The schema in the form that providers accept.

        Raises:
            ToolsetError: It is not a schema.
        """
        return quickly_cleaned(self.parameters()) or clean_schema(self.schema)

    def unchecked(self) -> Iterator[str]:
        """What arguments are not checked against, once the schema is cleaned: patterns that cannot be read."""
        if "schema" in self.__dict__:  # a schema that is cleaned quickly has no pattern
            for where, pattern, problem in unread_patterns(self.schema):
                text = f"a pattern that only the model is told, no argument is checked against it: {where}, {pattern}"
                yield f"{text} ({problem})"

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema that arguments are checked against, converted to draft 2020-12.

        Raises:
            ToolsetError: It is not a schema.
        """
        return modernised(self.parameters())

    @cached_property
    def names(self) -> frozenset[str] | None:
        """The names of the parameters; ``None`` if any name is allowed."""
        top = resolve(self.schema, self.schema)
        closed = top.get("additionalProperties") is False and "patternProperties" not in top
        return frozenset(top.get("properties", ())) if closed else None

    @cached_property
    def _checked(self) -> JsonSchema:
        return JsonSchema(self.schema, known=True)

    def bind(self, arguments: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """The call for ``arguments``."""
        try:
            to_json(arguments)
            errors = self._checked.errors(arguments)
        except Exception as error:  # a broken schema or pattern, half a surrogate pair: whatever jsonschema raises
            raise unchecked(error) from error
        if errors:
            raise InvalidArguments([problem for error in errors for problem in _problems(error, self.schema)])
        self._refuse_whole_floats(arguments)
        return (), own_copy(arguments)

    def _refuse_whole_floats(self, arguments: dict[str, object]) -> None:
        """In JSON Schema 1.0 is an integer; in Python it is not, so it goes through repair (A2)."""
        if _has_whole_float(arguments):
            tried = own_copy(arguments)
            if repair_properties(tried, self.schema, only=arguments.keys(), fill=False):
                changed = [name for name, value in arguments.items() if repr(tried[name]) != repr(value)]
                raise InvalidArguments([Problem(path=(name,), text="must be an integer") for name in changed])


def _has_whole_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_whole_float, value.values()))
    if isinstance(value, list):
        return any(map(_has_whole_float, value))
    return isinstance(value, float) and value.is_integer()


def _problems(error: jsonschema.ValidationError, root: Mapping[str, Any]) -> Iterator[Problem]:
    path: Path = tuple(error.absolute_path)
    schema, instance = error.schema, cast("Any", error.instance)
    if not isinstance(schema, Mapping):
        yield Problem(path=path, text="is not a parameter")
    elif error.validator == "required":
        for name in schema["required"]:
            if name not in instance:
                yield Problem(path=(*path, name), text="is required", missing=True)
    elif error.validator == "additionalProperties":
        for name in instance:
            if name not in schema.get("properties", ()):
                yield Problem(path=(*path, name), text="is not a parameter")
    elif text := explain(instance, schema, root):
        yield Problem(path=path, text=text)
    elif error.validator == "pattern":
        yield Problem(path=path, text=unmatched(instance, schema))
    elif possible := [inner for inner in error.context or () if inner.schema is not False]:
        members: dict[tuple[Path, str], list[Problem]] = {}
        for inner in possible:
            members.setdefault((path, str(inner.schema_path[0])), []).extend(_problems(inner, root))
        yield from likeliest(members)
    else:
        yield Problem(path=path, text=shown_value(error.message, 200))
