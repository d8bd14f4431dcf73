"""JSON Schemas of tools: following references, and taking out what providers refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from react_run.errors import ToolsetError
from react_run.text import shown

Schema = dict[str, Any]  # each keyword has its own type; JSON has no narrower honest one

DROPPED = frozenset({
    # Words about the document, or for other readers than a model.
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "$vocabulary", "definitions", "id", "title",
    "contentEncoding", "contentMediaType", "contentSchema", "deprecated", "discriminator", "externalDocs", "readOnly",
    "writeOnly", "xml",
    # Constraints that at least one provider refuses with an error; arguments are still checked against them here.
    "contains", "dependencies", "dependentRequired", "dependentSchemas", "else", "if", "maxContains", "minContains",
    "not", "patternProperties", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
})  # fmt: skip
"""Keywords left out of what is sent (behaviour H4).

Rewritten rather than dropped: ``$ref`` is inlined (a recursive one becomes a definition), ``allOf`` is merged,
``oneOf`` and a list of types become ``anyOf``, ``nullable`` a null in it, ``const`` an ``enum``, ``prefixItems`` the
``items``, ``examples`` words of the description. Patterns with look-arounds, extension keywords (``x-…``), an empty
``enum`` and names in ``required`` that are no property go, too. An array always says what its items are, and the whole
is always an object with properties.
"""

MAX_NODES = 4_000
"""Above this many nodes inlining stops, and what is left of ``$ref`` points to definitions."""

_ONE_SCHEMA = frozenset({"additionalProperties", "items"})
_UNIONS = ("anyOf", "oneOf")
_NOT_AT_TOP = frozenset({"anyOf", "const", "enum", "nullable", "oneOf"})
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_ANNOTATIONS = ("description", "default")
_EXAMPLES = 3
_MAX_MERGES = 32


def clean_schema(schema: Mapping[str, Any]) -> Schema:
    """``schema`` in the form that every provider accepts for the parameters of a tool (behaviour H4).

    What is sent may promise less than what is checked: a dropped constraint still holds when arguments are checked.

    Raises:
        ToolsetError: It is not a JSON Schema of an object, or a ``$ref`` leads out of it.
    """
    return _Cleaner(schema).clean()


def resolve(schema: Any, root: Mapping[str, Any]) -> Schema:
    """The schema that ``schema`` refers to within ``root``, words beside ``$ref`` kept; ``{}`` for true and false."""
    for _ in range(32):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return dict(schema)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**_pointed(reference, root), **beside}
    raise ToolsetError(f"the schema refers to itself without end: {reference!r}", code="tool.schema")


def _pointed(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    node: Any = root
    if not reference.startswith("#"):
        raise ToolsetError(f"$ref {reference!r} leads out of the schema; nothing is fetched", code="tool.schema")
    for part in filter(None, reference[1:].split("/")):
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(key)] if isinstance(node, list) else node[key]
        except (LookupError, ValueError, TypeError):
            raise ToolsetError(f"$ref {reference!r} points to nothing in the schema", code="tool.schema") from None
    return node if isinstance(node, Mapping) else {}


class _Cleaner:
    """Cleans one schema; ``definitions`` collects what has to stay a definition."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.definitions: dict[str, Schema] = {}
        self._names: dict[str, str] = {}
        self._recursive: dict[str, bool] = {}
        self._nodes = 0

    def clean(self) -> Schema:
        """The whole schema, as an object with properties."""
        try:
            schema = self._node(self._as_object(self._merged(resolve(self.root, self.root))))
        except (AttributeError, RecursionError, TypeError) as error:  # whatever a malformed schema runs into
            raise ToolsetError(f"this is no JSON Schema: {error}", code="tool.schema") from error
        schema.setdefault("properties", {})
        if self.definitions:
            schema["$defs"] = self.definitions
        return schema

    def _as_object(self, schema: Schema) -> Schema:
        """The top: a union there is refused by providers, so the properties of its members are laid together."""
        if schema.setdefault("type", "object") not in ("object", ["object"]):
            raise ToolsetError(f"the parameters must be an object, not {schema['type']!r}", code="tool.schema")
        members = [self._merged(resolve(part, self.root)) for key in _UNIONS for part in schema.get(key, ())]
        always = set.intersection(*(set(member.get("required", ())) for member in members)) if members else set()
        for member in members:
            required = [name for name in member.get("required", ()) if name in always]
            schema = _merge({**member, "required": required}, schema)
        return {**{key: value for key, value in schema.items() if key not in _NOT_AT_TOP}, "type": "object"}

    def _node(self, schema: object) -> Schema:
        self._nodes += 1
        if isinstance(schema, bool):
            return {}
        if not isinstance(schema, Mapping):
            raise ToolsetError(f"{schema!r} stands where a schema should be", code="tool.schema")
        reference = schema.get("$ref")
        if isinstance(reference, str) and (self._nodes > MAX_NODES or self._is_recursive(reference)):
            beside = {key: value for key, value in schema.items() if key == "description"}
            return {"$ref": f"#/$defs/{self._define(reference)}", **beside}
        merged = _modern(self._merged(resolve(schema, self.root)))
        return _finished({key: self._keyword(key, value) for key, value in merged.items() if _is_kept(key, value)})

    def _keyword(self, key: str, value: Any) -> Any:
        if key == "properties":
            _expect(value, Mapping, "properties")
            return {name: self._node(part) for name, part in value.items() if part is not False}
        if key == "anyOf":
            _expect(value, list, key)
            return [self._node(part) for part in value if part is not False]
        if key in _ONE_SCHEMA:
            return value if isinstance(value, bool) and key == "additionalProperties" else self._node(value)
        return value

    def _merged(self, schema: Schema) -> Schema:
        for _ in range(_MAX_MERGES):
            parts = schema.pop("allOf", None)
            if not parts:
                return schema
            _expect(parts, list, "allOf")
            for part in parts:
                schema = _merge(resolve(part, self.root), schema)
        raise ToolsetError("allOf of the schema refers to itself without end", code="tool.schema")

    def _define(self, reference: str) -> str:
        name = self._names.get(reference)
        if name is None:
            base = re.sub(r"[^A-Za-z0-9_-]", "_", reference.rpartition("/")[2].lstrip("#")) or "root"
            name = base if base not in self.definitions else f"{base}_{len(self.definitions)}"
            self._names[reference] = name
            self.definitions[name] = {}
            self.definitions[name] = self._node(self._merged(resolve({"$ref": reference}, self.root)))
        return name

    def _is_recursive(self, reference: str) -> bool:
        if reference not in self._recursive:
            self._recursive[reference] = self._reaches_itself(reference)
        return self._recursive[reference]

    def _reaches_itself(self, reference: str) -> bool:
        seen: set[str] = set()
        waiting = [reference]
        while waiting:
            for found in _references(resolve({"$ref": waiting.pop()}, self.root)):
                if found == reference:
                    return True
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return False


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


