"""The case table of the math and temporal toolsets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.toolsets.calling import Result, call, code_of

from react_toolsets.math import MathToolset
from react_toolsets.temporal import TemporalToolset

CASES = Path(__file__).parent.parent / "cases" / "toolsets.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
MATH = MathToolset()
TEMPORAL = TemporalToolset(timezone="America/Vancouver")


def params() -> Iterator[object]:
    """The rows; those that we hold to be wrong are expected to fail, each for its reason."""
    for row in ROWS:
        mark = pytest.mark.xfail(reason=row.get("wrong", ""), strict=not row.get("depends"))
        yield pytest.param(row, marks=[mark] if "wrong" in row else [], id=label(row))


def label(case: Result) -> str:
    return f"{case['tool']}({', '.join(str(value)[:30] for value in case['args'].values())})"


@pytest.mark.parametrize("case", list(params()))
def test_a_case_of_the_table_gives_what_it_expects(case: Result) -> None:
    toolset = MATH if case["tool"] in ("calculate", "convert_units") else TEMPORAL
    result = call(toolset, case["tool"], **case["args"])
    seen = {**result, "error": code_of(result), "value_starts": result.get("value", "")}
    for field, expected in case["expect"].items():
        if field == "value_starts":
            assert seen[field].startswith(expected), result
        else:
            assert seen[field] == expected, result
