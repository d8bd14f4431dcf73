"""Arguments are read, repaired where nothing is lost, or refused with a way out (A1-A5, A7)."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator, model_validator

from react_run.errors import ToolsetError
from react_run.tools.arguments import decode_arguments
from react_run.tools.tool import Prepared, Tool

HERE = Path(__file__).parents[2] / "cases"
SCHEMAS = json.loads((HERE / "provider_tools.json").read_text("utf-8"))
RESPONSES = [json.loads(line) for line in (HERE / "provider_responses.jsonl").read_text("utf-8").splitlines()]
ARGUMENT_CASES = [pytest.param(case, id=case["name"]) for case in RESPONSES if case["kind"] == "args"]


def nothing(**_: object) -> None:
    """Do nothing."""


def schema_tool(parameters: dict[str, Any], name: str = "t") -> Tool:
    return Tool(name=name, description="A tool.", parameters=parameters, function=nothing)


def requested(case: dict[str, Any]) -> tuple[str, object]:
    function = case["input"]["choices"][0]["message"]["tool_calls"][0]["function"]
    raw = function.get("arguments")
    if isinstance(raw, dict):
        repeat = raw["__repeat__"]
        raw = repeat["prefix"] + repeat["unit"] * repeat["count"] + repeat["suffix"]
    return function["name"], raw


@pytest.mark.parametrize("case", ARGUMENT_CASES)
def test_arguments_as_providers_send_them(case: dict[str, Any]) -> None:
    name, raw = requested(case)
    prepared = schema_tool(SCHEMAS[name]["parameters"], name).prepare(raw)
    if case["expect"]["outcome"] == "execute":
        assert prepared.problem == ""
        assert prepared.arguments == case["expect"]["calls"][0]["args"]
        return
    (result,) = case["expect"]["results"]
    assert prepared.problem.startswith("Error: ")
    assert all(text in prepared.problem for text in result["contains"])
    assert len(prepared.problem) <= 2048


UNREADABLE = [
    ('{"a": NaN}', "NaN"),
    ('{"a": -Infinity}', "-Infinity"),
    ('{"a": 1e999}', "1e999"),
    ('{"a": {"b": 1, "b": 2}}', '"b" appears twice'),
    ('{"a": "\\ud83d"}', "surrogate"),
    ('{"a": "\ud83d"}', "surrogate"),
    ("[1, 2]", "must be a JSON object, not [1, 2]"),
    ("3", "must be a JSON object, not 3"),
    ("true", "must be a JSON object, not true"),
    ('"[1]"', "must be a JSON object, not [1]"),
    ('{"a": 1', "line 1, column 8"),
    ("[" * 100_000, "nested too deeply"),
    ('{"a": ' * 100_000, "nested too deeply"),
    (b"\xff", "not valid JSON"),
    (7, "must be a JSON object, not 7"),
]


@pytest.mark.parametrize(("raw", "text"), UNREADABLE, ids=lambda value: str(value)[:20])
def test_unreadable_arguments_are_never_guessed_at(raw: object, text: str) -> None:
    decoded = decode_arguments(raw)
    assert isinstance(decoded, str)
    assert text in decoded
    # A5: the model reads what is wrong, what it sent (at most 800 characters) and the required fields.
    problem = schema_tool(SCHEMAS["write_file"]["parameters"]).prepare(raw).problem
    assert text in problem
    assert "required parameters: path, content" in problem
    assert len(problem) < 1_300
    problem.encode()


READABLE: list[tuple[object, dict[str, object]]] = [
    (None, {}),
    ("", {}),
    (" \n", {}),
    ("null", {}),
    ('"null"', {}),
    ('""', {}),
    (b'{"a": 1}', {"a": 1}),
    ({"a": 1}, {"a": 1}),
    (' {"a": "line\none\ttwo\x00"} ', {"a": "line\none\ttwo\x00"}),
    (json.dumps(json.dumps({"a": {"b": "c"}})), {"a": {"b": "c"}}),
    ('{"a": "\\ud83c\\udf78", "b": "é"}', {"a": "🍸", "b": "é"}),
    ('{"a": 1.5e3, "b": 12345678901234567890}', {"a": 1500.0, "b": 12345678901234567890}),
]


@pytest.mark.parametrize(("raw", "arguments"), READABLE, ids=lambda value: str(value)[:20])
def test_readable_arguments_are_read(raw: object, arguments: dict[str, object]) -> None:
    assert decode_arguments(raw) == arguments


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = 0


class Described(BaseModel):
    type: str
    title: str = ""


class Strict(BaseModel, extra="forbid"):
    x: int


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: int


def everything(
    i: int = 1,
    n: float = 1.5,
    s: str = "s",
    b: bool = True,
    c: Colour = Colour.RED,
    w: Literal[1, 2] = 1,
    d: Decimal = Decimal(1),
    day: date = date(2025, 1, 1),
    many: list[int] | None = None,
    words: list[str] = [],  # noqa: B006  # pydantic copies it for each call
    points: list[Point] = [],  # noqa: B006  # as above
    table: dict[str, int] | None = None,
    p: Point | None = None,
    strict: Strict | None = None,
    either: int | str = 0,
    shape: Circle | Square | None = None,
    small: Annotated[int, Field(ge=1, le=10)] = 1,
    short: Annotated[str, Field(min_length=2, max_length=4)] = "ab",
    code: Annotated[str, Field(pattern="^[A-Z]+$")] = "A",
    dozens: Annotated[int, Field(multiple_of=12)] = 12,
    pair: tuple[int, str] = (1, "a"),
    anything: Any = None,
) -> None:
    """Take one of each."""


FUNCTION = Tool.from_function(everything)
SCHEMA = schema_tool({**json.loads(json.dumps(FUNCTION.wire["function"]["parameters"]))})

# Argument, value sent, value after repair (A1, A2). The same for a function (pydantic decides) and for the schema made
# of it, taken as written by hand (jsonschema decides), as A7 demands.
REPAIRED: list[tuple[str, object, object]] = [
    ("i", "5", 5),
    ("i", " 5 ", 5),
    ("i", "-5", -5),
    ("i", 1.0, 1),
    ("i", "1.0", 1),
    ("i", "1e3", 1000),
    ("n", "2", 2),
    ("n", "2.5", 2.5),
    ("s", 3, "3"),
    ("b", "true", True),
    ("b", "False", False),
    ("w", "2", 2),
    ("many", 5, [5]),
    ("many", "5", [5]),
    ("many", "[1, 2]", [1, 2]),
    ("many", '[1, "2"]', [1, 2]),
    ("many", ["1", 2.0], [1, 2]),
    ("many", "null", None),
    ("words", "one", ["one"]),
    ("words", 7, ["7"]),
    ("words", '["a"]', ["a"]),
    ("points", {"x": 1}, [{"x": 1}]),
    ("points", '{"x": "1"}', [{"x": 1}]),
    ("points", [{"x": "1", "y": None}], [{"x": 1}]),
    ("table", '{"a": "1"}', {"a": 1}),
    ("table", {"a": "1"}, {"a": 1}),
    ("p", '{"x": 1}', {"x": 1}),
    ("p", {"x": "1"}, {"x": 1}),
    ("p", {"x": 1, "y": {"type": "integer"}}, {"x": 1}),
    ("either", 1.0, 1),
    ("shape", {"kind": "square", "side": "2"}, {"kind": "square", "side": 2}),
    ("shape", '{"kind": "circle", "radius": "2.5"}', {"kind": "circle", "radius": 2.5}),
]
TOOLS = [pytest.param(FUNCTION, id="function"), pytest.param(SCHEMA, id="schema")]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("name", "sent", "repaired"), REPAIRED, ids=lambda value: str(value)[:24])
def test_what_loses_nothing_is_repaired_and_noted(tool: Tool, name: str, sent: object, repaired: object) -> None:
    prepared = tool.prepare({name: sent})
    assert prepared.problem == ""
    expected = {"x": 1, "y": 0} if name == "p" and tool is SCHEMA and "'y'" in str(sent) else repaired
    if name == "points" and tool is SCHEMA and "y" in str(sent):
        expected = [{"x": 1, "y": 0}]  # only the schema knows the default here
    assert repr(prepared.arguments[name]) == repr(expected)
    assert any(name in note for note in prepared.repairs)


# Argument, value sent, what the model is told of it.
REFUSED: list[tuple[str, object, str]] = [
    ("i", 3.5, "i must be an integer, got 3.5"),
    ("i", True, "i must be an integer, got true"),
    ("i", "five", 'i must be an integer, got "five"'),
    ("i", "007", 'i must be an integer, got "007"'),
    ("i", "1_000", 'i must be an integer, got "1_000"'),
    ("i", "1.00000000000000000001", "i must be an integer"),
    ("i", "1e999999999", "i must be an integer"),
    ("i", "9" * 5000, "i must be an integer"),
    ("i", "", 'i must be an integer, got ""'),
    ("n", "nan", 'n must be a number, got "nan"'),
    ("n", "inf", 'n must be a number, got "inf"'),
    ("n", False, "n must be a number, got false"),
    ("s", 3.5, "s must be a string, got 3.5"),
    ("s", True, "s must be a string, got true"),
    ("s", ["a"], 's must be a string, got ["a"]'),
    ("b", 1, "b must be true or false, got 1"),
    ("b", "yes", 'b must be true or false, got "yes"'),
    ("c", "RED", 'c must be one of "red", "blue", got "RED"'),
    ("w", 3, "w must be one of 1, 2, got 3"),
    ("many", ["x"], 'many[0] must be an integer, got "x"'),
    ("many", '["a", "a": 1]', "many must be a list or null"),
    ("table", {"a": "x"}, 'table.a must be an integer, got "x"'),
    ("p", {}, "p.x is required"),
    ("p", {"x": "y"}, 'p.x must be an integer, got "y"'),
    ("strict", {"x": 1, "z": 2}, "strict.z is not a parameter"),
    ("either", True, "either must be an integer or a string, got true"),
    ("shape", {"kind": "square", "side": "big"}, 'shape.side must be an integer, got "big"'),
    ("small", 11, "small must be at most 10, got 11"),
    ("small", "0", "small must be at least 1, got 0"),
    ("short", "a", 'short must have at least 2 characters, got "a"'),
    ("short", "abcde", "short must have at most 4 characters"),
    ("code", "a1", 'code must match the pattern "^[A-Z]+$", got "a1"'),
    ("dozens", 7, "dozens must be a multiple of 12, got 7"),
]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("name", "sent", "told"), REFUSED, ids=lambda value: str(value)[:24])
def test_what_would_lose_something_is_refused_in_the_same_words(tool: Tool, name: str, sent: object, told: str) -> None:
    prepared = tool.prepare({name: sent})
    assert prepared.problem.startswith(f"Error: invalid arguments for {tool.name}: {told}")
    assert prepared.arguments.get(name) is not None


def test_typed_values_come_from_pydantic() -> None:
    prepared = FUNCTION.prepare(
        '{"c": "blue", "d": "0.1", "day": "2025-03-04", "p": {"x": 1}, "pair": [2, "b"], "either": "1", "n": 2}'
    )
    got = prepared.kwargs
    assert (got["c"], got["d"], got["day"]) == (Colour.BLUE, Decimal("0.1"), date(2025, 3, 4))
    assert (got["p"], got["pair"], got["either"]) == (Point(x=1), (2, "b"), "1")
    assert isinstance(got["n"], float)
    assert prepared.arguments["c"] == "blue"


def weather(city: str, days: int = 3) -> str:
    """Weather."""
    return f"{city}/{days}"


WEATHER = Tool.from_function(weather)


def test_an_echoed_piece_of_the_schema_means_the_default() -> None:
    # A1
    prepared = WEATHER.prepare({"city": "Paris", "days": {"type": "integer"}})
    assert (prepared.kwargs, prepared.problem) == ({"city": "Paris", "days": 3}, "")
    assert "days" in prepared.repairs[0]
    written = schema_tool({"properties": {"days": {"type": "integer", "default": 3}}})
    assert written.prepare({"days": {"title": "Days", "type": "integer"}}).kwargs == {"days": 3}


@pytest.mark.parametrize(
    "echo",
    [
        {"type": "integer"},
        {"type": ["integer", "null"]},
        {"title": "Days", "type": "integer", "default": 3},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"$ref": "#/$defs/Days"},
        {"enum": [1, 2]},
    ],
)
def test_every_way_to_echo_the_schema_is_seen(echo: object) -> None:
    # A1
    assert WEATHER.prepare({"city": "Paris", "days": echo}).kwargs["days"] == 3


@pytest.mark.parametrize("value", [{}, {"value": 3}, {"type": "big"}, {"type": 3}, {"items": [1]}, {"format": "3"}])
def test_an_object_that_is_no_schema_is_an_error(value: object) -> None:
    assert "days must be an integer" in WEATHER.prepare({"city": "Paris", "days": value}).problem


def test_an_echo_for_a_required_parameter_is_an_error_that_names_it() -> None:
    # A1
    for tool in (WEATHER, schema_tool(WEATHER.wire["function"]["parameters"], "weather")):
        problem = tool.prepare({"city": {"type": "string", "description": "A city."}}).problem
        assert "city send a value (a string), not a piece of the schema" in problem


def test_an_object_that_only_looks_like_a_schema_is_kept() -> None:
    def draw(shape: Described, data: dict[str, Any]) -> None:
        """Draw."""

    prepared = Tool.from_function(draw).prepare({"shape": {"type": "string"}, "data": {"type": "object"}})
    assert prepared.problem == ""
    assert prepared.repairs == ()


def test_null_for_an_optional_parameter_means_its_default() -> None:
    assert WEATHER.prepare({"city": "Paris", "days": None}).kwargs["days"] == 3


def test_invented_parameters_are_left_out_and_named_once() -> None:
    # A3
    prepared = WEATHER.prepare({"city": "Paris", "units": "metric", "lang": "fr"})
    assert prepared.arguments == {"city": "Paris"}
    assert [note for note in prepared.repairs if "units" in note] == [
        '"units" is not a parameter of weather and was left out'
    ]
    again = WEATHER.prepare(prepared.arguments)
    assert (again.problem, again.repairs) == ("", ())


def test_additional_parameters_are_passed_on_where_the_schema_allows_them() -> None:
    # A3
    def open_ended(city: str, **more: Any) -> None:
        """Take more."""

    made = Tool.from_function(open_ended)
    assert made.prepare({"city": "x", "z": 1}).kwargs == {"city": "x", "z": 1}
    assert made.wire["function"]["parameters"]["additionalProperties"] is True
    assert schema_tool({"properties": {"a": {}}}).prepare({"a": 1, "z": 1}).kwargs == {"a": 1, "z": 1}


def test_a_missing_parameter_is_named_first_and_never_invented() -> None:
    # A4
    problem = WEATHER.prepare({"days": "x", "town": "Paris"}).problem
    assert problem == (
        'Error: invalid arguments for weather: city is required; days must be an integer, got "x". '
        'There is no parameter "town". Parameters: city (required: a string), days (an integer). '
        "Correct the arguments and call it again."
    )


def test_at_most_three_problems_are_told() -> None:
    # A4
    problem = FUNCTION.prepare({"i": "x", "n": "x", "b": "x", "c": "x", "w": "x"}).problem
    assert problem.count("got") == 3
    assert "; and 2 more." in problem


def test_problems_stay_short_however_large_the_arguments_are() -> None:
    problem = FUNCTION.prepare({"i": "x" * 10**6, "many": ["y"] * 10**4, "p": {"k" * 10**5: 1}}).problem
    assert len(problem) < 2_500
    assert len(FUNCTION.prepare({"many": ["1"] * 1000}).repairs) == 6


def test_control_characters_do_not_come_back_raw() -> None:
    for raw in ({"i": "\x1b[31m"}, '{"i": "\x1b[31m"', {"\x1b[31m": 1, "i": "x"}):
        assert "\x1b" not in FUNCTION.prepare(raw).problem


def test_what_a_tool_does_to_its_arguments_stays_with_the_tool() -> None:
    sent: dict[str, object] = {"many": [1], "table": {"a": 1}, "anything": {"deep": [1]}}
    for tool in (FUNCTION, SCHEMA):
        prepared = tool.prepare(sent)
        prepared.kwargs["anything"]["deep"].append(2)  # type: ignore[index]  # what a tool may do
        prepared.kwargs["many"].append(2)  # type: ignore[attr-defined]  # as above
        prepared.arguments["table"]["b"] = 2  # type: ignore[index]  # what a plugin may do
        assert sent == {"many": [1], "table": {"a": 1}, "anything": {"deep": [1]}}
        assert prepared.arguments["anything"] == {"deep": [1]}


def test_half_a_surrogate_pair_is_a_problem_not_a_crash() -> None:
    for tool in (FUNCTION, SCHEMA):
        problem = tool.prepare({"s": "caf\udce9"}).problem
        assert problem.startswith("Error: invalid arguments")
        problem.encode()


def test_arguments_from_code_that_are_no_json_are_a_problem() -> None:
    endless: dict[str, object] = {}
    endless["anything"] = endless
    for sent in ({"anything": object()}, endless, {"n": math.nan}):
        assert FUNCTION.prepare(sent).problem.startswith("Error: ")


def test_very_deep_arguments_are_a_problem_not_a_crash() -> None:
    deep = "[" * 700 + "]" * 700
    for tool in (FUNCTION, SCHEMA, WEATHER):
        prepared = tool.prepare(f'{{"anything": {deep}}}')
        assert isinstance(prepared, Prepared)


class Validated(BaseModel):
    tags: list[str]
    start: int = 0
    end: int = 1

    @field_validator("tags", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        return value.split(",") if isinstance(value, str) else value

    @field_validator("start")
    @classmethod
    def lookup(cls, value: int) -> int:
        return {0: 0, 1: 1}[value]

    @model_validator(mode="after")
    def ordered(self) -> Validated:
        if self.start > self.end:
            raise ValueError("start comes after end")
        return self


def test_validators_of_a_model_decide_before_any_repair() -> None:
    # A7
    made = Tool.from_model(Validated, nothing, name="v", description="V.")
    assert made.prepare({"tags": "a,b"}).args == ("v", Validated(tags=["a", "b"]))
    assert made.prepare({"tags": "a,b"}).repairs == ()
    assert "start comes after end" in made.prepare({"tags": [], "start": 1, "end": 0}).problem
    assert "could not be checked: KeyError" in made.prepare({"tags": [], "start": 9}).problem


class Speechless(Exception):
    def __str__(self) -> str:
        raise TypeError("no")


def test_a_validator_whose_error_cannot_be_told_ends_no_run() -> None:
    class Picky(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def never(cls, value: int) -> int:
            raise Speechless

    made = Tool.from_model(Picky, nothing, name="p", description="P.")
    assert 'could not be checked: Speechless: "(no message)"' in made.prepare({"x": 1}).problem


class Old(BaseModel):
    query: str

    @model_validator(mode="before")
    @classmethod
    def renamed(cls, data: dict[str, object]) -> dict[str, object]:
        return {"query": data["q"]} if "q" in data else data


def test_a_model_that_reads_old_names_gets_them() -> None:
    assert Tool.from_model(Old, nothing, name="o", description="O.").prepare({"q": "x"}).args[1] == Old(query="x")


def test_jsonschema_decides_for_schemas_written_by_hand() -> None:
    # A7: constraints that are not told to the model are still checked.
    made = schema_tool(
        {
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
                "b": {"not": {"const": 1}},
            },
            "dependentRequired": {"b": ["a"]},
        }
    )
    assert "uniqueItems" not in json.dumps(made.wire)
    assert "a " in made.prepare({"a": [1, 1]}).problem
    assert made.prepare({"b": 1}).problem
    assert made.prepare({"a": [1], "b": 2}).problem == ""


def test_a_broken_schema_is_refused_when_the_tool_is_made() -> None:
    with pytest.raises(ToolsetError, match="'minLength' of the schema is \"two\""):
        schema_tool({"properties": {"a": {"type": "string", "minLength": "two"}}})


def test_nothing_is_imported_or_fetched_before_a_schema_needs_it() -> None:
    # A7
    code = (
        "import sys; from react_run.tools.tool import Tool; import react_run.tools.toolset\n"
        "def f(a: int) -> int:\n '''F.'''\n return a\n"
        "assert Tool.from_function(f).prepare({'a': '1'}).kwargs == {'a': 1}\n"
        "print([name for name in ('jsonschema', 'docstring_parser', 'referencing', 'asyncio') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(FUNCTION.wire["function"]["parameters"]["properties"])), value=JSON)
def test_no_value_breaks_preparation_and_repairing_twice_changes_nothing(name: str, value: object) -> None:
    for tool in (FUNCTION, SCHEMA):
        prepared = tool.prepare({name: value})
        prepared.problem.encode()
        if not prepared.problem:
            again = tool.prepare(prepared.arguments)
            assert (again.problem, again.repairs) == ("", ())
            assert again.arguments == prepared.arguments


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text() | st.text(alphabet='{}[]":,ab1 \\untrue'))
def test_no_text_breaks_decoding(raw: str) -> None:
    decoded = decode_arguments(raw)
    assert isinstance(decoded, dict | str)
    json.dumps(decoded, ensure_ascii=False).encode()


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
@pytest.mark.parametrize("others", [[], [{"const": "x"}], [{"type": "string"}, {"type": "null"}]])
def test_an_alternative_that_allows_nothing_breaks_no_message(keyword: str, others: list[object]) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"b": {keyword: [*others, False]}}}
    problem = schema_tool(schema).prepare({"b": 1}).problem
    assert problem.startswith("Error: invalid arguments for t: b ")
