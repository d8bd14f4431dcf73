"""Functions become tools: schema, description, promises and calls."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field

from react_run.errors import ToolsetError
from react_run.support.render import render
from react_run.testing import calls, run_agent, says
from react_run.tools.annotations import ToolAnnotations, ToolOptions
from react_run.tools.tool import Tool, ToolWarning, is_tool, tool

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "tool_signatures.jsonl").read_text("utf-8").splitlines()
]
Case = dict[str, Any]


def function_of(case: Case) -> Callable[..., object]:
    module: dict[str, Any] = {"__name__": "cases"}
    exec(compile(case["code"], case["name"], "exec", dont_inherit=True), module)
    function: Callable[..., object] = module[case["tool"]]
    return function


def called(made: Tool, arguments: object) -> object:
    prepared = made.prepare(arguments)
    assert not prepared.problem
    result = made.function(*prepared.args, **prepared.kwargs)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def made_from(case: Case) -> tuple[Tool, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = Tool.from_function(function_of(case))
        _ = made.wire
    assert all(issubclass(warning.category, ToolWarning) for warning in caught)
    return made, [str(warning.message) for warning in caught]


SCHEMA_KEYS = ("properties", "required", "additionalProperties")
FLAGS = {"name", "one_of", "result_json", "warn"}
GOOD = [pytest.param(case, id=case["name"]) for case in CASES if "error" not in case["expect"]]
BAD = [pytest.param(case, id=case["name"]) for case in CASES if "error" in case["expect"]]


@pytest.mark.parametrize("case", GOOD)
def test_a_signature_becomes_the_schema_a_model_is_told(case: Case) -> None:
    expect, flags = case["expect"], case["expect"].get("flags", [])
    assert expect.keys() <= {*SCHEMA_KEYS, "description", "flags"}
    made, warned = made_from(case)
    parameters = made.wire["function"]["parameters"]
    if "one_of" in flags:
        # H4: providers refuse oneOf, so its members are told as anyOf.
        assert len(parameters["properties"]["v"].pop("anyOf")) == 2
    assert {"required": [], **parameters} == {"type": "object", **{key: expect[key] for key in SCHEMA_KEYS}}
    assert "$ref" not in json.dumps(parameters)
    if "description" in expect:
        assert made.description == expect["description"]
    for flag in flags:
        kind, _, value = flag.partition(":")
        assert kind in FLAGS
        assert kind != "warn" or any(value in text for text in warned), warned
        assert kind != "name" or made.name == value
    assert warned == [] or any(flag.startswith("warn:") for flag in flags)


@pytest.mark.parametrize("case", GOOD)
def test_a_call_gets_typed_values_or_a_problem(case: Case) -> None:
    made, _ = made_from(case)
    for call in case["calls"]:
        if not call["ok"]:
            assert made.prepare(call["args"]).problem.startswith(f"Error: invalid arguments for {made.name}: ")
            continue
        result = called(made, call["args"])
        if "result_json" in case["expect"].get("flags", []):
            result = json.loads(render(result))
        assert result == call["result"]
        assert type(result) is type(call["result"])


@pytest.mark.parametrize("case", BAD)
def test_a_function_that_is_no_tool_is_refused_when_the_tool_is_made(case: Case) -> None:
    assert case["expect"].keys() == {"error", "contains"}
    with pytest.raises(ToolsetError) as caught:
        Tool.from_function(function_of(case))
    assert caught.value.code == case["expect"]["error"]
    assert all(text in str(caught.value) for text in case["expect"]["contains"])


class Run:
    __react_context__: ClassVar[str] = "run"


class ToolCall:
    __react_context__: ClassVar[str] = "call"


def test_what_the_runtime_fills_is_no_parameter_of_the_model() -> None:
    def save(text: str, run: Run, call: ToolCall | None = None) -> str:
        """Save."""
        return text

    made = Tool.from_function(save)
    assert made.context == {"run": "run", "call": "call"}
    assert [*made.parameters["properties"]] == ["text"]
    assert made.prepare({"text": "x", "run": "forged"}).kwargs == {"text": "x"}


def test_a_run_imported_for_type_checking_only_is_recognised_by_its_name() -> None:
    module: dict[str, Any] = {"__name__": "elsewhere"}
    code = "def f(a: int, run: Run, call: 'react_run.ToolCall | None' = None) -> int:\n    'F.'\n    return a\n"
    exec(compile("from __future__ import annotations\n" + code, "elsewhere", "exec", dont_inherit=True), module)
    assert Tool.from_function(module["f"]).context == {"run": "run", "call": "call"}


def test_positional_parameters_are_passed_by_position() -> None:
    def divide(a: int, b: int = 2, /, *rest: int, digits: int = 0) -> str:
        """Divide."""
        return f"{a}/{b}/{rest}/{digits}"

    made = Tool.from_function(divide)
    assert [*made.parameters["properties"]] == ["a", "b", "rest", "digits"]
    assert called(made, {"a": 1, "digits": 3}) == "1/2/()/3"
    assert called(made, {"a": 1, "rest": [7, 8]}) == "1/2/(7, 8)/0"


def test_a_parameter_may_have_an_alias() -> None:
    def search(from_: Annotated[str, Field(alias="from")], _hidden: int = 1) -> str:
        """Search."""
        return f"{from_}{_hidden}"

    made = Tool.from_function(search)
    assert [*made.parameters["properties"]] == ["from", "_hidden"]
    assert called(made, {"from": "x", "_hidden": "2"}) == "x2"


def test_what_a_partial_binds_never_reaches_the_model() -> None:
    def fetch(url: str, *, key: str, retries: int = 1) -> str:
        """Fetch."""
        return f"{url} {key} {retries}"

    made = Tool.from_function(functools.partial(functools.partial(fetch, key="secret"), retries=2))
    assert "secret" not in json.dumps(made.wire)
    assert [*made.parameters["properties"]] == ["url"]
    assert called(made, {"url": "u", "key": "other"}) == "u secret 2"


def test_a_default_that_cannot_be_copied_is_passed_as_it_is() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]  # what makes pydantic copy it

        def __init__(self) -> None:
            self.lock = threading.Lock()

    given = Unhashable()

    def work(a: int, tool: object = given) -> bool:
        """Work."""
        return tool is given

    assert called(Tool.from_function(work), {"a": 1}) is True


class Opaque:
    pass


@pytest.mark.parametrize("annotation", [Opaque, Callable[[int], int], list[Opaque], Literal])
def test_a_type_without_a_schema_is_reported_with_function_and_parameter(annotation: object) -> None:
    def work(good: int, bad: object) -> None:
        """Work."""

    work.__annotations__["bad"] = annotation
    with pytest.raises(ToolsetError, match="'work'") as caught:
        Tool.from_function(work)
    assert caught.value.code == "tool.annotation"


def test_a_parameter_description_in_the_annotation_wins_over_the_docstring() -> None:
    def work(a: Annotated[int, Field(description="from the type")], b: int) -> None:
        """Work hard.

        Args:
            a: From the docstring.
            b: From the docstring: with a colon.
            c: Of no parameter.

        Raises:
            ValueError: Never told to the model.
        """

    made = Tool.from_function(work)
    assert made.description == "Work hard."
    properties = made.wire["function"]["parameters"]["properties"]
    assert [properties[name]["description"] for name in "ab"] == ["from the type", "From the docstring: with a colon."]


@pytest.mark.parametrize("name", ["", " ", "()", "<lambda>", "\n"])
def test_a_name_of_which_nothing_is_left_is_refused(name: str) -> None:
    # H4
    with pytest.raises(ToolsetError, match="64") as caught:
        Tool(name=name, description="D.", parameters={}, function=print)
    assert caught.value.code == "tool.name"
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 64])
def test_a_name_that_every_provider_takes_is_kept(name: str) -> None:
    assert Tool(name=name, description="D.", parameters={}, function=print).wire["function"]["name"] == name


def test_a_schema_that_is_none_is_reported_with_the_name_of_the_tool() -> None:
    with pytest.raises(ToolsetError, match="tool 'odd': 'str' is not a type"):
        Tool(name="odd", description="D.", parameters={"properties": {"a": {"type": "str"}}}, function=print)


def test_a_schema_given_later_is_made_when_it_is_looked_at_and_once() -> None:
    made: list[int] = []

    def schema() -> dict[str, Any]:
        made.append(1)
        return {"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}

    tool = Tool.from_schema(schema, lambda a: a + 1, name="add", description="Adds one.", read_only=True)
    assert made == []
    assert tool.prepare({"a": "2"}).kwargs == {"a": 2}
    assert tool.wire["function"]["parameters"]["type"] == "object"
    assert tool.parameters["required"] == ["a"]
    assert made == [1]


def test_a_schema_given_later_that_is_none_is_reported_with_the_name_of_the_tool() -> None:
    tool = Tool.from_schema(lambda: {"properties": {"a": {"type": "str"}}}, print, name="odd", description="D.")
    with pytest.raises(ToolsetError, match=r"tool 'odd': 'str' is not a type"):
        _ = tool.wire


def test_a_schema_that_does_not_say_that_it_is_an_object_reaches_a_model() -> None:
    tool = Tool(
        name="x", description="D.", parameters={"properties": {"a": {"type": "string"}}}, function=lambda **_: 1
    )
    result = run_agent([calls(("x", {"a": "b"})), says("done")], tools=[tool])
    assert result.steps[0].observation == "1"


def test_the_mark_leaves_the_function_as_it_was() -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool(name="plus", description="Adds.", read_only=True, timeout=3)
    async def add_later(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert add(1, 2) == 3
    assert asyncio.run(add_later(1, 2)) == 3
    assert is_tool(add)
    assert not is_tool(print)
    made = Tool.from_function(add_later)
    assert (made.name, made.description, made.read_only, made.timeout) == ("plus", "Adds.", True, 3)
    assert (made.is_async, Tool.from_function(add).is_async) == (True, False)
    assert Tool.from_function(add_later, name="other", read_only=False).read_only is False


def test_whatever_is_awaited_is_known_to_be_async() -> None:
    class Caller:
        """Call."""

        async def __call__(self, a: int) -> int:
            return a

        async def method(self, a: int) -> int:
            """Call."""
            return a

    async def later(a: int, b: int) -> int:
        """Call."""
        return a + b

    for function in (Caller(), Caller().method, later, functools.partial(later, 1)):
        assert Tool.from_function(function).is_async


def test_every_promise_can_be_made_in_every_way() -> None:
    assert {flag.name for flag in fields(ToolAnnotations)} == {*ToolOptions.__annotations__}
    assert ToolAnnotations().read_only is None, "unknown is not a promise"


def test_a_tool_is_told_the_same_way_every_time() -> None:
    # L7: computed once, so prompts stay the same.
    def work(a: int) -> None:
        """Work."""

    made = Tool.from_function(work)
    assert made.wire is made.wire
    assert made.parameters is made.parameters
    renamed = replace(made, name="other")
    assert renamed.wire["function"] == {**made.wire["function"], "name": "other"}
    assert renamed.prepare({"a": "1"}).kwargs == {"a": 1}
    assert copy.copy(made).wire == made.wire
    assert made == made
    assert made != copy.copy(made)


def test_a_component_may_hold_tools() -> None:
    def work(a: int) -> None:
        """Work."""

    class Holder(BaseModel):
        tools: list[Tool]

    made = Tool.from_function(work)
    assert Holder(tools=[made]).tools[0] is made


def test_the_model_of_the_arguments_is_there_for_wrappers() -> None:
    def work(a: int, copy: str = "x") -> None:
        """Work."""

    model = Tool.from_function(work).parameter_class
    assert model is not None
    assert model.model_validate({"a": 1, "copy": "y"}).model_dump(by_alias=True) == {"a": 1, "copy": "y"}
    assert Tool(name="t", description="D.", parameters={}, function=work).parameter_class is None


class Level(IntEnum):
    LOW = 0
    HIGH = 1


@pytest.mark.parametrize(
    ("annotation", "true", "one"),
    [
        (Literal[0, 1], True, 1),
        (Level, True, 1),
        (Literal[1] | str, True, 1),
        (list[Literal[0, 1]], [True], [1]),
        (dict[str, Level], {"k": True}, {"k": 1}),
    ],
)
def test_true_is_no_number_even_where_values_are_listed(annotation: object, true: object, one: object) -> None:  # A2
    def pick(level: object) -> str:
        """Pick a level."""
        raise AssertionError

    pick.__annotations__["level"] = annotation
    tool = Tool.from_function(pick)
    assert "got true" in tool.prepare({"level": true}).problem
    assert not tool.prepare({"level": one}).problem


def test_one_is_not_true_where_true_is_listed() -> None:  # A2
    def confirm(sure: Literal[True], mixed: Literal[1, "a", True] = "a") -> str:
        """Confirm."""
        return "done"

    tool = Tool.from_function(confirm)
    assert "must be true, got 1" in tool.prepare({"sure": 1}).problem
    assert tool.prepare({"sure": True, "mixed": 1.0}).kwargs == {"sure": True, "mixed": 1}
    assert tool.prepare({"sure": True, "mixed": 1.0}).kwargs["mixed"] is not True


@pytest.mark.parametrize(
    "annotation", [Iterable[int], Iterator[int], Iterable[int] | None, Annotated[Iterable[int], "any number"]]
)
def test_what_is_iterated_is_a_list_that_was_checked_before(annotation: object) -> None:
    def total(numbers: object) -> int:
        """Add up."""
        raise AssertionError

    total.__annotations__["numbers"] = annotation
    tool = Tool.from_function(total)
    assert tool.prepare({"numbers": [1, "2"]}).kwargs == {"numbers": [1, 2]}
    assert "numbers[0] must be an integer" in tool.prepare({"numbers": ["x"]}).problem


def test_a_bare_iterable_is_a_list_of_anything() -> None:
    def count(things: Iterable) -> int:  # type: ignore[type-arg]  # what the test is about
        """Count."""
        raise AssertionError

    assert Tool.from_function(count).prepare({"things": ["a", 1]}).kwargs == {"things": ["a", 1]}


def test_parameters_that_a_model_makes_up_have_the_type_of_the_double_star() -> None:  # A2
    def label(target: str, **scores: int) -> str:
        """Label something."""
        raise AssertionError

    tool = Tool.from_function(label)
    assert tool.parameters["additionalProperties"] == {"type": "integer"}
    assert tool.prepare({"target": "x", "speed": "3"}).kwargs == {"target": "x", "speed": 3}
    assert "speed must be an integer" in tool.prepare({"target": "x", "speed": "fast"}).problem


def test_names_that_pydantic_refuses_never_take_the_place_of_another() -> None:
    def odd(_x: int, p0_x: int, p0_x_: int) -> tuple[int, int, int]:
        """Take odd names."""
        return _x, p0_x, p0_x_

    prepared = Tool.from_function(odd).prepare({"_x": 1, "p0_x": 2, "p0_x_": 3})
    assert (prepared.args, prepared.kwargs) == ((), {"_x": 1, "p0_x": 2, "p0_x_": 3})


@pytest.mark.parametrize("seconds", [0, -1.5, float("nan")])
def test_a_tool_without_time_to_run_is_refused_when_it_is_made(seconds: float) -> None:  # T2
    def look() -> str:
        """Look."""
        raise AssertionError

    with pytest.raises(ToolsetError, match="'look': timeout=") as caught:
        Tool.from_function(look, timeout=seconds)
    assert caught.value.code == "tool.timeout"


def test_a_complex_number_is_text_with_an_example() -> None:
    def turn(z: complex) -> str:
        """Turn."""
        return str(z * 1j)

    made = Tool.from_function(turn)
    assert made.wire["function"]["parameters"]["properties"]["z"]["description"] == 'Examples: "1+2j"'
    prepared = made.prepare({"z": "1+2j"})
    assert made.function(*prepared.args, **prepared.kwargs) == "(-2+1j)"
