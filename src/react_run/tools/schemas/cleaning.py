"""Cleans JSON Schemas of tools: resolves references, and removes what providers refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from react_run.errors import ToolsetError
from react_run.tools.naming import property_names
from react_run.tools.schemas.pointers import pointed
from react_run.tools.schemas.quick import quickly_cleaned
from react_run.tools.schemas.words import Schema, expect, finished, is_kept, merge, modern

MAX_NODES = 4_000
"""Above this many nodes inlining stops, and the remaining ``$ref`` point to definitions."""

_ONE_SCHEMA = frozenset({"additionalProperties", "items"})
_UNIONS = ("anyOf", "oneOf")
_NOT_AT_TOP = frozenset({"anyOf", "const", "enum", "nullable", "oneOf"})
_MAX_MERGES = 32
_MAX_PARTS = 1_000


def clean_schema(schema: Mapping[str, Any]) -> Schema:
    """Convert ``schema`` to a form that every provider accepts for tool parameters (behaviour H4).

    The schema sent may be weaker than the one checked: arguments are still checked against dropped constraints.

    Raises:
        ToolsetError: It is not a JSON Schema of an object, or a ``$ref`` leads out of it.
    """
    return quickly_cleaned(schema) or _Cleaner(schema).clean()


def resolve(schema: Any, root: Mapping[str, Any]) -> Schema:
    """Resolve ``$ref`` and ``allOf`` of ``schema`` within ``root``, merging the keywords next to them.

    Returns ``{}`` for true and false.
    """
    return _merged(_followed(schema, root), root)


def object_schema(schema: Mapping[str, Any]) -> Schema:
    """Convert the top level of ``schema`` to one object: ``$ref`` resolved, ``allOf`` and unions merged.

    Raises:
        ToolsetError: It is not a JSON Schema of an object.
    """
    return _as_object(resolve(schema, schema), schema)


def _followed(schema: Any, root: Mapping[str, Any]) -> Schema:
    for _ in range(32):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return dict(schema)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**pointed(reference, root), **beside}
    raise ToolsetError(f"the schema refers to itself without end: {reference!r}", code="tool.schema")


def _merged(schema: Schema, root: Mapping[str, Any]) -> Schema:
    for _ in range(_MAX_MERGES):
        parts = schema.pop("allOf", None)
        if not parts:
            return schema
        expect(parts, list, "allOf")
        if len(parts) > _MAX_PARTS:  # each may refer to two more
            raise ToolsetError("allOf of the schema has too many parts", code="tool.schema")
        for part in parts:
            schema = merge(_followed(part, root), schema)
    raise ToolsetError("allOf of the schema refers to itself without end", code="tool.schema")


def _as_object(schema: Schema, root: Mapping[str, Any]) -> Schema:
    """The top level: providers refuse a union there, so the properties of its members are merged."""
    if schema.setdefault("type", "object") not in ("object", ["object"]):
        raise ToolsetError(f"the parameters must be an object, not {schema['type']!r}", code="tool.schema")
    members = [resolve(part, root) for key in _UNIONS for part in schema.get(key, ())]
    always = set.intersection(*(set(member.get("required", ())) for member in members)) if members else set()
    for member in members:
        required = [name for name in member.get("required", ()) if name in always]
        schema = merge({**member, "required": required}, schema)
    return {**{key: value for key, value in schema.items() if key not in _NOT_AT_TOP}, "type": "object"}


class _Cleaner:
    """Cleans one schema; ``definitions`` collects those that must remain."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.definitions: dict[str, Schema] = {}
        self._names: dict[str, str] = {}
        self._recursive: dict[str, bool] = {}
        self._within: set[str] = set()
        self._nodes = 0

    def clean(self) -> Schema:
        """The whole schema, as an object with properties."""
        try:
            schema = self._node(object_schema(self.root))
        except (AttributeError, RecursionError, TypeError) as error:  # any error from a malformed schema
            raise ToolsetError(f"this is not a JSON Schema: {error}", code="tool.schema") from error
        schema.setdefault("properties", {})
        if self.definitions:
            schema["$defs"] = self.definitions
        return schema

    def _node(self, schema: object) -> Schema:
        self._nodes += 1
        if isinstance(schema, bool):
            return {}
        if not isinstance(schema, Mapping):
            raise ToolsetError(f"{schema!r} is not a schema", code="tool.schema")
        reference = schema.get("$ref")
        if isinstance(reference, str) and (self._nodes > MAX_NODES or self._is_recursive(reference)):
            beside = {key: value for key, value in schema.items() if key == "description"}
            return {"$ref": f"#/$defs/{self._define(reference)}", **beside}
        inherited = {part for part in _inherited(schema) if self._is_recursive(part)}
        if again := inherited & self._within:  # merging it once more would never end
            return {"$ref": f"#/$defs/{self._define(min(again))}"}
        self._within |= inherited
        try:
            return self._merged_node(schema)
        finally:
            self._within -= inherited

    def _merged_node(self, schema: Mapping[str, Any]) -> Schema:
        merged = modern(resolve(schema, self.root))
        if isinstance(required := merged.get("required"), list) and isinstance(merged.get("properties"), Mapping):
            sent = property_names(merged["properties"])
            merged["required"] = [sent.get(name, name) for name in required]
        return finished({key: self._keyword(key, value) for key, value in merged.items() if is_kept(key, value)})

    def _keyword(self, key: str, value: Any) -> Any:
        if key == "properties":
            expect(value, Mapping, "properties")
            sent = property_names(value)
            return {sent[name]: self._node(part) for name, part in value.items() if part is not False}
        if key == "anyOf":
            expect(value, list, key)
            return [self._node(part) for part in value if part is not False]
        if key in _ONE_SCHEMA:
            return value if isinstance(value, bool) and key == "additionalProperties" else self._node(value)
        return value

    def _define(self, reference: str) -> str:
        name = self._names.get(reference)
        if name is None:
            base = re.sub(r"[^A-Za-z0-9_-]", "_", reference.rpartition("/")[2].lstrip("#")) or "root"
            name = base if base not in self.definitions else f"{base}_{len(self.definitions)}"
            self._names[reference] = name
            self.definitions[name] = {}
            self.definitions[name] = self._node(resolve({"$ref": reference}, self.root))
        return name

    def _is_recursive(self, reference: str) -> bool:
        if reference not in self._recursive:
            self._recursive[reference] = self._reaches_itself(reference)
        return self._recursive[reference]

    def _reaches_itself(self, reference: str) -> bool:
        seen: set[str] = set()
        waiting = [reference]
        while waiting:
            for found in _references(_followed({"$ref": waiting.pop()}, self.root)):
                if found == reference:
                    return True
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return False


def _inherited(schema: Mapping[str, Any]) -> Iterator[str]:
    """The references in ``allOf``."""
    parts = schema.get("allOf")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and isinstance(reference := part.get("$ref"), str):
            yield reference


def _references(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(reference := node.get("$ref"), str):
            yield reference
        for key, value in node.items():
            if key not in ("$defs", "definitions"):
                yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)
