"""Schemas are cleaned of what providers refuse, and nothing a model needs to know is lost (H4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from react_run.errors import ToolsetError
from react_run.tools.schemas.cleaning import MAX_NODES, clean_schema
from react_run.tools.schemas.function_model import model_schema
from react_run.tools.schemas.words import DROPPED

Node = Mapping[str, Any]


def nodes(schema: Node) -> Iterator[Node]:
    yield schema
    for key in ("properties", "$defs"):
        for part in schema.get(key, {}).values():
            yield from nodes(part)
    for part in schema.get("anyOf", ()):
        yield from nodes(part)
    for key in ("items", "additionalProperties"):
        if isinstance(part := schema.get(key), Mapping):
            yield from nodes(part)


REFUSALS: list[tuple[str, Callable[[Node], bool]]] = [
    ("OpenAI: object schema missing properties", lambda top: "properties" not in top),
    ("OpenAI, Anthropic: the top must be of type object", lambda top: top.get("type") != "object"),
    (
        "OpenAI, Anthropic: a union, enum or not at the top",
        lambda top: bool({"anyOf", "oneOf", "allOf", "enum"} & {*top}),
    ),
]
REFUSED_ANYWHERE: list[tuple[str, Callable[[Node], bool]]] = [
    ("OpenAI: array schema missing items", lambda node: node.get("type") == "array" and "items" not in node),
    ("Gemini: unknown name $schema, $id, title, …", lambda node: bool(DROPPED & {*node} - {"$defs"})),
    (
        "Gemini: unknown name oneOf, allOf, const, examples",
        lambda node: bool({"oneOf", "allOf", "const", "examples"} & {*node}),
    ),
    ("Gemini: type is not a list", lambda node: isinstance(node.get("type"), list)),
    ("Gemini: items is not a list", lambda node: isinstance(node.get("items"), list) or "prefixItems" in node),
    (
        "Gemini: required property is not defined",
        lambda node: not {*node.get("required", ())} <= {*node.get("properties", ())},
    ),
    ("Gemini: empty enum", lambda node: node.get("enum") == []),
    ("Gemini, draft 4: exclusiveMinimum is a number", lambda node: isinstance(node.get("exclusiveMinimum"), bool)),
    ("OpenAPI: nullable, x-…", lambda node: "nullable" in node or any(key.startswith("x-") for key in node)),
    ("Grammars: look-around", lambda node: "(?" in node.get("pattern", "")),
]


def refusals(schema: Node) -> list[str]:
    found = [why for why, refused in REFUSALS if refused(schema)]
    return found + [why for why, refused in REFUSED_ANYWHERE for node in nodes(schema) if refused(node)]


def cleaned(part: Node) -> Any:
    """``part`` cleaned as the parameter ``p`` of a tool."""
    top = clean_schema({"type": "object", "properties": {"p": part}})
    assert refusals(top) == []
    return top["properties"]["p"]


PARTS: list[tuple[str, Node, Node]] = [
    (
        "kept",
        {"type": "integer", "minimum": 1, "default": 2, "description": "D."},
        {"type": "integer", "minimum": 1, "default": 2, "description": "D."},
    ),
    (
        "words about the document",
        {"$schema": "s", "$id": "i", "$comment": "c", "title": "T", "type": "string", "x-y": 1},
        {"type": "string"},
    ),
    ("const", {"const": "a"}, {"enum": ["a"]}),
    (
        "list of types",
        {"type": ["string", "null"], "minLength": 1, "description": "D."},
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}], "description": "D."},
    ),
    ("list of one type", {"type": ["string"]}, {"type": "string"}),
    ("nullable", {"type": "integer", "nullable": True}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    ("not nullable", {"type": "integer", "nullable": False}, {"type": "integer"}),
    (
        "nullable union",
        {"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": True},
        {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
    ),
    (
        "oneOf",
        {"oneOf": [{"type": "integer"}, {"type": "string"}], "discriminator": {"propertyName": "k"}},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    ),
    ("union of one", {"anyOf": [{"type": "integer"}], "description": "D."}, {"type": "integer", "description": "D."}),
    ("impossible member", {"anyOf": [{"type": "integer"}, False]}, {"type": "integer"}),
    (
        "allOf",
        {
            "allOf": [
                {"type": "object", "properties": {"a": {}}, "required": ["a"]},
                {"properties": {"b": {}}, "required": ["b"]},
            ],
            "description": "D.",
        },
        {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["a", "b"], "description": "D."},
    ),
    (
        "tuple",
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}, {"type": "integer"}], "minItems": 3},
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "minItems": 3},
    ),
    (
        "old tuple",
        {"type": "array", "items": [{"type": "integer"}, {"type": "integer"}]},
        {"type": "array", "items": {"type": "integer"}},
    ),
    ("array of anything", {"type": "array"}, {"type": "array", "items": {}}),
    (
        "old exclusive bound",
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"type": "integer", "exclusiveMinimum": 1, "maximum": 9},
    ),
    (
        "look-around",
        {"type": "string", "pattern": "^(?!x).*$"},
        {"type": "string", "description": "Must match the regular expression ^(?!x).*$"},
    ),
    (
        "a property of characters",
        {"type": "string", "description": "A name.", "pattern": r"^\p{L}+$"},
        {"type": "string", "description": r"A name. Must match the regular expression ^\p{L}+$"},
    ),
    (
        "no pattern",
        {"type": "string", "pattern": "("},
        {"type": "string", "description": "Must match the regular expression ("},
    ),
    ("some names", {"patternProperties": {"^x-": {}}, "additionalProperties": False}, {}),
    ("pattern", {"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
    (
        "examples",
        {"type": "string", "description": "A city.", "examples": ["Paris", "Rome"]},
        {"type": "string", "description": 'A city. Examples: "Paris", "Rome"'},
    ),
    ("example", {"type": "integer", "example": 3}, {"type": "integer", "description": "Examples: 3"}),
    ("empty enum", {"type": "string", "enum": []}, {"type": "string"}),
    (
        "unknown required",
        {"type": "object", "properties": {"a": {}}, "required": ["a", "z"]},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    ),
    ("required of nothing", {"type": "object", "required": ["a"]}, {"type": "object"}),
    (
        "constraints nobody reads",
        {"type": "object", "patternProperties": {"a": {}}, "dependentRequired": {"a": ["b"]}, "if": {}, "then": {}},
        {"type": "object"},
    ),
    (
        "true",
        {"type": "object", "properties": {"a": True, "b": False}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
    ),
    (
        "free map",
        {"type": "object", "additionalProperties": {"type": ["integer"], "title": "T"}},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ),
]


@pytest.mark.parametrize(("part", "expected"), [pytest.param(p, e, id=name) for name, p, e in PARTS])
def test_a_parameter_is_told_in_words_every_provider_knows(part: Node, expected: Node) -> None:
    before = json.dumps(part)
    assert cleaned(part) == expected
    assert cleaned(expected) == expected, "cleaning twice changes nothing"
    assert json.dumps(part) == before, "the schema itself stays as it was"


def test_parameters_named_like_keywords_are_parameters() -> None:
    names = ["title", "const", "$ref", "$defs", "examples", "x-y", "not", "type", "nullable", "required"]
    top = clean_schema(
        {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    )
    sent = [name.lstrip("$") for name in names]  # the sign itself is refused
    assert [*top["properties"]] == sent
    assert top["required"] == sent


def test_references_are_replaced_by_what_they_point_to() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/P~1Q", "description": "first"}, "b": {"$ref": "#/definitions/R%20S"}},
        "$defs": {
            "P/Q": {
                "type": "object",
                "title": "P",
                "description": "a point",
                "properties": {"x": {"$ref": "#/definitions/R S"}},
            }
        },
        "definitions": {"R S": {"type": "integer"}},
    }
    top = clean_schema(schema)
    assert top == {
        "type": "object",
        "properties": {
            "a": {"type": "object", "description": "first", "properties": {"x": {"type": "integer"}}},
            "b": {"type": "integer"},
        },
    }


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Forest(BaseModel):
    oldest: Tree = Field(description="the oldest")
    trees: list[Tree]


@pytest.mark.parametrize("model", [Tree, Forest])
def test_a_recursive_model_keeps_a_definition(model: type[BaseModel]) -> None:
    top = clean_schema(model_schema(model))
    assert refusals(top) == []
    assert [*top["$defs"]] == ["Tree"]
    reference = {"$ref": "#/$defs/Tree"}
    assert top["$defs"]["Tree"]["properties"]["children"]["items"] == reference
    if model is Forest:
        assert top["properties"]["oldest"] == {**reference, "description": "the oldest"}
    assert clean_schema(top) == top


def test_a_schema_that_refers_to_all_of_itself_keeps_a_definition() -> None:
    top = clean_schema({"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}})
    assert top["$defs"]["root"]["properties"] == {"next": {"$ref": "#/$defs/root"}, "n": {"type": "integer"}}


def test_references_cannot_multiply_without_end() -> None:
    layers = {
        f"L{i}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/L{i + 1}"} for k in "ab"}} for i in range(40)
    }
    top = clean_schema({"type": "object", "properties": {"p": {"$ref": "#/$defs/L0"}}, "$defs": {**layers, "L40": {}}})
    assert sum(1 for _ in nodes(top)) < 2 * MAX_NODES
    assert refusals(top) == []


def test_alternatives_at_the_top_are_laid_together() -> None:
    schema = {
        "type": "object",
        "properties": {"k": {"type": "string"}},
        "required": ["k"],
        "oneOf": [
            {"properties": {"id": {"type": "integer"}, "both": {}}, "required": ["id", "both"]},
            {"$ref": "#/$defs/ByName"},
        ],
        "$defs": {"ByName": {"properties": {"name": {"type": "string"}, "both": {}}, "required": ["name", "both"]}},
        "not": {"required": ["z"]},
    }
    top = clean_schema(schema)
    assert refusals(top) == []
    assert {*top["properties"]} == {"k", "id", "name", "both"}
    assert top["required"] == ["k", "both"]


def test_no_schema_at_all_is_an_object_without_properties() -> None:
    assert clean_schema({}) == {"type": "object", "properties": {}}


NONE: list[tuple[Any, str]] = [
    ({"type": "array"}, "must be an object"),
    ({"type": "object", "properties": ["a"]}, "'properties' of the schema is"),
    ({"type": "object", "properties": {"a": "string"}}, "is not a schema"),
    ({"type": "object", "properties": {"a": {"type": "str"}}}, "'str' is not a type of JSON Schema"),
    ({"type": "object", "properties": {"a": {"type": 3}}}, "3 is not a type of JSON Schema"),
    ({"type": "object", "properties": {"a": {"type": [{}]}}}, "not a type of JSON Schema"),
    ({"type": "object", "properties": {"a": {}}, "required": "a"}, "'required' of the schema is"),
    ({"type": "object", "properties": {"a": {"anyOf": {}}}}, "'anyOf' of the schema is"),
    ({"type": "object", "properties": {"a": {"$ref": "#/$defs/Nope"}}}, "points to nothing"),
    ({"type": "object", "properties": {"a": {"$ref": "https://example.test/s.json"}}}, "nothing is fetched"),
    (
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
        "without end",
    ),
    ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}}, "without end"),
]


@pytest.mark.parametrize(("schema", "text"), NONE, ids=lambda value: str(value)[:40])
def test_what_is_no_schema_is_reported(schema: Any, text: str) -> None:
    with pytest.raises(ToolsetError, match=r".") as caught:
        clean_schema(schema)
    assert text in str(caught.value)
    assert caught.value.code == "tool.schema"


KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "array", "object", ["string", "null"], ["array", "object"]]),
        "title": st.just("T"),
        "const": st.integers(),
        "enum": st.lists(st.integers(), max_size=2),
        "nullable": st.booleans(),
        "pattern": st.sampled_from(["^a", "(?=b)"]),
        "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "examples": st.lists(st.integers(), max_size=2),
        "minimum": st.integers(),
        "exclusiveMinimum": st.booleans() | st.integers(),
        "$ref": st.sampled_from(["#/$defs/D", "#"]),
    },
)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = st.lists(inner, max_size=3)
    nested = {
        "properties": st.dictionaries(st.sampled_from(["a", "b", "title"]), inner, max_size=2),
        "anyOf": parts,
        "oneOf": parts,
        "allOf": parts,
        "items": inner | parts,
        "prefixItems": parts,
        "additionalProperties": inner | st.booleans(),
        "not": inner,
    }
    return st.builds(lambda a, b: {**a, **b}, KEYWORDS, st.fixed_dictionaries({}, optional=nested))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=st.recursive(KEYWORDS, _around, max_leaves=10), definition=st.recursive(KEYWORDS, _around, max_leaves=4))
def test_no_schema_keeps_anything_a_provider_is_known_to_refuse(schema: Node, definition: Node) -> None:
    whole = {**schema, "$defs": {"D": definition}}
    try:
        top = clean_schema(whole)
    except ToolsetError:
        return
    assert refusals(top) == []
    for node in nodes(top):
        if "$ref" in node:
            assert node["$ref"].removeprefix("#/$defs/") in top["$defs"]
