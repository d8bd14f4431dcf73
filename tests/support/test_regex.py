"""Patterns and schemas of others end, whatever they meet."""

from __future__ import annotations

import time
from typing import Any

import pytest

from react_run import JsonSchema, Pattern, SlowPattern

HOSTILE = ["(x+x+)+y", "(x|xx)+y", "(.*)*[0-9]", "(?:x+x?)+y"]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_search_that_would_take_for_ever_is_stopped(pattern: str) -> None:
    started = time.process_time()
    with pytest.raises(SlowPattern, match=r"takes more than 0\.2 s"):
        Pattern(pattern, seconds=0.2).search("x" * 5_000)
    assert time.process_time() - started < 3


def test_patterns_find_what_pythons_own_find() -> None:
    assert Pattern(r"\bb\w+").search("a bc")
    assert not Pattern("b").fullmatch("bb")
    assert Pattern("(?i:B)+").fullmatch("bB")
    assert Pattern("[ab]").sub(r"\1", "xaby") == r"x\1\1y"
    assert list(Pattern("^a", multiline=True).spans("a\nba\na")) == [(0, 1), (5, 6)]


@pytest.mark.parametrize("pattern", ["(", "*", "[", "(?P<a>x)(?P<a>y)"])
def test_what_is_not_a_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="not a regular expression"):
        Pattern(pattern)


def doubling(levels: int) -> dict[str, Any]:
    """A schema in which each level refers to the next one twice."""
    twice = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/0", "$defs": {**twice, str(levels): {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "pattern": "(x+x+)+y"}, "x" * 5_000),
        ({"properties": {"a": {"items": {"pattern": "(x|xx)+y"}}}}, {"a": ["x" * 5_000]}),
        ({"patternProperties": {"(x+x+)+y": {}}}, {"x" * 5_000: 1}),
        ({"patternProperties": {"(x+x+)+y": {}}, "additionalProperties": False}, {"x" * 5_000: 1}),
        (doubling(40), 1),
    ],
)
def test_a_schema_that_would_take_for_ever_is_stopped(
    schema: dict[str, Any], value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("react_run.support.json_schema.SECONDS", 0.5)
    started = time.process_time()
    with pytest.raises(SlowPattern):
        JsonSchema(schema).errors(value)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ({"pattern": "^a"}, "b", 1),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": 1, "n2": "x", "m": "y"}, 1),
        (
            {"properties": {"a": {}}, "patternProperties": {"^n": {}}, "additionalProperties": False},
            {"a": 1, "n": 1},
            0,
        ),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1, "b": 1}, 1),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1, "b": "x"}, 1),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "x", 1),
    ],
)
def test_schemas_say_what_is_wrong(schema: dict[str, Any], value: object, problems: int) -> None:
    assert len(JsonSchema(schema).errors(value)) == problems
