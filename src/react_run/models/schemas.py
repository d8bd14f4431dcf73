"""Tool schemas as providers accept them (behaviour H4).

What is taken out here only goes unsaid: the tool's own schema still decides about the arguments (behaviour A7).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from react_run.models.values import items, mapping, mappings

_DEEPEST = 40
_MOST_NODES = 4000
_KEPT = frozenset(
    {"type", "description", "enum", "default", "format", "anyOf", "$ref"}
    | {"properties", "required", "additionalProperties", "minProperties", "maxProperties"}
    | {"items", "minItems", "maxItems", "uniqueItems", "pattern", "minLength", "maxLength"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
"""Keywords that every provider understands or ignores; all others are left out or rewritten in terms of these."""

_PYTHON_ONLY = re.compile(r"\(\?|\\[AZz]")


def provider_schema(schema: Mapping[str, object]) -> dict[str, object]:
    """``schema`` of a tool's parameters without what providers refuse.

    References are replaced by what they refer to, unless that would never end: a recursive definition is kept under
    ``$defs``. ``oneOf`` becomes ``anyOf``, ``allOf`` is merged, ``const`` becomes ``enum``, tuples become arrays, and
    the top is always a plain object.
    """
    cleaner = _Cleaner(schema)
    try:
        cleaned = cleaner.clean(schema)
    except _TooLarge:
        cleaner = _Cleaner(schema, inline=False)
        cleaned = cleaner.clean(schema)
    top = _as_object(cleaned)
    definitions = cleaner.definitions()
    return {**top, "$defs": definitions} if definitions else top


class _TooLarge(Exception):
    """Replacing every reference would make the schema explode."""


class _Cleaner:
    def __init__(self, root: Mapping[str, object], *, inline: bool = True) -> None:
        self._root = root
        self._inline = inline
        self._nodes = 0
        self._open: list[str] = []
        self._kept: dict[str, str] = {}
        self._done: dict[str, dict[str, object]] = {}

    def clean(self, schema: object, depth: int = 0) -> dict[str, object]:
        self._nodes += 1
        if self._inline and self._nodes > _MOST_NODES:
            raise _TooLarge
        if depth > _DEEPEST:
            return {}
        node = _modernised(mapping(schema))
        cleaned = {key: self._value(key, value, depth + 1) for key, value in node.items() if key in _KEPT}
        reference = cleaned.pop("$ref", None)
        if isinstance(reference, str):
            cleaned = {**self._refer(reference, depth), **cleaned}
        for part in items(node.get("allOf")):
            cleaned = _merged(cleaned, self.clean(part, depth + 1))
        return _tidied(cleaned)

    def definitions(self) -> dict[str, object]:
        """The definitions that stayed references, cleaned; cleaning one may find more."""
        while missing := [pointer for pointer in self._kept if pointer not in self._done]:
            for pointer in missing:
                self._open = [pointer]
                self._done[pointer] = self.clean(_resolve(self._root, pointer))
                self._open = []
        return {self._kept[pointer]: cleaned for pointer, cleaned in self._done.items()}

    def _value(self, key: str, value: object, depth: int) -> object:
        if key == "properties":
            return {name: self.clean(child, depth) for name, child in mapping(value).items() if child is not False}
        if key == "items":
            return self.clean(value, depth)
        if key == "additionalProperties" and not isinstance(value, bool):
            return self.clean(value, depth)
        if key == "anyOf":
            return [self.clean(child, depth) for child in mappings(value)]
        return value

    def _refer(self, pointer: str, depth: int) -> dict[str, object]:
        target = _resolve(self._root, pointer)
        if target is None:
            return {}
        if self._inline and pointer not in self._open:
            self._open.append(pointer)
            cleaned = self.clean(target, depth + 1)
            self._open.pop()
            return cleaned
        name = self._kept.setdefault(pointer, _unique_name(pointer, self._kept.values()))
        return {"$ref": f"#/$defs/{name}"}


def _resolve(root: Mapping[str, object], pointer: str) -> object:
    """What a local reference refers to; ``None`` for anything else, which is then left unsaid."""
    if not pointer.startswith("#"):
        return None
    found: object = root
    for part in pointer[1:].split("/")[1:]:
        found = mapping(found).get(part.replace("~1", "/").replace("~0", "~"))
    return found if isinstance(found, dict) else None


def _unique_name(pointer: str, used: Iterable[str]) -> str:
    stem = re.sub(r"\W", "_", pointer.rpartition("/")[2].lstrip("#")) or "root"
    name, number = stem, 1
    while name in set(used):
        number += 1
        name = f"{stem}_{number}"
    return name


def _modernised(node: Mapping[str, object]) -> dict[str, object]:
    """Older or richer spellings in terms of the kept keywords."""
    new = dict(node)
    if "const" in new:
        new.setdefault("enum", [new["const"]])
    if "oneOf" in new:
        new["anyOf"] = [*mappings(new.get("anyOf")), *mappings(new["oneOf"])]
    tuple_items = items(new.get("prefixItems")) or items(new.get("items"))
    if tuple_items:
        new["items"] = {"anyOf": list(tuple_items)}
    if new.get("nullable") is True and isinstance(new.get("type"), str):
        new["type"] = [new["type"], "null"]
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(new.get(exclusive), bool):
            strict = new.pop(exclusive)
            if strict and limit in new:
                new[exclusive] = new.pop(limit)
    return new


def _merged(base: dict[str, object], part: dict[str, object]) -> dict[str, object]:
    merged = {**part, **base}
    properties = {**mapping(base.get("properties")), **mapping(part.get("properties"))}
    required = [*items(base.get("required")), *items(part.get("required"))]
    if properties:
        merged["properties"] = properties
    if required:
        merged["required"] = required
    return merged


def _tidied(node: dict[str, object]) -> dict[str, object]:
    """Details on which a provider refuses the whole request."""
    if isinstance(pattern := node.get("pattern"), str) and _PYTHON_ONLY.search(pattern):
        del node["pattern"]
    if "enum" in node:
        listed = items(node.pop("enum"))
        if values := [value for position, value in enumerate(listed) if value not in listed[:position]]:
            node["enum"] = values
    variants = [variant for variant in items(node.get("anyOf")) if isinstance(variant, dict)]
    if "anyOf" in node and len(variants) < 2:
        del node["anyOf"]
        node = {**variants[0], **node} if variants else node
    if "properties" in node or node.get("type") == "object":
        node["properties"] = dict(mapping(node.get("properties")))
        _set_required(node, items(node.get("required")))
    else:
        node.pop("required", None)
    if node.get("type") == "array":
        node.setdefault("items", {})
    return node


def _set_required(node: dict[str, object], names: Iterable[object]) -> None:
    properties = mapping(node.get("properties"))
    known = [name for name in dict.fromkeys(n for n in names if isinstance(n, str)) if name in properties]
    node.pop("required", None)
    if known:
        node["required"] = known


def _as_object(cleaned: dict[str, object]) -> dict[str, object]:
    """A plain object at the top: alternatives of whole argument sets are shown as one set of optional parameters."""
    variants = mappings(cleaned.pop("anyOf", None))
    top: dict[str, object] = {
        "type": "object",
        **{k: v for k, v in cleaned.items() if k not in ("type", "enum", "$ref")},
    }
    properties = dict(mapping(top.get("properties")))
    for variant in variants:
        properties = {**mapping(variant.get("properties")), **properties}
    always = set(properties)
    for variant in variants:
        always &= {name for name in items(variant.get("required")) if isinstance(name, str)}
    top["properties"] = properties
    _set_required(top, [*items(top.get("required")), *(name for name in properties if variants and name in always)])
    return top
