"""Tools from JSON Schemas as the world writes them: what is offered, what is checked, and what a model is told."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

import pytest
from tests.models.request_rules import schema_violations

from react_run import Tool, ToolsetError, ToolWarning
from react_run.testing import calls, run_agent, says

GOT: list[dict[str, object]] = []


def record(**arguments: object) -> str:
    GOT.append(arguments)
    return "ran"


def tool_of(properties: Mapping[str, object], **more: object) -> Tool:
    schema = {"type": "object", "properties": properties, **more}
    return Tool(name="t", description="d", parameters=schema, function=record)


def go(made: Tool, arguments: object) -> tuple[list[dict[str, object]], str]:
    """What the tool got of one call, and what the model reads."""
    GOT.clear()
    run = run_agent([calls((made.name, arguments)), says("x")], tools=[made])  # type: ignore[arg-type]  # any JSON
    return [*GOT], run.steps[0].observation


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "default": None},
        {"type": "boolean", "default": "false"},
        {"enum": ["a", "b"], "default": ""},
        {"type": "integer", "default": "ten"},
        {"type": "string"},
    ],
)
@pytest.mark.parametrize("value", [None, {"type": "integer"}])
def test_null_for_an_optional_parameter_means_left_out(part: dict[str, object], value: object) -> None:
    got, _ = go(tool_of({"a": part}), {"a": value})
    assert got == [{}]


def test_null_is_left_out_one_level_down() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string", "default": None}}}
    assert go(tool_of({"a": inner}), {"a": {"b": None}})[0] == [{"a": {}}]


def test_a_default_that_fits_is_used() -> None:
    assert go(tool_of({"a": {"type": "integer", "default": 3}}), {"a": None})[0] == [{"a": 3}]


OLD = [
    ({"a": {"type": "string", "nullable": True}}, {"a": None}),
    ({"a": {"type": "string", "nullable": True, "enum": ["x"]}}, {"a": None}),
    ({"a": {"$ref": "#/definitions/N", "nullable": True}}, {"a": None}),
    ({"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}, {"a": 1}),
    ({"a": {"type": "array", "items": [{"type": "number"}]}}, {"a": [1]}),
    ({"a": {"type": "string", "pattern": r"^\p{L}+$"}}, {"a": "x"}),
    ({"a": {"type": "string", "required": True}}, {"a": "x"}),
    ({"a": {"type": "object", "dependencies": {"b": ["c"]}}}, {"a": {"b": 1, "c": 2}}),
    ({"a": {"$recursiveRef": "#"}}, {"a": {"a": {}}}),
    ({"a": {"$ref": "#node"}}, {"a": "x"}),
]


@pytest.mark.parametrize(("properties", "arguments"), OLD)
def test_older_spellings_are_offered_and_checked_alike(
    properties: dict[str, object], arguments: dict[str, object]
) -> None:
    definitions = {"N": {"type": "string", "$anchor": "node"}, "broken": {"exclusiveMinimum": True, "type": "nothing"}}
    made = tool_of(properties, definitions=definitions, components={"schemas": {"x": "y"}})
    assert go(made, arguments)[0] == [arguments]
    assert [*schema_violations(made.wire["function"]["parameters"])] == []
    assert "components" not in made.wire["function"]["parameters"]


@pytest.mark.parametrize(
    ("properties", "arguments"),
    [
        ({"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}, {"a": 0}),
        ({"a": {"type": "array", "items": [{"type": "number"}], "additionalItems": False}}, {"a": [1, 2]}),
        ({"a": {"type": "object", "dependencies": {"b": ["c"]}}}, {"a": {"b": 1}}),
        ({"a": {"type": "string", "nullable": True, "enum": ["x"]}}, {"a": "y"}),
    ],
)
def test_what_they_forbid_is_still_refused(properties: dict[str, object], arguments: dict[str, object]) -> None:
    got, told = go(tool_of(properties, required=["a"]), arguments)
    assert got == []
    assert "invalid arguments for t: a" in told


BROKEN = [{"type": "int"}, {"minLength": "two"}, {"enum": "ab"}, {"properties": []}, {"items": 3}, {"$ref": "#/none"}]


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_schema_is_refused_when_the_tool_is_made(part: dict[str, object]) -> None:
    with pytest.raises(ToolsetError, match="tool 't': ") as caught:
        tool_of({"a": part})
    assert caught.value.code == "tool.schema"


def test_only_the_definitions_that_are_reached_are_looked_at() -> None:
    many = {f"D{number}": {"type": "object", "properties": {"x": {"type": "string"}}} for number in range(20_000)}
    made = tool_of({"a": {"$ref": "#/$defs/D7"}}, **{"$defs": many})
    begin = time.process_time()
    assert made.prepare({"a": {"x": "y"}}).problem == ""
    assert time.process_time() - begin < 1  # it was six seconds, on the event loop


def test_star_arguments_are_a_list() -> None:
    def total(*numbers: float) -> float:
        """Add numbers."""
        return sum(numbers)

    def joined(first: int, *rest: str, mark: str = "-") -> str:
        """Join."""
        return mark.join([str(first), *rest])

    adds, joins = Tool.from_function(total), Tool.from_function(joined)
    assert adds.parameters["properties"]["numbers"]["items"] == {"type": "number"}
    result = run_agent([calls(("total", {"numbers": [1, 2, 3]})), says("x")], tools=[adds])
    assert result.steps[0].observation == "6.0"
    call = joins.prepare({"first": 1, "rest": ["a", "b"], "mark": "+"})
    assert joined(*call.args, **call.kwargs) == "1+a+b"  # type: ignore[arg-type]  # as the runtime calls it


@pytest.mark.parametrize("text", ['["x", "y"', "['x', 'y']", '{"x": 1', "[x]"])
@pytest.mark.parametrize("part", [{"type": "array", "items": {"type": "string"}}, {"type": "array"}])
def test_broken_json_is_no_lone_item_of_a_list(text: str, part: dict[str, object]) -> None:
    got, told = go(tool_of({"a": part}), {"a": text})
    assert got == []
    assert "a must be a list" in told


def test_a_lone_text_still_is_one() -> None:
    assert go(tool_of({"a": {"type": "array", "items": {"type": "string"}}}), {"a": "x"})[0] == [{"a": ["x"]}]


HAS_N = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOPS: list[dict[str, object]] = [
    {"allOf": [{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}]},
    {
        "$ref": "#/$defs/T",
        "$defs": {"T": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
    },
    {"type": "object", "oneOf": [{"properties": {"n": {"type": "integer"}}, "required": ["n"]}]},
]


@pytest.mark.parametrize("schema", TOPS)
def test_parameters_are_named_whatever_the_top_is(schema: dict[str, object]) -> None:
    made = Tool(name="t", description="d", parameters=schema, function=record)
    assert "Parameters: n (required: an integer)" in go(made, {})[1]
    assert "required parameters: n" in go(made, "{broken")[1]
    assert go(made, {"n": "3"})[0] == [{"n": 3}]


def test_what_stands_in_all_of_is_repaired() -> None:
    part = {"allOf": [{"type": "integer"}], "description": "how many"}
    assert go(tool_of({"x": part}), {"x": "3"})[0] == [{"x": 3}]
    assert "x (an integer)" in go(tool_of({"x": part}), {"x": "three"})[1]


PROPERTIES = ["project_ids[]", "+1", "año_vehiculo", "$filter", "@type", "a b", "名前", "x" * 70, "plain", "dot.ted"]


def test_property_names_are_made_valid_and_mapped_back() -> None:
    made = tool_of({name: {"type": "string"} for name in PROPERTIES}, required=PROPERTIES)
    sent = made.wire["function"]["parameters"]
    assert all(re.fullmatch("[a-zA-Z0-9_.-]{1,64}", name) for name in sent["properties"])
    assert sorted(sent["required"]) == sorted(sent["properties"])
    assert go(made, dict.fromkeys(sent["properties"], "v"))[0] == [dict.fromkeys(PROPERTIES, "v")]
    assert go(made, dict.fromkeys(PROPERTIES, "v"))[0] == [dict.fromkeys(PROPERTIES, "v")]


def test_nested_names_are_mapped_back_and_data_is_left_alone() -> None:
    inner = {"type": "object", "properties": {"$a": {"type": "integer"}, "a": {"type": "integer"}}}
    made = tool_of({"list[]": {"type": "array", "items": inner}, "free": {"type": "object"}})
    sent = made.wire["function"]["parameters"]["properties"]
    assert [*sent["list"]["items"]["properties"]] == ["a_2", "a"]
    got, _ = go(made, {"list": [{"a_2": "1", "a": 2}], "free": {"list": 1, "a_2": 2}})
    assert got == [{"list[]": [{"$a": 1, "a": 2}], "free": {"list": 1, "a_2": 2}}]


@pytest.mark.parametrize("name", ["math.factorial", "weather/get", "a b", "größe", "x" * 65, "取得"])
def test_tool_names_are_made_valid_and_mapped_back(name: str) -> None:
    made = Tool(name=name, description="d", parameters={"type": "object", "properties": {}}, function=record)
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", made.wire["function"]["name"])
    assert made.own_name == name
    for asked in (name, made.name):
        result = run_agent([calls((asked, {})), says("x")], tools=[made])
        assert (result.steps[0].executed, result.steps[0].action) == (True, made.name)


def test_a_long_description_is_cut_with_a_warning() -> None:
    words = "word " * 400
    with pytest.warns(ToolWarning, match="2000 characters; providers accept 1024"):
        made = Tool(name="t", description=words, parameters={"type": "object", "properties": {}}, function=record)
    sent = made.wire["function"]["description"]
    assert 1000 < len(sent) <= 1024
    assert sent.endswith("word…")
