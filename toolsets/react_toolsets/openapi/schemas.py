"""Converts schemas of a document into JSON Schemas of tools, without read-only fields, with reachable definitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from react_toolsets.openapi.document import Document, SpecProblem, token

Schema = dict[str, Any]

MOST_NODES = 100_000
"""The most nodes in the schemas of one operation; more mean a trap, such as nested YAML aliases."""
DEEPEST = 6
"""How many levels to keep at first if a schema is too large."""
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_ONE = frozenset({"additionalProperties", "contains", "items", "not", "propertyNames"})
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NUMBERS = frozenset({
    "maximum", "minimum", "multipleOf", "maxItems", "maxLength", "maxProperties", "minItems", "minLength",
    "minProperties",
})  # fmt: skip
_EITHER = frozenset({"exclusiveMaximum", "exclusiveMinimum"})
_ANY = frozenset({"const", "default"})
_FLAGS = frozenset({"nullable", "uniqueItems", "deprecated"})
_TEXTS = frozenset({"description", "format", "pattern", "title"})


class Schemas:
    """The schemas of one document, each converted once.

    Args:
        document: The document that references refer to.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self._definitions: dict[str, Schema | SpecProblem] = {}
        self._nodes = 0

    def begin(self) -> None:
        """Start an operation: reset the count of nodes."""
        self._nodes = 0

    def converted(self, node: Any, pointer: str) -> Schema:
        """Convert ``node``: drop read-only properties, and turn references into references to definitions.

        Raises:
            SpecProblem: Part of it is not a schema.
        """
        return self._node(node, pointer, frozenset())

    def _node(self, node: Any, pointer: str, unread: frozenset[str]) -> Schema:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise SpecProblem(pointer, f"the schemas of this operation have more than {MOST_NODES} parts")
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, Mapping):
            raise SpecProblem(pointer, f"{str(node)[:60]!r} should be a schema")
        out: Schema = {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            out["$ref"] = f"#/$defs/{self._named(reference, pointer)}"
        unread |= frozenset(self._only_read(node, pointer))
        for key, value in node.items():
            if key in _ONE and not isinstance(value, list):
                out[key] = value if isinstance(value, bool) else self._node(value, f"{pointer}/{key}", frozenset())
            elif key in _MANY:
                _expect(value, list, pointer, key)
                inner = unread if key == "allOf" else frozenset[str]()
                parts = [self._node(part, f"{pointer}/{key}/{at}", inner) for at, part in enumerate(value)]
                out[key] = [part for part in parts if part or key != "allOf"]
                if not out[key]:
                    del out[key]
            elif key == "properties":
                _expect(value, Mapping, pointer, key)
                kept = ((name, part) for name, part in value.items() if name not in unread)
                out[key] = {
                    name: self._node(part, f"{pointer}/{key}/{token(name)}", frozenset()) for name, part in kept
                }
            elif key == "required" and isinstance(value, list):
                out[key] = [name for name in value if isinstance(name, str) and name not in unread]
            elif key == "type":
                out[key] = _type(value, pointer)
            elif key == "enum":
                _expect(value, list, pointer, key)
                out[key] = value
            elif _is_plain(key, value):
                out[key] = value
        return out

    def _only_read(self, node: Mapping[str, Any], pointer: str) -> Iterator[str]:
        """The read-only properties, here and in the parts of ``allOf``."""
        for name, part in _mapping(node.get("properties")).items():
            if isinstance(part, Mapping) and self._document.followed(part, pointer)[0].get("readOnly") is True:
                yield name
        parts = node.get("allOf")
        for at, part in enumerate(parts if isinstance(parts, list) else ()):
            found, _ = self._document.followed(part, f"{pointer}/allOf/{at}")
            for name, inner in _mapping(found.get("properties")).items():
                if isinstance(inner, Mapping) and inner.get("readOnly") is True:
                    yield name

    def _named(self, reference: str, pointer: str) -> str:
        """The name of the definition for a reference; the definition is converted later, when a tool needs it."""
        name = self._names.get(reference)
        if name is None:
            self._document.at(reference, pointer)
            base = "".join(
                c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in reference.rpartition("/")[2]
            )
            name, number = base or "root", 1
            while name in self._references:
                number += 1
                name = f"{base}_{number}"
            self._names[reference], self._references[name] = name, reference
        return name

    def _definition(self, name: str) -> Schema:
        found = self._definitions.get(name)
        if found is None:
            reference = self._references[name]
            try:
                found = self._node(self._document.at(reference, reference), reference, frozenset())
            except SpecProblem as problem:
                found = problem
            self._definitions[name] = found
        if isinstance(found, SpecProblem):
            raise found
        return found

    def reached(self, schemas: Iterable[Schema]) -> dict[str, Schema]:
        """The definitions that ``schemas`` refer to, directly or not, by name.

        Raises:
            SpecProblem: One of them is not a schema.
        """
        found: dict[str, Schema] = {}
        waiting = [name for schema in schemas for name in _names_in(schema)]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self._definition(name)
                waiting += _names_in(found[name])
        return found

    def arguments(self, properties: Mapping[str, Schema], required: list[str], limit: int) -> Schema:
        """The schema of a tool's arguments, of at most about ``limit`` characters.

        Raises:
            SpecProblem: A definition that it refers to is not a schema.
        """
        definitions = self.reached(properties.values())
        whole: Schema = {
            "type": "object",
            "properties": dict(properties),
            "required": required,
            "additionalProperties": False,
        }
        if _Size(definitions, limit).fits(whole):
            return {**whole, "$defs": definitions} if definitions else whole
        for depth in range(DEEPEST, 0, -1):
            shorter = {name: _cut(part, definitions, depth, frozenset()) for name, part in properties.items()}
            whole["properties"] = shorter
            if len(json.dumps(shorter, ensure_ascii=False)) <= limit:
                break
        return whole


class _Size:
    """Checks if a schema is small enough with its references expanded, as it is sent."""

    def __init__(self, definitions: Mapping[str, Schema], limit: int) -> None:
        self._definitions, self._left = definitions, limit

    def fits(self, node: Any, within: frozenset[str] = frozenset()) -> bool:
        if isinstance(node, Mapping):
            name = _definition_name(node)
            if name and name not in within and not self.fits(self._definitions[name], within | {name}):
                return False
            self._left -= 2 + sum(len(key) + 4 for key in node)
            return self._left >= 0 and all(self.fits(value, within) for value in node.values())
        if isinstance(node, list):
            return all(self.fits(value, within) for value in node)
        self._left -= len(node) + 2 if isinstance(node, str) else 5
        return self._left >= 0


def _cut(node: Any, definitions: Mapping[str, Schema], depth: int, within: frozenset[str]) -> Any:
    """``node`` with references expanded, and parts below ``depth`` levels replaced by any value."""
    if not isinstance(node, Mapping):
        return node
    name = _definition_name(node)
    if name:
        if name in within:
            return _anything(node)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _cut({**definitions[name], **beside}, definitions, depth, within | {name})
    if depth <= 0 and node.keys() & {"properties", "items", "allOf", "anyOf", "oneOf", "additionalProperties"}:
        return _anything(node)
    return {key: _cut_keyword(key, value, definitions, depth, within) for key, value in node.items()}


def _cut_keyword(key: str, value: Any, definitions: Mapping[str, Schema], depth: int, within: frozenset[str]) -> Any:
    if key == "properties":
        return {name: _cut(part, definitions, depth - 1, within) for name, part in value.items()}
    if key in _ONE:
        return _cut(value, definitions, depth - 1, within)
    if key in _MANY:
        return [_cut(part, definitions, depth - (key != "allOf"), within) for part in value]
    return value


def _anything(node: Mapping[str, Any]) -> Schema:
    kind = node.get("type") if node.get("type") in ("array", "object") else "object"
    said = str(node.get("description", ""))[:200]
    note = "Its parts are not listed here because there are too many."
    return {"type": kind, "description": f"{said} {note}".strip()}


def _names_in(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if name := _definition_name(node):
            yield name
        for value in node.values():
            if isinstance(value, (Mapping, list)):
                yield from _names_in(value)
    elif isinstance(node, list):
        for value in node:
            if isinstance(value, (Mapping, list)):
                yield from _names_in(value)


def _definition_name(node: Mapping[str, Any]) -> str:
    reference = node.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_plain(key: str, value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (
        (key in _NUMBERS and is_number)
        or (key in _EITHER and isinstance(value, (int, float)))
        or (key in _FLAGS and isinstance(value, bool))
        or (key in _TEXTS and isinstance(value, str))
        or key in _ANY
    )


def _type(value: Any, pointer: str) -> Any:
    kinds = value if isinstance(value, list) else [value]
    for kind in kinds:
        if not isinstance(kind, str) or kind not in _TYPES:
            raise SpecProblem(f"{pointer}/type", f"{str(kind)[:60]!r} is not a type of JSON Schema")
    return value


def _expect(value: Any, kind: type, pointer: str, key: str) -> None:
    if not isinstance(value, kind):
        raise SpecProblem(f"{pointer}/{key}", f"{str(value)[:60]!r} should be a {kind.__name__.lower()}")
