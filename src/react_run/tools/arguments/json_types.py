"""The JSON types of values, and the types that schemas accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from react_run.support.display import Path
from react_run.tools.schemas.cleaning import resolve
from react_run.tools.schemas.words import Schema

_KINDS: Mapping[type, str] = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    type(None): "null",
}
_ECHO_WORDS = frozenset({
    "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "examples", "format", "items",
    "maximum", "maxItems", "maxLength", "minimum", "minItems", "minLength", "oneOf", "pattern", "properties",
    "required", "title", "type",
})  # fmt: skip
_TELLING_WORDS = frozenset({"$ref", "anyOf", "const", "enum", "oneOf"})


def kind_of(value: object) -> str:
    """The JSON type of ``value``; a float is a number even if it is whole, a bool never is."""
    return _KINDS.get(type(value), "object")


def branches(schema: Mapping[str, Any]) -> list[Any]:
    """The alternatives of a union, or nothing."""
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


def kinds(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """The types in a schema, alternatives included, in order; empty if it accepts any."""
    named = schema.get("type", ())
    found = [named] if isinstance(named, str) else list(named)
    if schema.get("nullable") is True:
        found.append("null")
    if not found:
        found = [kind_of(value) for value in allowed(schema) or ()]
    for part in alternatives(schema, root):
        found += kinds(part, root)
    return list(dict.fromkeys(found))


def alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Schema]:
    """The alternatives of a union, references followed."""
    for part in branches(schema):
        yield resolve(part, root)


def allowed(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values of an ``enum`` or ``const``; ``None`` if there is neither."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def fits(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """Whether ``schema`` accepts the type of ``value``, and ``value`` itself if it lists values; parts are not
    checked.
    """
    if union := list(alternatives(schema, root)):
        return any(fits(value, part, root) for part in union)
    wanted = kinds(schema, root)
    kind = kind_of(value)
    if wanted and kind not in wanted and not (kind == "integer" and "number" in wanted):
        return False
    listed = allowed(schema)
    return listed is None or any(kind_of(choice) == kind and choice == value for choice in listed)


def lists_truth(node: object) -> bool:
    """Whether a schema lists 0 or 1, or true or false, which Python considers equal."""
    if isinstance(node, Mapping):
        values = [*(node.get("enum") or ()), node.get("const")]
        return any(isinstance(value, int | float) and value in (0, 1) for value in values) or any(
            map(lists_truth, node.values())
        )
    return isinstance(node, list) and any(map(lists_truth, node))


def confused(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Whether ``value`` is true where 1 is listed, or 1 where true is listed (A2)."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from confused(part, part_schema(schema, key, root), root, (*path, key))
    elif isinstance(value, int | float) and not fits(value, schema, root):
        listed = [choice for part in (schema, *alternatives(schema, root)) for choice in allowed(part) or ()]
        if any(choice == value and isinstance(choice, bool) != isinstance(value, bool) for choice in listed):
            yield path


def part_schema(schema: Mapping[str, Any], key: str | int, root: Mapping[str, Any]) -> Schema:
    """The schema for ``key`` in a value of ``schema``; ``{}`` if there is none."""
    if isinstance(key, int):
        first = schema.get("prefixItems", ())
        found = first[key] if key < len(first) else schema.get("items")
    else:
        found = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
    if found is None:
        for part in alternatives(schema, root):
            if inner := part_schema(part, key, root):
                return inner
    return resolve(found, root)


def is_echo(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether ``value`` is a piece of the schema, sent instead of a value (A1)."""
    if not isinstance(value, dict) or "type" in schema.get("properties", ()) or not value.keys() <= _ECHO_WORDS:
        return False
    named = value.get("type")
    if named is None:
        return bool(value.keys() & _TELLING_WORDS)
    return all(name in _KINDS.values() for name in (named if isinstance(named, list) else [named]))
