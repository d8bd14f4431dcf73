"""The checks that ship, and what they say when they refuse (behaviour G3)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.toolsets.running import run_in

from react_plugins.checks.command import CommandCheck
from react_plugins.checks.files_exist import FilesExist
from react_plugins.checks.json_schema import JsonSchemaCheck
from react_plugins.checks.python import PythonCheck
from react_plugins.checks.regex import RegexCheck
from react_plugins.checks.tool_used import ToolUsed
from react_run import Check, ConfigError, ReActAgent, ReActAgentConfig, Run, RunResult, StopReason, Verdict, tool
from react_run.testing import calls, run_agent, says
from react_toolsets.files import FilesToolset

FILES = FilesToolset(read_only=False)


def run(workspace: Path, check: Check, *replies: Any, **options: Any) -> RunResult:
    return run_in(workspace, list(replies), checks=[check], **options)


def feedback(result: RunResult) -> str:
    """What was said against the first answer."""
    return next(message.text for message in result.messages[2:] if message.role == "user")


# -- files_exist ------------------------------------------------------------------------------------------------------


def test_files_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "empty.txt").touch()
    make = calls(("write_file", {"path": "out/report.md", "content": "x"}))
    check = FilesExist(files=["out/report.md", "out/*.txt", "out"])
    result = run(tmp_path, check, says("made it"), make, says("now I did"), toolsets=[FILES])
    assert feedback(result) == "These files are missing: out/report.md. Create them, then answer."
    assert (result.answer, result.success) == ("now I did", True)
    result = run(tmp_path, FilesExist(files=["out/*.txt"], not_empty=True), says("made it"), max_check_attempts=0)
    assert (feedback(result)[:41], result.success) == ("These files are missing or empty: out/*.t", False)


# -- command ----------------------------------------------------------------------------------------------------------


def test_a_command_must_end_well(tmp_path: Path) -> None:
    make = calls(("write_file", {"path": "done", "content": "x"}))
    check = CommandCheck(command="echo looking; test -e done", feedback="It is not done.")
    result = run(tmp_path, check, says("done"), make, says("really"), toolsets=[FILES])
    said = "It is not done.\n`echo looking; test -e done` ended with exit status 1. It wrote:\nlooking"
    assert feedback(result) == said
    assert (result.answer, result.success) == ("really", True)


@pytest.mark.parametrize("command", ["no-such-program", ["no-such-program"], "./gone.sh"])
def test_a_command_that_cannot_run_is_told_as_such_and_never_a_pass(tmp_path: Path, command: Any) -> None:
    result = run(tmp_path, CommandCheck(command=command), says("done"), says("never asked"))
    assert (result.stop_reason, result.success, result.answer, result.iterations) == (
        StopReason.UNACCEPTED,
        False,
        "done",
        1,
    )
    assert feedback(result).startswith(
        "The check command could not be carried out, so nothing is accepted: CommandNotRun:"
    )


def test_one_that_takes_too_long_refuses(tmp_path: Path) -> None:
    result = run(tmp_path, CommandCheck(command="sleep 60", timeout=0.2), says("done"), max_check_attempts=0)
    assert "did not end within 0.2 seconds" in feedback(result)


# -- regex ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "good", "bad", "said"),
    [
        ({"pattern": r"\d"}, "it is 4", "it is four", r"The answer must match the pattern \d"),
        ({"pattern": r"\d+", "whole": True}, " 42\n", "42.", r"The answer must as a whole match the pattern \d+"),
        (
            {"pattern": "(?i)todo", "forbidden": True},
            "all done",
            "Todo: all",
            "The answer must not match the pattern (?i)todo",
        ),
        ({"pattern": "x", "feedback": "Say x."}, "x", "y", "Say x."),
    ],
)
def test_an_answer_must_match(tmp_path: Path, options: dict[str, Any], good: str, bad: str, said: str) -> None:
    result = run(tmp_path, RegexCheck(**options), says(bad), says(good))
    assert (feedback(result), result.answer, result.success) == (said, good, True)


def test_what_is_no_pattern_is_refused_when_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("version: 1\nmodel: offline\nchecks:\n  - {kind: regex, pattern: '('}\n")
    with pytest.raises(ConfigError, match=r"a\.yaml:4:28.*not a regular expression"):
        ReActAgentConfig.from_yaml(path)


SLOW = [
    {"pattern": "(x+x+)+y"},
    {"pattern": "(x|xx)+y"},
    {"pattern": "(?:x+x?)+y"},
    {"pattern": "(.*)*\\d"},
]


@pytest.mark.parametrize("options", SLOW)
def test_an_answer_that_a_pattern_takes_for_ever_on_is_not_accepted(options: dict[str, Any]) -> None:
    verdict = asyncio.run(RegexCheck(**options).check(Run.__new__(Run), "x" * 5_000))
    assert not verdict.accepted
    assert "takes more than" in verdict.feedback


# -- json_schema ------------------------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "items": {"type": "array", "items": {"type": "string"}}},
    "required": ["total"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("answer", ['{"total": 4, "items": ["a"]}', '\n```json\n{"total": 4, "items": ["a"]}\n```\n'])
def test_the_parsed_answer_is_the_value_of_the_result(answer: str) -> None:
    result = run_agent([says(answer)], output_schema=SCHEMA)
    assert (result.value, result.success) == ({"total": 4, "items": ["a"]}, True)
    assert result.answer == '{"total": 4, "items": ["a"]}'
    assert result.to_dict()["value"] == {"total": 4, "items": ["a"]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("four", "The answer must be JSON alone, by the schema you were given, and it is not: Expecting value"),
        ('Here: {"total": 4}', "The answer must be JSON alone"),
        ('{"total": NaN}', "NaN is not JSON"),
        ('{"total": 4} {"total": 5}', "Extra data"),
        ("{}", "The answer does not satisfy its schema:\n- 'total' is a required property"),
        (
            '{"total": "4", "items": ["a", 1]}',
            "- items[1]: 1 is not of type 'string'\n- total: '4' is not of type 'number'",
        ),
        ("[" * 100_000, "The answer must be JSON alone"),
    ],
)
def test_an_answer_by_another_form_goes_back_with_its_problems(answer: str, said: str) -> None:
    result = run_agent([says(answer), says('{"total": 4}')], output_schema=SCHEMA)
    assert said in feedback(result)
    assert (result.value, result.success) == ({"total": 4}, True)


def test_a_value_that_was_never_accepted_is_none() -> None:
    result = run_agent([says('{"total": 4}'), says("four")], output_schema=SCHEMA, checks=[RegexCheck(pattern="never")])
    assert (result.stop_reason, result.value) == (StopReason.UNACCEPTED, None)


def test_the_model_knows_the_schema_from_the_start() -> None:  # G1
    result = run_agent([says("{}")], output_schema={"type": "object"}, system_prompt="x")
    prompt = result.messages[0].text
    assert prompt.startswith("x\n\n# Form of the answer\n\nThe final answer is JSON alone")
    assert prompt.endswith(json.dumps({"type": "object"}))


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"properties": []}, {"required": "total"}])
def test_a_schema_that_is_none_is_refused_when_it_is_read(schema: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="this is not a JSON Schema"):
        JsonSchemaCheck(schema=schema)


def test_a_schema_elsewhere_is_not_fetched_and_accepts_nothing() -> None:
    result = run_agent([says("{}")], output_schema={"$ref": "http://127.0.0.1:9/s.json"})
    assert result.stop_reason == StopReason.UNACCEPTED
    assert "could not be carried out" in feedback(result)


# -- tool_used --------------------------------------------------------------------------------------------------------


@tool
def look(at: int) -> str:
    """Look at something."""
    if at < 0:
        raise ValueError("nothing there")
    return f"saw {at}"


def test_an_answer_that_used_no_tool_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path, ToolUsed(), says("4"), calls(("look", {"at": 4})), says("4"), tools=[look])
    assert feedback(result) == (
        "The answer must rest on a tool: use it, with success, before you answer (used so far: 0)."
    )
    assert result.success


@pytest.mark.parametrize(
    ("options", "replies", "accepted"),
    [
        ({"tool": "look"}, [calls(("look", {"at": 1}))], True),
        ({"tool": "lo*", "times": 2}, [calls(("look", {"at": 1}), ("look", {"at": 2}))], True),
        ({"tool": "look", "times": 2}, [calls(("look", {"at": 1}), ("look", {"at": 1}))], False),  # ran once (F4)
        ({"tool": "other"}, [calls(("look", {"at": 1}))], False),
        ({}, [calls(("look", {"at": -1}))], False),
    ],
)
def test_only_what_ran_with_success_counts(
    tmp_path: Path, options: dict[str, Any], replies: list[Any], accepted: bool
) -> None:
    result = run(tmp_path, ToolUsed(**options), *replies, says("done"), tools=[look], max_check_attempts=0)
    assert (result.stop_reason == StopReason.COMPLETED) is accepted


# -- python -----------------------------------------------------------------------------------------------------------


def asserted(answer: str) -> bool:
    if "please" not in answer:
        raise AssertionError("Say please.")
    return True


async def waited(answer: str, run: Run) -> str | bool:
    return True if run.prompt in answer else "Repeat the question."


@pytest.mark.parametrize(
    ("function", "bad", "good", "said"),
    [
        (lambda answer: "x" in answer, "y", "x", "The answer was not accepted."),
        (asserted, "now", "please", "Say please."),
        (waited, "now", "go", "Repeat the question."),
        (lambda answer: Verdict(accepted=len(answer) > 1, feedback="Longer."), "a", "ab", "Longer."),
    ],
)
def test_a_function_decides(tmp_path: Path, function: Any, bad: str, good: str, said: str) -> None:
    result = run(tmp_path, PythonCheck(function=function), says(bad), says(good))
    assert (feedback(result), result.answer, result.success) == (said, good, True)


@pytest.mark.parametrize("function", [lambda answer: 1 / 0, lambda: None, lambda: 1, lambda: "", sys.exit])
def test_a_function_that_decides_nothing_accepts_nothing(tmp_path: Path, function: Any) -> None:
    if function is sys.exit:
        with pytest.raises(SystemExit):
            run(tmp_path, PythonCheck(function=lambda: sys.exit(1)), says("done"))
        return
    result = run(tmp_path, PythonCheck(function=function), says("done"), says("never asked"))
    assert (result.stop_reason, result.answer, result.success) == (StopReason.UNACCEPTED, "done", False)
    assert "The check python could not be carried out" in feedback(result)


def test_a_function_that_asks_for_something_else_is_refused() -> None:
    with pytest.raises(ValidationError, match="takes call; it may take answer, run"):
        PythonCheck(function=lambda call: True)


# -- sealed files -----------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("assert False\n")
    (tmp_path / "tests" / "data.txt").write_text("4\n")
    (tmp_path / "a.py").write_text("\n")
    return tmp_path


def sealed(*patterns: str) -> Check:
    return RegexCheck(pattern="", sealed=list(patterns))


@pytest.mark.parametrize(
    ("change", "breach"),
    [
        ("echo pass > tests/test_a.py", "tests/test_a.py was changed"),
        ("rm tests/data.txt", "tests/data.txt was removed"),
        ("echo > tests/conftest.py", "tests/conftest.py was added"),
        ("rm -r tests", "tests/data.txt was removed"),
        ("mv tests/data.txt d && ln -s ../d tests/data.txt", "tests/data.txt was changed"),
        ("mv tests away && ln -s away tests", "tests/data.txt was removed"),
    ],
)
@pytest.mark.parametrize("patterns", [["tests"], ["tests/**"], ["tests/*.py", "tests/*.txt"]])
def test_a_broken_seal_refuses_without_retry_and_names_the_file(
    project: Path, patterns: list[str], change: str, breach: str
) -> None:
    @tool(read_only=False)
    def change_files() -> None:
        """Do it."""
        subprocess.run(["sh", "-c", change], cwd=project, check=True)

    result = run(project, sealed(*patterns), calls(("change_files", {})), says("done"), says("x"), tools=[change_files])
    assert (result.stop_reason, result.answer, result.success) == (StopReason.UNACCEPTED, "done", False)
    assert f"depends on was tampered with: {breach}. No answer is accepted any more." in feedback(result)
    assert result.iterations == 2


def test_a_seal_counts_although_its_check_is_not_asked(project: Path) -> None:
    @tool(read_only=False)
    def change_files() -> None:
        """Do it."""
        (project / "tests" / "data.txt").write_text("5\n")

    costly = CommandCheck(command="true", sealed=["tests"])
    cheap = RegexCheck(pattern="never")
    replies = [calls(("change_files", {})), says("done"), says("x")]
    result = run_in(project, replies, checks=[cheap, costly], tools=[change_files])
    assert (result.stop_reason, result.iterations) == (StopReason.UNACCEPTED, 2)
    assert "tests/data.txt was changed" in feedback(result)


def test_what_is_not_sealed_may_change_and_caches_do_not_count(project: Path) -> None:
    @tool(read_only=False)
    def change_files() -> None:
        """Do it."""
        (project / "a.py").write_text("x = 1\n")
        (project / "tests" / "__pycache__").mkdir()
        (project / "tests" / "__pycache__" / "test_a.pyc").touch()
        (project / "tests" / "data.txt").write_text("4\n")  # the same content

    result = run(project, sealed("tests"), calls(("change_files", {})), says("done"), tools=[change_files])
    assert result.success


def test_what_a_check_itself_changes_breaks_the_seal(project: Path) -> None:
    check = CommandCheck(command="echo pass > tests/test_a.py", sealed=["tests/*.py"])
    result = run(project, check, says("done"))
    assert "tests/test_a.py was changed" in feedback(result)
    assert not result.success


@pytest.mark.parametrize("pattern", ["none.txt", "none/*.py", "../*", "/etc/passwd"])
def test_a_seal_on_nothing_is_a_mistake(project: Path, pattern: str) -> None:
    with pytest.raises(ConfigError, match="sealed: "):
        run(project, sealed(pattern), says("done"))


# -- in an agent file -------------------------------------------------------------------------------------------------


def test_all_of_them_in_an_agent_file(tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text("def fair(answer):\n    return True\n")
    (tmp_path / "kept.txt").write_text("x")
    path = tmp_path / "a.yaml"
    path.write_text(
        "version: 1\nmodel: {kind: scripted, replies: ['{\"n\": 4}']}\noutput_schema: {type: object}\nchecks:\n"
        "  - {kind: regex, pattern: '\\d', sealed: [kept.txt]}\n  - {kind: files_exist, files: [kept.txt]}\n"
        "  - {kind: command, command: 'true'}\n  - {kind: python, function: 'judge:fair'}\n"
    )
    agent = ReActAgent.from_yaml(path)
    agent.workspace = tmp_path
    result = agent.run_sync("go")
    assert (result.success, result.value) == (True, {"n": 4})
    again = tmp_path / "b.yaml"
    again.write_text(agent.config.to_yaml())
    assert ReActAgentConfig.from_yaml(again) == agent.config
    with pytest.raises(ConfigError) as caught:
        ReActAgentConfig.from_yaml(path, trusted=False)
    assert "is code, which" in str(caught.value)
