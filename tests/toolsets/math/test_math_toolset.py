"""The toolset ``math`` in a run, and what it costs before it is used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from react_run import Disposition
from react_run.testing import calls, run_agent, says
from react_toolsets.math import MathToolset
from react_toolsets.math import toolset as module

PACKAGE = Path(module.__file__).parent
DOCS = Path(__file__).parents[3] / "docs" / "toolsets" / "math.md"


@pytest.mark.parametrize(
    ("name", "arguments", "summary"),
    [
        ("calculate", {"expression": "15 * 23"}, "15*23 = 345"),
        ("calculate", {"expression": "1/3"}, "1/3 ≈ 0." + "3" * 50),
        ("convert_units", {"value": 5, "from_unit": "miles", "to_unit": "km"}, "5 mi = 8.04672 km"),
        ("convert_units", {"value": 100, "from_unit": "c", "to_unit": "f"}, "100 °C = 212 °F"),
        ("convert_units", {"value": 1, "from_unit": "km", "to_unit": "mi"}, "1 km ≈ 0.621371192237334 mi"),
    ],
)
def test_a_result_is_summed_up_as_one_verified_line(name: str, arguments: dict[str, object], summary: str) -> None:
    step = run_agent([calls((name, arguments)), says("done")], toolsets=[MathToolset()]).steps[0]
    assert step.outcome is not None
    assert step.outcome.verified_summary == summary


def test_the_summary_of_a_long_number_is_cut() -> None:
    step = run_agent([calls(("calculate", {"expression": "2**30000"})), says("done")], toolsets=[MathToolset()]).steps[
        0
    ]
    assert step.outcome is not None
    assert len(step.outcome.verified_summary) == 400
    assert step.outcome.verified_summary.endswith("…")


def test_a_mistake_is_corrected_by_the_model() -> None:
    result = run_agent(
        [
            calls(("calculate", {"expression": "15% of 240"})),
            calls(("calculate", {"expression": "15/100*240"})),
            says("It is 36."),
        ],
        toolsets=[MathToolset()],
    )
    assert [step.error_code for step in result.steps] == ["unsupported_syntax", None]
    assert (result.answer, result.success) == ("It is 36.", True)


def test_an_ambiguous_unit_ends_the_run_with_the_question() -> None:  # F2
    request = calls(("convert_units", {"value": 1, "from_unit": "gallon", "to_unit": "l"}))
    result = run_agent([request, says("3.79 l")], toolsets=[MathToolset()])
    assert result.stop_reason == "clarification_required"
    assert "us_gallon or imperial_gallon?" in result.answer


def test_a_foreign_result_is_opaque() -> None:
    toolset = MathToolset()
    assert toolset.interpret_result("calculate", {}, "no JSON") is None
    assert toolset.interpret_result("calculate", {}, ["a", "list"]) is None
    assert toolset.interpret_result("calculate", {}, {"status": "something else"}) is None


def test_every_code_but_one_may_be_corrected() -> None:
    toolset = MathToolset()
    for code in codes():
        outcome = toolset.interpret_result(
            "calculate", {}, {"status": "error", "error": {"code": code, "message": "m"}}
        )
        assert outcome is not None
        asks = code == "ambiguous_unit"
        assert outcome.disposition == (Disposition.CLARIFICATION_REQUIRED if asks else Disposition.RETRYABLE_ERROR)


def codes() -> set[str]:
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return set(re.findall(r'Refusal\(\s*"([a-z_]+)"', sources))


def test_every_code_is_documented() -> None:
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert codes() == documented


def test_nothing_is_imported_before_it_is_used() -> None:
    program = (
        "import sys, react_toolsets.math as m; tools = m.MathToolset().tools();"
        "early = [n for n in ('pint', 'mpmath', 'react_toolsets.math.calculate', 'react_toolsets.math.units.table')"
        " if n in sys.modules];"
        "tools[0].function('sin(1)'); tools[1].function(5, 'deg', 'rad');"
        "print(early, [n for n in ('pint', 'mpmath', 'numpy') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[] []"
