"""The sensors that ship: a command, a function, the syntax of what was written (behaviour G2)."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fired import Fired
from tests.toolsets.running import run_in

from react_plugins.command_sensor import CommandSensor
from react_plugins.python_sensor import PythonSensor
from react_plugins.syntax_sensor import SyntaxSensor
from react_run import ConfigError, Observation, ReActAgentConfig, Run, RunResult, Signal, ToolCall
from react_run.testing import calls, says
from react_toolsets.files import FilesToolset

FILES = FilesToolset(read_only=False)
PYTHON = sys.executable


def write(path: str, content: str = "x") -> tuple[str, dict[str, str]]:
    return "write_file", {"path": path, "content": content}


def run(workspace: Path, *replies: Any, sensor: Any, **options: Any) -> RunResult:
    return run_in(workspace, [*replies, says("done")], toolsets=[FILES], plugins=[sensor], **options)


# -- command ----------------------------------------------------------------------------------------------------------


def test_a_command_that_ends_well_says_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, calls(write("a.txt")), sensor=CommandSensor(command="test -s a.txt"))
    assert result.steps[0].observation == "Made a.txt (1 bytes)."
    assert result.success


def test_one_that_does_not_blocks_with_the_head_of_its_output_and_the_place(tmp_path: Path) -> None:
    sensor = CommandSensor(command="echo 'src/a.py:3:7: E1 no good'; exit 1", hint="See the style guide.")
    result = run(tmp_path, calls(write("a.txt")), sensor=sensor)
    step = result.steps[0]
    assert step.error_code == "sensor_blocked"
    assert step.observation == (
        "Made a.txt (1 bytes).\n\n[block] src/a.py:3:7: `echo 'src/a.py:3:7: E1 no good'; exit 1` ended with exit "
        "status 1. It wrote:\nsrc/a.py:3:7: E1 no good\n  Hint: See the style guide."
    )
    assert not result.success


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ('Traceback:\n  File "calc.py", line 12, in f\n', "calc.py:12"),
        ("calc.py:12: error: Incompatible types  [assignment]\n", "calc.py:12"),
        ("./src/x.ts:4:2 - error TS1005\n", "./src/x.ts:4:2"),
        ("1 failed at 12:30\n", ""),
    ],
)
def test_the_first_place_in_the_output_is_the_location(tmp_path: Path, output: str, place: str) -> None:
    (tmp_path / "out").write_text(output)
    result = run(tmp_path, calls(write("a.txt")), sensor=CommandSensor(command="cat out; exit 1"))
    assert f"[block]{f' {place}:' if place else ''} `cat out" in result.steps[0].observation


def test_it_runs_after_the_tools_it_names_only_and_not_after_failed_calls(tmp_path: Path) -> None:
    sensor = CommandSensor(command="echo ran >> log", after=["edit_*", "list_directory"])
    run(
        tmp_path,
        calls(write("a.txt")),
        calls(("edit_file", {"path": "no.txt", "old_text": "a", "new_text": "b"})),
        sensor=sensor,
    )
    assert not (tmp_path / "log").exists()
    run(tmp_path, calls(("list_directory", {})), sensor=sensor)
    assert (tmp_path / "log").read_text() == "ran\n"


def test_it_runs_once_per_iteration_after_the_last_call(tmp_path: Path) -> None:
    sensor = CommandSensor(command="echo ran >> log; false")
    result = run(tmp_path, calls(write("a.txt"), write("b.txt"), write("../no")), calls(write("c.txt")), sensor=sensor)
    assert (tmp_path / "log").read_text() == "ran\nran\n"
    assert [step.error_code for step in result.steps] == [None, "sensor_blocked", "outside", "sensor_blocked"]


def test_with_a_path_in_it_it_runs_for_each_file(tmp_path: Path) -> None:
    code = "import sys; open('log', 'a').write(sys.argv[1] + '\\n')"
    sensor = CommandSensor(command=[PYTHON, "-c", code, "{path}"], files=["*.py", "-*"])
    run(
        tmp_path,
        calls(write("a.py"), write("b.txt"), write("sub/c.py"), write("a.py", "y"), write("-rf")),
        sensor=sensor,
    )
    assert (tmp_path / "log").read_text() == "sub/c.py\na.py\n./-rf\n"


@pytest.mark.parametrize("severity", ["warn", "hint"])
def test_it_may_only_warn(tmp_path: Path, severity: Any) -> None:
    result = run(tmp_path, calls(write("a.txt")), sensor=CommandSensor(command="false", severity=severity))
    assert result.success
    assert f"[{severity}] `false` ended with exit status 1" in result.steps[0].observation


@pytest.mark.parametrize("command", ["no-such-linter .", ["no-such-linter", "."]])
def test_a_command_that_cannot_run_is_no_pass_and_no_failure_of_the_model(tmp_path: Path, command: Any) -> None:
    fired = Fired()
    result = run_in(
        tmp_path, [calls(write("a.txt")), says("ok")], toolsets=[FILES], plugins=[CommandSensor(command=command), fired]
    )
    assert result.success
    assert "[warn] this was not checked: `no-such-linter .` cannot be run" in result.steps[0].observation
    assert len(fired.of("sensor_failed")) == 1


def test_one_that_takes_too_long_is_stopped_and_blocks(tmp_path: Path) -> None:
    sensor = CommandSensor(command="echo start; sleep 60", timeout=0.3)
    step = run(tmp_path, calls(write("a.txt")), sensor=sensor).steps[0]
    assert "did not end within 0.3 seconds and was stopped. It wrote:\nstart" in step.observation
    assert step.failed


def test_what_the_model_wrote_runs_confined(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("CANARY")
    sensor = CommandSensor(command="sh evil.sh")
    if not sensor.confinement(root).means:
        pytest.skip("nothing confines programs here")
    result = run(root, calls(write("evil.sh", "cat ../secret; echo x > ../mine; exit 1")), sensor=sensor)
    assert "CANARY" not in result.steps[0].observation
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"command": ""}, "at least 1"),
        ({"command": []}, "at least 1"),
        ({"command": "ruff {path}"}, "as a list"),
        ({"command": "x", "severity": "error"}, "'block', 'warn' or 'hint'"),
        ({}, "missing"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        CommandSensor.model_validate(options)


# -- python -----------------------------------------------------------------------------------------------------------


def no_todo(call: ToolCall) -> str | None:
    return "finish it first" if "TODO" in str(call.arguments) else None


async def everything(run: Run, call: ToolCall, observation: Observation) -> list[Any]:
    return [Signal(severity="hint", message=f"{run.prompt} {call.name} {observation.content}"), "and this", None]


def test_a_function_gets_what_it_asks_for_and_says_what_it_likes(tmp_path: Path) -> None:
    result = run(tmp_path, calls(write("a", "TODO")), calls(write("a", "done")), sensor=PythonSensor(function=no_todo))
    assert [step.error_code for step in result.steps] == ["sensor_blocked", None]
    assert "[block] finish it first" in result.steps[0].observation
    sensor = PythonSensor(function=everything, severity="warn", after=["write_*"])
    result = run(tmp_path, calls(write("a"), ("list_directory", {})), sensor=sensor)
    assert "[hint] go write_file Replaced a (1 bytes).\n[warn] and this" in result.steps[0].observation
    assert "[" not in result.steps[1].observation


def test_a_function_that_fails_or_returns_something_else_ends_the_run(tmp_path: Path) -> None:
    for function in (lambda call: 1 / 0, lambda: 3):
        with pytest.raises((ZeroDivisionError, TypeError)) as caught:
            run(tmp_path, calls(write("a")), sensor=PythonSensor(function=function))
        assert "raised by plugin 'python_sensor' in react_sense" in caught.value.__notes__


def test_a_function_that_asks_for_something_else_is_refused() -> None:
    with pytest.raises(ValidationError, match="takes answer; it may take run, call, observation"):
        PythonSensor(function=lambda answer: None)


def test_in_an_agent_file_it_is_code_and_needs_trust(tmp_path: Path) -> None:
    (tmp_path / "eyes.py").write_text("def look(call):\n    return None\n")
    path = tmp_path / "a.yaml"
    path.write_text("version: 1\nmodel: offline\nplugins:\n  - kind: python_sensor\n    function: eyes:look\n")
    config = ReActAgentConfig.from_yaml(path)
    assert ReActAgentConfig.from_mapping({"plugins": [{"kind": "python_sensor", "function": no_todo}]}).plugins
    assert "eyes:look" in config.to_yaml()
    with pytest.raises(ConfigError, match=r"a\.yaml:5:15.*is code, which an agent file may name only in a trusted"):
        ReActAgentConfig.from_yaml(path, trusted=False)


# -- syntax -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "content", "place"),
    [
        ("a.json", '{"a": 1,\n "b": }', "a.json:2:7"),
        ("a.json", "{'a': 1}", "a.json:1:2"),
        ("a.JSON", "", "a.JSON:1:1"),
        ("a.yaml", "a: 1\nb: [1, 2\nc: 3\n", "a.yaml:3:2"),
        ("b.yml", "a: b: c\n", "b.yml:1:5"),
        ("a.yaml", "a:\n\t- b\n", "a.yaml:2:1"),
        ("a.toml", "a = \n", "a.toml:1:5"),
        ("a.py", "def f(:\n  pass\n", "a.py:1:7"),
        ("sub/a.py", "x = (1,\n", "sub/a.py:1:5"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_blocks_with_the_place(
    tmp_path: Path, path: str, content: str, place: str
) -> None:
    result = run(tmp_path, calls(write(path, content)), sensor=SyntaxSensor())
    assert result.steps[0].error_code == "sensor_blocked"
    assert f"[block] {place}: this is not valid " in result.steps[0].observation


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.json", '{"a": [1, 2.5e3, null]}'),
        ("a.yaml", "a: &x [1]\nb: *x\n---\nc: !tag d\n"),
        ("a.toml", "[a]\nb = 1979-05-27\n"),
        ("a.py", "x = '\\d'\n"),
        ("a.json", f"[{'9' * 99_999}]"),
        ("a.txt", "{"),
        ("json", "{"),
    ],
)
def test_what_can_be_read_passes(tmp_path: Path, path: str, content: str) -> None:
    assert not run(tmp_path, calls(write(path, content)), sensor=SyntaxSensor()).steps[0].failed


def test_a_correction_makes_it_good_again(tmp_path: Path) -> None:
    fix = ("edit_file", {"path": "a.json", "old_text": "}", "new_text": "1}"})
    result = run(tmp_path, calls(write("a.json", '{"a": }')), calls(fix), sensor=SyntaxSensor())
    assert [step.failed for step in result.steps] == [True, False]
    assert result.success


@pytest.mark.parametrize("content", ["[" * 100_000, "{(" * 50_000, "a: " * 50_000])
def test_hostile_files_are_mistakes_and_no_more(tmp_path: Path, content: str) -> None:
    for name in ("a.json", "a.py", "a.yaml", "a.toml"):
        assert run(tmp_path, calls(write(name, content)), sensor=SyntaxSensor()).steps[0].failed


@pytest.mark.parametrize("content", [f"a{'.a' * 50_000} = 1", f"[a{'.a' * 50_000}]", f"a = {'9' * 9_999}"])
def test_toml_that_the_library_cannot_cope_with_is_a_mistake_and_no_more(tmp_path: Path, content: str) -> None:
    started = time.monotonic()
    assert run(tmp_path, calls(write("a.toml", content)), sensor=SyntaxSensor()).steps[0].failed
    assert time.monotonic() - started < 5


def test_languages_and_severity_can_be_chosen(tmp_path: Path) -> None:
    sensor = SyntaxSensor(languages=["yaml"], severity="warn")
    result = run(tmp_path, calls(write("a.json", "{"), write("a.yaml", "{")), sensor=sensor)
    assert [("[warn]" in step.observation) for step in result.steps] == [False, True]
    assert result.success


def test_a_file_that_is_gone_is_said_not_to_be_looked_at(tmp_path: Path) -> None:
    result = run(tmp_path, calls(write("a.json", "{")), sensor=SyntaxSensor(root=tmp_path / "elsewhere"))
    assert "[warn] its syntax was not checked" in result.steps[0].observation
