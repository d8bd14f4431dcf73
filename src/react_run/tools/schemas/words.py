"""Reduces JSON Schema to the keywords that every provider knows: what is left out, and what is rewritten."""

from __future__ import annotations

import re
from typing import Any

from react_run.errors import ToolsetError
from react_run.support.display import shown_value
from react_run.support.schema_pattern import pattern_problem

Schema = dict[str, Any]  # each keyword has its own type; JSON has no narrower honest one

DROPPED = frozenset({
    # Keywords about the document, or for readers other than a model.
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
``items``, ``examples`` and patterns that not every engine reads (look-arounds, named groups, ``\\p{L}``) words of the
description. Extension keywords (``x-…``), an empty ``enum`` and names in ``required`` that are not properties are
dropped as well. An array always describes its items, and the whole is always an object with properties.
"""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_NOT_EVERYWHERE = re.compile(
    r"\(\?(?!:)|\\(?![bBdDfnrsStvwW]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^A-Za-z0-9])|[+*?}]\+|\[:"
)
"""Whether a pattern has something that not every engine of a provider reads: some refuse the request."""
_ANNOTATIONS = ("description", "default")
_EXAMPLES = 3


def expect(value: object, kind: type | tuple[type, ...], keyword: str) -> None:
    """Reject a ``value`` of the wrong type for ``keyword``.

    Raises:
        ToolsetError: The type is wrong.
    """
    if not isinstance(value, kind):
        raise ToolsetError(f"{keyword!r} of the schema is {shown_value(value)}", code="tool.schema")


def is_kept(key: str, value: object) -> bool:
    """Whether a keyword is sent at all."""
    if key in DROPPED or key.startswith("x-"):
        return False
    return key != "enum" or bool(value)


def merge(part: Schema, schema: Schema) -> Schema:
    """Merge ``part`` into ``schema``; ``schema`` takes precedence."""
    merged = {**part, **schema}
    if "properties" in part and "properties" in schema:
        merged["properties"] = {**part["properties"], **schema["properties"]}
    if "required" in part and "required" in schema:
        merged["required"] = list(dict.fromkeys([*schema["required"], *part["required"]]))
    return merged


def modern(schema: Schema) -> Schema:
    """Rewrite older and less common spellings in keywords that every provider knows."""
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
        schema["description"] = f"{said}Examples: {', '.join(shown_value(example) for example in examples[:_EXAMPLES])}"
    pattern = schema.get("pattern", "")
    if _NOT_EVERYWHERE.search(pattern) or pattern_problem(pattern):
        said = f"{schema['description']} " if schema.get("description") else ""
        schema["description"] = f"{said}Must match the regular expression {schema.pop('pattern')}"
    if schema.get("patternProperties") and schema.get("additionalProperties") is False:
        del schema["additionalProperties"]  # some are allowed, but which ones cannot be said
    return _with_one_type(schema)


def _with_one_type(schema: Schema) -> Schema:
    nullable = schema.pop("nullable", False) is True
    named = schema.get("type", [])
    kinds = [*named] if isinstance(named, list) else [named]
    for kind in kinds:
        if not isinstance(kind, str) or kind not in TYPES:
            raise ToolsetError(f"{kind!r} is not a type of JSON Schema", code="tool.schema")
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


def finished(schema: Schema) -> Schema:
    """Remove details for which a provider refuses the whole request."""
    if schema.get("type") == "array":
        schema.setdefault("items", {})
    if "required" in schema:
        expect(required := schema.pop("required"), list, "required")
        if known := [name for name in required if name in schema.get("properties", ())]:
            schema["required"] = known
    if "anyOf" in schema and len(schema["anyOf"]) < 2:
        schema = {**dict(*schema.pop("anyOf")), **schema}
    return schema
