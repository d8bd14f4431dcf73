"""The examples of evaluations: public data in the form of the Berkeley set, and the project's own cases."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import Call
from tests.cli.conftest import call as call

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "evals"


@pytest.fixture
def bfcl(tmp_path: Path) -> Path:
    """A copy of the example: its module, and what it writes, lie there."""
    return Path(shutil.copytree(EXAMPLES / "bfcl", tmp_path / "bfcl", ignore=shutil.ignore_patterns("cases.jsonl")))


def write(bfcl: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "bfcl.py", *arguments]
    done = subprocess.run(command, cwd=bfcl, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (bfcl / "cases.jsonl").read_text().splitlines()]


def measure(call: Call, bfcl: Path, *arguments: str) -> dict[str, Any]:
    files = (str(bfcl / "agent.yaml"), str(bfcl / "cases.yaml"))
    status, out, err = call("eval", *files, "--trust", "--json", "-q", *arguments)
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


IMITATION = ("--set", "plugins.0.data=imitation")


@pytest.mark.parametrize(
    ("category", "rows"), [("simple_python", 2), ("parallel", 1), ("irrelevance", 1), ("multi_turn_base", 1)]
)
def test_the_right_calls_pass_in_every_category(call: Call, bfcl: Path, category: str, rows: int) -> None:
    assert len(write(bfcl, category, "--data", "imitation", "--scripted")) == rows
    (variant,) = measure(call, bfcl, *IMITATION)["variants"]
    assert (variant["passed"], variant["failed"], variant["errors"]) == (rows, 0, 0)


@pytest.mark.parametrize(
    ("category", "wrong", "why"),
    [
        ("simple_python", [{"name": "tiles_count", "arguments": {"area": 13, "width": 20, "height": 30}}], "expected"),
        ("parallel", [{"name": "weather", "arguments": {"town": "Turku"}}], 'expected weather({"town": ["Tampere"]})'),
        ("irrelevance", [{"name": "weather", "arguments": {"town": "Turku"}}], "called weather as well"),
        ("multi_turn_base", [{"name": "put", "arguments": {"item": "apple"}}], "Basket.items is not what it should be"),
    ],
)
def test_other_calls_fail_and_it_is_said_why(
    call: Call, bfcl: Path, category: str, wrong: list[object], why: str
) -> None:
    (case, *_) = write(bfcl, category, "--data", "imitation", "--scripted")
    case["replies"] = [{"tool_calls": wrong}, "done"]
    (bfcl / "cases.jsonl").write_text(f"{json.dumps(case)}\n")
    result = measure(call, bfcl, *IMITATION)
    assert result["variants"][0]["failed"] == 1
    assert why in result["cases"][0]["variants"]["bfcl"]["why"]


def test_each_question_of_a_row_is_asked_and_the_apis_keep_their_state(call: Call, bfcl: Path) -> None:
    write(bfcl, "multi_turn_base", "--data", "imitation", "--scripted")
    result = measure(call, bfcl, *IMITATION)
    (run,) = result["cases"][0]["variants"]["bfcl"]["runs"]
    status, out, _ = call("trace", run, "--json")
    assert status == 0
    assert "Take one apple out again" in out
    assert '{\\"apple\\": 1}' in out  # two were put in, and one was taken out


@pytest.mark.skipif(
    find_spec("bfcl_eval") is None, reason="the data set is not installed: pip install --no-deps bfcl-eval"
)
@pytest.mark.parametrize("category", ["simple_python", "parallel_multiple", "multi_turn_base"])
def test_the_right_calls_of_the_real_set_pass(call: Call, bfcl: Path, category: str) -> None:
    rows = len(write(bfcl, category, "--scripted", "--limit", "20"))
    (variant,) = measure(call, bfcl)["variants"]
    assert (variant["passed"], variant["failed"], variant["errors"]) == (rows, 0, 0)


def test_the_projects_own_cases_pass_offline(call: Call) -> None:
    files = (str(ROOT / "agents" / "calculator.yaml"), str(EXAMPLES / "calculator.yaml"))
    status, out, _ = call("eval", *files, "-m", "offline", "--json", "-q", "--repeat", "2")
    assert status == 0
    (variant,) = json.loads(out)["variants"]
    assert (variant["passed"], variant["runs"]) == (16, 16)
    assert call("test", *files)[0] == 0


def test_no_data_of_others_is_in_the_repository() -> None:
    found = [path.name for path in EXAMPLES.rglob("*.json*") if "imitation" not in path.parts]
    assert set(found) <= {"cases.jsonl"}
