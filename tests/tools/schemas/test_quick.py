"""Schemas of common keywords are cleaned in one pass, exactly as the long way would clean them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_run import Tool
from react_run.errors import ToolsetError
from react_run.tools.schemas.cleaning import _Cleaner
from react_run.tools.schemas.modern import modernised
from react_run.tools.schemas.quick import quickly_cleaned

KINDS = ["array", "boolean", "integer", "null", "number", "object", "string"]
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    ["a"],
    ["a", 1],
    {},
    {"a": {}},
    {"type": "strange"},
    ["null"],
    [{}],
]
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from([*KINDS, ["string", "null"], ["null", "array", "object"], ["integer"], ["null", "null"]]),
    "description": st.sampled_from(["", "D."]),
    "title": st.just("T"),
    "default": st.sampled_from([None, 1, "x", [1], {"a": 1}]),
    "enum": st.lists(st.integers(), max_size=2),
    "required": st.lists(st.sampled_from(["a", "b", "größe"]), unique=True),
    "minimum": st.integers() | st.floats(allow_nan=False),
    "maxLength": st.integers(),
    "format": st.just("date"),
    "uniqueItems": st.booleans(),
    "x-own": st.just(1),
    "$schema": st.just("s"),
}
RARE = [
    "$anchor", "$defs", "$dynamicRef", "$id", "$recursiveRef", "$ref", "additionalItems", "allOf", "anyOf", "const",
    "contains", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "else", "example", "examples",
    "exclusiveMaximum", "exclusiveMinimum", "id", "if", "items", "maximum", "maxItems", "minContains", "minItems",
    "multipleOf", "not", "nullable", "oneOf", "pattern", "patternProperties", "prefixItems", "properties",
    "propertyNames", "readOnly", "then", "unevaluatedProperties", "unknown", *COMMON,
]  # fmt: skip


def _node(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    nested = {
        "properties": st.dictionaries(st.sampled_from(["a", "b", "title", "größe", "x y"]), inner, max_size=3),
        "items": inner,
        "additionalProperties": inner | st.booleans(),
        "anyOf": st.lists(inner, max_size=3),
    }
    common = st.lists(st.sampled_from([*COMMON, *nested]), unique=True, max_size=5).flatmap(
        lambda keys: st.fixed_dictionaries({key: {**COMMON, **nested}[key] for key in keys})
    )
    odd = st.dictionaries(st.sampled_from(RARE), st.sampled_from(ODD), max_size=1)
    return st.builds(lambda one, two: {**one, **two}, common, st.just({}) | odd)


SCHEMAS = st.recursive(_node(st.nothing() | st.just({"type": "string"})), _node, max_leaves=8)


@given(schema=SCHEMAS)
def test_both_ways_of_cleaning_return_the_same_text(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    quick = quickly_cleaned(schema)
    assert schema == before
    if quick is not None:
        assert json.dumps(quick) == json.dumps(_Cleaner(modernised(schema)).clean())
        assert json.dumps(quick) == json.dumps(_Cleaner(schema).clean())


@pytest.mark.parametrize("key", RARE)
def test_a_mistake_is_never_cleaned_away(key: str) -> None:
    for value in ODD:
        for schema in (
            {key: value},
            {"properties": {"p": {key: value}}},
            {"properties": {"p": {"items": {key: value}}}},
        ):
            try:
                expected = _Cleaner(modernised(schema)).clean()
            except ToolsetError:
                assert quickly_cleaned(schema) is None
            else:
                quick = quickly_cleaned(schema)
                assert quick is None or json.dumps(quick) == json.dumps(expected)


def test_what_common_schemas_hold_needs_no_long_way() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Search",
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "Words."},
            "tags": {"type": ["array", "null"], "items": {"type": "string", "enum": ["a", "b"]}, "default": None},
            "page": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert quickly_cleaned(schema) is not None


def test_nesting_that_could_not_be_checked_later_goes_the_long_way() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        schema = {"type": "object", "properties": {"a": schema}}
    assert quickly_cleaned(schema) is None


def test_changing_a_schema_later_changes_neither_what_is_sent_nor_checked() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = Tool(name="count", description="Counts.", parameters=schema, function=lambda n: n)
    schema["properties"]["n"]["type"] = "string"
    schema["required"].clear()
    assert tool.wire["function"]["parameters"]["properties"] == {"n": {"type": "integer"}}
    assert json.loads(tool.encoded) == tool.wire
    assert "required" in tool.prepare({}).problem
    assert tool.prepare({"n": 1}).problem == ""


@given(schema=SCHEMAS)
def test_a_tool_is_encoded_as_its_wire_form_says(schema: dict[str, Any]) -> None:
    try:
        tool = Tool(name="work", description='Says "ö".', parameters=schema, function=lambda **values: values)
    except ToolsetError:
        return
    before = tool.encoded
    assert json.loads(before) == tool.wire
    assert tool.encoded == before
