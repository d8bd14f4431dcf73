"""The plugin ``validate``: results that are not what was expected are failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fired import Fired

from react_plugins.validate import Validate
from react_run import Tool, tool
from react_run.testing import calls, run_agent, says

WEATHER = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}


def returning(result: object) -> Tool:
    @tool
    def look() -> Any:
        """Look."""
        return result

    return Tool.from_function(look)


@pytest.mark.parametrize(
    ("schema", "result", "problem"),
    [
        (WEATHER, {"degrees": 5}, ""),
        (WEATHER, '{"degrees": 5}', ""),
        (WEATHER, {"degrees": "warm"}, "$.degrees: 'warm' is not of type 'number'"),
        (WEATHER, {}, "$: 'degrees' is a required property"),
        (WEATHER, "it is warm", "$: 'it is warm' is not of type 'object'"),
        (WEATHER, None, "$: '(no output)' is not of type 'object'"),
        ({"type": "string"}, "345", ""),
        ({"type": "string", "pattern": "^[a-z]+$"}, "abc", ""),
        ({"type": "string", "pattern": "^[a-z]+$"}, "345", "$: 345 is not of type 'string'"),
        ({"type": "integer", "maximum": 9}, 10, "$: 10 is greater than the maximum of 9"),
        ({"type": "array", "items": {"type": "integer"}}, [1, "a"], "$[1]: 'a' is not of type 'integer'"),
        ({"type": "string"}, "x" * 5000, ""),
        ({"type": "integer"}, "x" * 5000, "$: 'xxx"),
    ],
)
def test_a_result_is_checked_against_the_schema_of_its_tool(
    schema: dict[str, Any], result: object, problem: str
) -> None:
    plugin = Validate(schemas={"lo*": schema})
    run = run_agent([calls(("look", {})), says("done")], tools=[returning(result)], plugins=[plugin])
    (step,) = run.steps
    if not problem:
        assert not step.failed
        return
    assert step.error_code == "invalid_result"
    assert f"not what was expected: {problem}" in step.observation
    assert len(step.observation) < 500


NESTED = {"type": "array", "items": {"$ref": "#"}}


@pytest.mark.parametrize(
    ("schema", "result", "problem"),
    [
        (NESTED, "[" * 100_000 + "]" * 100_000, "$: '[[[["),
        (NESTED, "[" * 500 + "]" * 500, "it cannot be checked: "),
        ({"type": "number", "multipleOf": 0.1}, "1" * 400, "it cannot be checked: "),
        ({"type": "string"}, "[" * 100_000 + "]" * 100_000, ""),
    ],
)
def test_a_result_that_is_too_deep_or_too_large_to_check_ends_no_run(
    schema: dict[str, Any], result: str, problem: str
) -> None:
    plugin = Validate(schemas={"look": schema})
    run = run_agent([calls(("look", {})), says("done")], tools=[returning(result)], plugins=[plugin])
    assert run.steps[0].error_code == ("invalid_result" if problem else None)
    assert problem in run.steps[0].observation


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the library warns, and fetches
def test_nothing_is_fetched_for_a_reference(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text('{"type": "string"}')
    plugin = Validate(schemas={"look": {"$ref": elsewhere.as_uri()}})
    with pytest.raises(Exception, match="Unresolvable"):
        run_agent([calls(("look", {})), says("done")], tools=[returning("x")], plugins=[plugin])


def test_a_mismatch_may_be_a_warning_only() -> None:
    plugin, fired = Validate(schemas={"look": WEATHER}, on_mismatch="warn"), Fired()
    run = run_agent([calls(("look", {})), says("done")], tools=[returning("warm")], plugins=[plugin, fired])
    assert run.steps[0].observation.startswith("warm\n\n[Not what was expected: ")
    assert not run.steps[0].failed
    assert len(fired.of("validate")) == 1


def test_other_tools_and_failures_are_left_alone() -> None:
    @tool
    def fail() -> str:
        """Fail."""
        raise ValueError("no")

    plugin = Validate(schemas={"fail": WEATHER})
    run = run_agent(
        [calls(("look", {}), ("fail", {})), says("done")], tools=[returning("warm"), fail], plugins=[plugin]
    )
    assert [step.observation for step in run.steps] == ["warm", "Error: ValueError: no"]


def test_a_schema_that_is_none_is_refused_when_the_agent_is_built() -> None:
    with pytest.raises(ValidationError, match="the schema of 'look' is not valid"):
        Validate(schemas={"look": {"type": "number", "minimum": "low"}})
