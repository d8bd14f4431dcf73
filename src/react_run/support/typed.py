"""Converts Python classes to JSON Schemas, and values to their instances."""

from __future__ import annotations

from typing import Any

MOST = 3
"""How many problems to list at once."""


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a pydantic model, a dataclass, a TypedDict, or any other type that pydantic supports.

    Raises:
        TypeError: pydantic does not support it.
    """
    from pydantic import PydanticUserError, TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema

    name = getattr(kind, "__name__", type(kind).__name__)
    if not isinstance(kind, type) and not hasattr(kind, "__origin__"):
        raise TypeError(f"must be a mapping, or a class such as a pydantic model or a dataclass, not {name}")
    try:
        return TypeAdapter(kind).json_schema()
    except PydanticInvalidForJsonSchema as error:
        raise TypeError(f"{name} has no JSON Schema: {error.message}") from None
    except (PydanticUserError, TypeError) as error:
        first = str(error).partition("\n")[0]
        raise TypeError(f"{name} is not a class that pydantic can validate: {first}") from None


def instance_of(kind: Any, value: object) -> object:
    """Convert ``value``, parsed from JSON, to an instance of ``kind``.

    Raises:
        ValueError: It does not match; the message has a line for each problem.
    """
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import to_json

    try:
        return TypeAdapter(kind).validate_json(to_json(value))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        lines = [f"- {'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in problems[:MOST]]
        more = [f"- and {len(problems) - MOST} more"] if len(problems) > MOST else []
        raise ValueError("\n".join([*lines, *more])) from None
