"""Converts JSON Schemas of any draft to draft 2020-12, keeping only the definitions they use.

The schema for the model and the one for checking arguments are both built from the result, so they cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from react_run.errors import ToolsetError
from react_run.support.display import shown_value
from react_run.tools.schemas.pointers import pointed
from react_run.tools.schemas.words import TYPES, Schema, expect

_ONE = frozenset({
    "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems",
    "unevaluatedProperties",
})  # fmt: skip
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"dependentSchemas", "patternProperties", "properties"})
_NUMBERS = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_COUNTS = frozenset({
    "maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength", "minProperties",
})  # fmt: skip
_PLAIN = frozenset({
    "const", "contentEncoding", "contentMediaType", "default", "dependentRequired", "deprecated", "description", "enum",
    "example", "examples", "format", "readOnly", "title", "uniqueItems", "writeOnly",
})  # fmt: skip
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANNOTATIONS = ("default", "description", "title")


def modernised(schema: Mapping[str, Any]) -> Schema:
    """Convert ``schema`` to a self-contained schema of draft 2020-12.

    Older spellings (``nullable``, a boolean ``exclusiveMinimum``, a list of ``items``, ``dependencies``,
    ``$recursiveRef``) are converted; unknown keywords are left out.

    Raises:
        ToolsetError: It is not a JSON Schema, or refers to something outside itself.
    """
    return _Modern(schema).whole()


class _Modern:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._definitions: dict[str, Schema] = {}
        self._names: dict[str, str] = {}
        self._pending: list[tuple[str, str]] = []

    def whole(self) -> Schema:
        schema = self._node(self._root)
        if isinstance(schema, bool):
            raise ToolsetError(f"{schema!r} is not a schema of an object", code="tool.schema")
        while self._pending:
            reference, name = self._pending.pop()
            found = self._node(self._target(reference))
            self._definitions[name] = found if isinstance(found, dict) else {} if found else {"not": {}}
        return {**schema, "$defs": self._definitions} if self._definitions else schema

    def _node(self, schema: object) -> Schema | bool:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise ToolsetError(f"{shown_value(schema)} is not a schema", code="tool.schema")
        out: Schema = {}
        for key, value in schema.items():
            self._keyword(out, key, value)
        self._bounds(out, schema)
        self._tuple(out, schema)
        return _nullable(out) if schema.get("nullable") is True else out

    def _keyword(self, out: Schema, key: str, value: Any) -> None:
        if key in _REFERENCES and isinstance(value, str):
            out["$ref"] = f"#/$defs/{self._named(value)}"
        elif key in _ONE and not isinstance(value, list):
            out[key] = self._node(value)
        elif key in _MANY:
            expect(value, list, key)
            if value:
                out[key] = [self._node(part) for part in value]
        elif key in _NAMED:
            expect(value, Mapping, key)
            out[key] = {name: self._node(part) for name, part in value.items()}
        elif key == "dependencies" and isinstance(value, Mapping):
            self._dependencies(out, value)
        elif key == "pattern":
            if isinstance(value, str):
                out[key] = value
        elif key == "type":
            _type(out, value)
        elif key == "required":
            if not isinstance(value, bool):  # draft 3 puts it in each property
                expect(value, list, key)
                out[key] = [name for name in value if isinstance(name, str)]
        elif key == "enum":
            expect(value, list, key)
            if value:
                out[key] = value
        elif key in _NUMBERS or key in _COUNTS:
            if not isinstance(value, bool):
                expect(value, (int, float) if key in _NUMBERS else int, key)
                out[key] = value
        elif key in _PLAIN:
            out[key] = value

    def _dependencies(self, out: Schema, value: Mapping[str, Any]) -> None:
        lists = {name: part for name, part in value.items() if isinstance(part, list)}
        schemas = {name: self._node(part) for name, part in value.items() if not isinstance(part, list)}
        if lists:
            out["dependentRequired"] = lists
        if schemas:
            out["dependentSchemas"] = schemas

    def _bounds(self, out: Schema, schema: Mapping[str, Any]) -> None:
        for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if schema.get(exclusive) is True and bound in out:
                out[exclusive] = out.pop(bound)

    def _tuple(self, out: Schema, schema: Mapping[str, Any]) -> None:
        items = schema.get("items")
        if isinstance(items, list):
            if items:
                out["prefixItems"] = [self._node(part) for part in items]
            if "additionalItems" in schema:
                out["items"] = self._node(schema["additionalItems"])

    def _named(self, reference: str) -> str:
        """The name of the definition that a reference points to; the definition itself is built later."""
        if reference not in self._names:
            base = re.sub(r"[^A-Za-z0-9_-]", "_", reference.rpartition("/")[2].lstrip("#")) or "root"
            name, number = base, 1
            while name in self._names.values():
                number += 1
                name = f"{base}_{number}"
            self._names[reference] = name
            self._target(reference)  # a dangling reference is reported when the schema is built
            self._pending.append((reference, name))
        return self._names[reference]

    def _target(self, reference: str) -> object:
        if reference.startswith("#") and len(reference) > 1 and not reference.startswith("#/"):
            for found in _anchored(self._root, reference[1:]):
                return found
        return pointed(reference, self._root)


def _anchored(node: object, name: str) -> Iterator[Mapping[str, Any]]:
    """The schemas with an anchor."""
    if isinstance(node, Mapping):
        if name in (node.get("$anchor"), node.get("$dynamicAnchor")) or node.get("$id") == f"#{name}":
            yield node
        for part in node.values():
            yield from _anchored(part, name)
    elif isinstance(node, list):
        for part in node:
            yield from _anchored(part, name)


def _type(out: Schema, value: object) -> None:
    kinds = value if isinstance(value, list) else [value]
    if "any" in kinds:  # draft 3
        return
    for kind in kinds:
        if not isinstance(kind, str) or kind not in TYPES:
            raise ToolsetError(f"{kind!r} is not a type of JSON Schema", code="tool.schema")
    if kinds:
        out["type"] = value


def _nullable(schema: Schema) -> Schema:
    """Make ``schema`` accept null as well, in the way of OpenAPI 3.0."""
    if not schema.keys() & {"$ref", "allOf", "anyOf", "const", "enum", "oneOf"}:
        if "type" not in schema:
            return schema  # anything, null included
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return {**schema, "type": list(dict.fromkeys([*kinds, "null"]))}
    outside = {key: schema.pop(key) for key in _ANNOTATIONS if key in schema}
    return {"anyOf": [schema, {"type": "null"}], **outside}