def _expect(value: object, kind: type, keyword: str) -> None:
    if not isinstance(value, kind):
        raise ToolsetError(f"{keyword!r} of the schema is {shown(value)}", code="tool.schema")


def _is_kept(key: str, value: object) -> bool:
    if key in DROPPED or key.startswith("x-"):
        return False
    if key == "pattern":
        return isinstance(value, str) and not _LOOK_AROUND.search(value)
    return key != "enum" or bool(value)


def _merge(part: Schema, schema: Schema) -> Schema:
    """``schema`` with what ``part`` adds; where both speak, ``schema`` is heard."""
    merged = {**part, **schema}
    if "properties" in part and "properties" in schema:
        merged["properties"] = {**part["properties"], **schema["properties"]}
    if "required" in part and "required" in schema:
        merged["required"] = list(dict.fromkeys([*schema["required"], *part["required"]]))
    return merged


def _modern(schema: Schema) -> Schema:
    """Older and less accepted spellings in the words that every provider knows."""
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    if "oneOf" in schema:
        schema["anyOf"] = [*schema.get("anyOf", ()), *schema.pop("oneOf")]
    tuple_items = schema.pop("prefixItems", None) or schema.get("items")
    if isinstance(tuple_items, list):
        distinct = [part for index, part in enumerate(tuple_items) if part not in tuple_items[:index]]
        schema["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    examples = [*schema.pop("examples", ()), *([schema.pop("example")] if "example" in schema else [])]
    if examples:
        said = f"{schema['description']} " if schema.get("description") else ""
        schema["description"] = f"{said}Examples: {', '.join(shown(example) for example in examples[:_EXAMPLES])}"
    return _with_one_type(schema)


def _with_one_type(schema: Schema) -> Schema:
    nullable = schema.pop("nullable", False) is True
    named = schema.get("type", [])
    kinds = [*named] if isinstance(named, list) else [named]
    for kind in kinds:
        if kind not in _TYPES:
            raise ToolsetError(f"{kind!r} is no type of JSON Schema", code="tool.schema")
    if nullable and kinds and "null" not in kinds:
        kinds.append("null")
    if nullable and "anyOf" in schema:
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    return _one_of_types(schema, kinds) if kinds else schema


def _one_of_types(schema: Schema, kinds: list[str]) -> Schema:
    if len(kinds) == 1:
        return {**schema, "type": kinds[0]}
    outside = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    schema = {key: value for key, value in schema.items() if key not in outside}
    branches = [{"type": "null"} if kind == "null" else {**schema, "type": kind} for kind in kinds]
    return {"anyOf": branches, **outside}


def _finished(schema: Schema) -> Schema:
    if schema.get("type") == "array":
        schema.setdefault("items", {})
    if "required" in schema:
        _expect(required := schema.pop("required"), list, "required")
        if known := [name for name in required if name in schema.get("properties", ())]:
            schema["required"] = known
    if "anyOf" in schema and len(schema["anyOf"]) < 2:
        schema = {**dict(*schema.pop("anyOf")), **schema}
    return schema
