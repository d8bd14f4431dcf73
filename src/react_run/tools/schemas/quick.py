"""Cleans JSON Schemas that hold only common keywords, in one pass: most do, and a catalogue may hold thousands."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from react_run.tools.naming import is_property_name
from react_run.tools.schemas.words import TYPES, Schema

_MAX_DEPTH = 32
_ONE_KIND: dict[str, type] = {
    "description": str,
    "format": str,
    **dict.fromkeys(("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"), int),
}
_NUMBERS = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_LEFT_OUT = frozenset({
    "$comment", "$defs", "$id", "$schema", "contentEncoding", "contentMediaType", "definitions", "dependentRequired",
    "deprecated", "readOnly", "title", "uniqueItems", "writeOnly",
})  # fmt: skip
"""Keywords that are never sent, and need no conversion for checking arguments."""
_NULL: Schema = {"type": "null"}


class _Unusual(Exception):
    """The schema needs the long way, which may also find a mistake in it."""


def quickly_cleaned(schema: object) -> Schema | None:
    """The same as :func:`~react_run.tools.schemas.cleaning.clean_schema` would return.

    ``None`` if ``schema`` holds anything that this function does not know: references, older spellings, patterns,
    mistakes. A schema that it does clean is one that :func:`~react_run.tools.schemas.modern.modernised` accepts. A
    property test keeps the two in step.
    """
    if type(schema) is not dict or schema.get("type", "object") not in ("object", ["object"]):
        return None
    if "anyOf" in schema or "enum" in schema:  # a union at the top becomes one object
        return None
    try:
        top = _node({**schema, "type": "object"}, 0)
    except _Unusual:
        return None
    top.setdefault("properties", {})
    return top


def _node(node: Any, depth: int) -> Schema:
    if type(node) is not dict or depth > _MAX_DEPTH:
        raise _Unusual
    out: Schema = {}
    for key, value in node.items():
        if key == "type":
            if type(value) is list:
                return _one_of_types(node, value, depth)
            if type(value) is not str or value not in TYPES:
                raise _Unusual
            out[key] = value
        elif (kind := _ONE_KIND.get(key)) is not None:
            if type(value) is not kind:
                raise _Unusual
            out[key] = value
        elif key == "default":
            out[key] = value
        elif key != "required" and key not in _LEFT_OUT:
            out[key] = _parts(key, value, depth + 1)
    if out.get("type") == "array":
        out.setdefault("items", {})
    if "required" in node and (known := _known(node["required"], out.get("properties", ()))):
        out["required"] = known
    return out


def _parts(key: str, value: Any, depth: int) -> object:
    """What is sent for a keyword with parts."""
    if key == "properties" and type(value) is dict:
        if not all(map(_is_common, value)):
            raise _Unusual
        return {name: _node(part, depth) for name, part in value.items()}
    if key == "items" or (key == "additionalProperties" and type(value) is not bool):
        return _node(value, depth)
    if key == "additionalProperties" or (key in _NUMBERS and type(value) in (int, float)):
        return value
    if type(value) is list and ((key == "anyOf" and len(value) > 1) or (key == "enum" and value)):
        return value if key == "enum" else [_node(part, depth) for part in value]
    raise _Unusual


def _one_of_types(node: Schema, kinds: list[object], depth: int) -> Schema:
    """A list of types as a union."""
    if len(kinds) == 1:
        return _node({**node, "type": kinds[0]}, depth + 1)
    inside = node.copy()
    outside: Schema = {key: node[key] for key in ("description", "default") if key in node}
    for key in outside:
        del inside[key]
    if type(outside.get("description", "")) is not str or all(kind == "null" for kind in kinds):
        raise _Unusual
    branches = [_NULL.copy() if kind == "null" else _node({**inside, "type": kind}, depth + 1) for kind in kinds]
    return {"anyOf": branches, **outside}


def _known(required: Any, properties: Any) -> list[str]:
    if type(required) is not list or not all(type(name) is str for name in required):
        raise _Unusual
    return [name for name in required if name in properties]


@lru_cache(maxsize=4096)  # the operations of one API share most names
def _is_common(name: object) -> bool:
    return type(name) is str and is_property_name(name)
