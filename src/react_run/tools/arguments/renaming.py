"""Maps arguments from the parameter names sent to the provider back to their own names (behaviour H4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from react_run.tools.arguments.json_types import alternatives, part_schema
from react_run.tools.naming import is_property_name, property_names
from react_run.tools.schemas.cleaning import object_schema


def renames(schema: object) -> bool:
    """Whether a property of ``schema`` has to be sent under another name."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and not all(map(is_property_name, properties)):
            return True
        return any(map(renames, schema.values()))
    return isinstance(schema, list) and any(map(renames, schema))


def own_names(arguments: dict[str, object], schema: Mapping[str, Any]) -> dict[str, object]:
    """Return ``arguments`` with every parameter under its name in ``schema``."""
    return _renamed(arguments, object_schema(schema), schema)


def _renamed(values: dict[str, object], schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, object]:
    own = {
        sent: name
        for part in (schema, *alternatives(schema, root))
        for name, sent in property_names(part.get("properties", {})).items()
    }
    out: dict[str, object] = {}
    for key, value in values.items():
        name = own.get(key, key)
        out[name] = _within(value, part_schema(schema, name, root), root)
    return out


def _within(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> object:
    if isinstance(value, dict):
        return _renamed(value, schema, root)
    if isinstance(value, list):
        return [_within(item, part_schema(schema, index, root), root) for index, item in enumerate(value)]
    return value
