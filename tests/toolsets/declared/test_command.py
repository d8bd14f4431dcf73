"""``kind: command``: arguments reach the program as they are, and never a shell."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.toolsets.running import step

from react_run import ConfigError, ReActAgent, ReActAgentConfig, read_journal
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets.declared.command import CommandToolset

ROOT = Path(__file__).parents[3]
SHOW = "import sys, os; print(repr(sys.argv[1:]), repr(sys.stdin.read()), os.environ.get('GIVEN'), os.getcwd())"
PYTHON = sys.executable


def command(*words: str, **options: Any) -> CommandToolset:
    """A tool that shows what its program is given."""
    given: dict[str, Any] = {"name": "show", "description": "Show.", "sandbox": False, **options}
    return CommandToolset.model_validate({"command": [PYTHON, "-c", SHOW, *words], **given})


def shown(tmp_path: Path, toolset: CommandToolset, **arguments: object) -> str:
    done = step(tmp_path, toolset, "show", **arguments)
    return done.observation


@pytest.mark.parametrize(
    "text", ["; rm -rf .", "$(touch x)", "`touch x`", "a b", "'\"", "a\nb", "*", "|cat", "{text}", "ü€", "%s", "\\"]
)
def test_an_argument_stays_one_argument_whatever_it_holds(tmp_path: Path, text: str) -> None:
    toolset = command("x={text}", "{text}", parameters={"text": "text"})
    assert shown(tmp_path, toolset, text=text).startswith(repr([f"x={text}", text]))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("words", "parameters", "arguments", "expected"),
    [
        (["{n}", "-n", "{x}"], {"n": "integer", "x": "number"}, {"n": -3, "x": 1.5}, ["-3", "-n", "1.5"]),
        (["{flag}"], {"flag": "boolean"}, {"flag": True}, ["true"]),
        (["--", "{files}"], {"files": "list"}, {"files": ["a", "-b"]}, ["--", "a", "-b"]),
        (["--out={path}", "end"], {"path": "text?"}, {}, ["end"]),
        (["--out={path}"], {"path": "text?"}, {"path": "-x"}, ["--out=-x"]),
        (["{size}"], {"size": {"type": "integer", "default": 5}}, {}, ["5"]),
        (["{{text}}", "{print $1}", "}{"], {}, {}, ["{text}", "{print $1}", "}{"]),
    ],
)
def test_values_stand_in_their_places(
    tmp_path: Path, words: list[str], parameters: Any, arguments: dict[str, object], expected: list[str]
) -> None:
    assert shown(tmp_path, command(*words, parameters=parameters), **arguments).startswith(repr(expected))


def test_standard_input_environment_and_directory_are_given(tmp_path: Path) -> None:
    toolset = command(
        parameters={"text": "text"}, stdin="<{text}>", environment={"GIVEN": "was {text}"}, cwd=str(tmp_path)
    )
    big = "x" * 500_000
    assert shown(tmp_path, toolset, text="it") == f"[] '<it>' was it {tmp_path}"
    assert len(shown(tmp_path, command(parameters={"text": "text"}, stdin="{text}"), text=big)) > 1000


@pytest.mark.parametrize("value", ["--output=/etc/passwd", "-x"])
def test_an_argument_cannot_become_an_option(tmp_path: Path, value: str) -> None:
    done = step(tmp_path, command("{path}", parameters={"path": "text"}), "show", path=value)
    assert done.error_code == "invalid_argument"
    assert "would be read as an option" in done.observation


def test_wrong_arguments_are_refused_before_anything_runs(tmp_path: Path) -> None:
    done = step(tmp_path, command("{n}", parameters={"n": "integer"}), "show", n="many")
    assert (done.error_code, done.executed) == ("invalid_arguments", False)


@pytest.mark.parametrize(
    ("source", "options", "code"),
    [
        ("import sys; print('half'); sys.exit(3)", {}, "failed"),
        ("import time; print('half', flush=True); time.sleep(60)", {"timeout": 0.7}, "timeout"),
    ],
)
def test_a_program_that_fails_is_a_failed_call_with_what_it_wrote(
    tmp_path: Path, source: str, options: dict[str, Any], code: str
) -> None:
    given = {"name": "show", "description": "Show.", "command": [PYTHON, "-c", source], "sandbox": False, **options}
    done = step(tmp_path, CommandToolset.model_validate(given), "show")
    assert done.error_code == code
    assert "half" in done.observation


def test_other_exit_statuses_may_mean_success(tmp_path: Path) -> None:
    given = {"name": "show", "description": "Show.", "command": [PYTHON, "-c", "exit(1)"], "exit_statuses": [0, 1]}
    done = step(tmp_path, CommandToolset.model_validate({**given, "sandbox": False}), "show")
    assert done.observation == "(no output)\n[ended with exit status 1]"


def test_a_program_that_is_not_there_is_a_failed_call(tmp_path: Path) -> None:
    given = {"name": "show", "description": "Show.", "command": ["/no/such/program"], "sandbox": False}
    assert step(tmp_path, CommandToolset.model_validate(given), "show").error_code == "not_started"


@pytest.mark.slow
def test_it_is_confined_to_its_directory_like_the_shell_toolset(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    inside.mkdir()
    toolset = CommandToolset.model_validate(
        {"name": "show", "description": "Show.", "command": ["touch", "{path}"], "parameters": {"path": "text"}}
    )
    if toolset.confinement(inside).gaps:
        pytest.skip(f"this system cannot confine programs: {toolset.confinement(inside).gaps}")
    assert step(inside, toolset, "show", path=str(outside)).error_code == "failed"
    assert not outside.exists()


@pytest.mark.parametrize(
    ("lines", "place", "text"),
    [
        ("command: [wc, '{pth}']", "6:19", "{pth} has no parameter. Did you mean {path}?"),
        ("command: ['{path}']", "6:15", "the program itself is fixed"),
        ("command: [sh, -c, 'cat {path}']", "6:23", "arguments must not become part of a shell command"),
        ("command: [env, /bin/bash, -ec, 'cat {path}']", "6:36", "arguments must not become part of a shell command"),
        ("command: []", "6:14", "a list of at least 1 entries"),
        ("command: [wc]\n    stdin: '{tex}'", "7:12", "{tex} has no parameter"),
        ("command: [wc]\n    environment: {A: '{tex}'}", "7:22", "{tex} has no parameter"),
        ("command: [wc]\n    timeout: 0", "7:14", "must be more than 0.0"),
        ("command: [wc]\n    comand: x", "7:5", "Did you mean 'command'?"),
    ],
)
def test_what_is_wrong_in_the_file_is_reported_with_its_place(
    tmp_path: Path, lines: str, place: str, text: str
) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(f"""version: 1
toolsets:
  - kind: command
    name: count
    description: Count.
    {lines}
    parameters: {{path: text}}
""")
    with pytest.raises(ConfigError, match=re.escape(text)) as caught:
        ReActAgentConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}:{place}: ")


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ("{path: txt}", "'txt' is not a type: text, integer"),
        ("{path: {type: strin}}", "this is not a JSON Schema"),
        ("{'a b': text}", "should match pattern"),
        ("[path]", "must be a mapping"),
    ],
)
def test_wrong_parameters_are_reported_with_their_place(tmp_path: Path, parameters: str, text: str) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(f"""version: 1
toolsets:
  - {{kind: command, name: count, description: Count., command: [wc], parameters: {parameters}}}
""")
    with pytest.raises(ConfigError, match=re.escape(text)) as caught:
        ReActAgentConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}:3:")


def test_an_untrusted_file_starts_no_program(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text("version: 1\ntoolsets: [{kind: command, name: c, description: C., command: [wc]}]\n")
    with pytest.raises(ConfigError, match="starts programs"):
        ReActAgentConfig.from_yaml(path, trusted=False)


def test_the_agent_that_ships_runs_and_can_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent = ReActAgent.from_yaml(ROOT / "agents" / "declared.yaml").replace(journal=path)
    agent.workspace = tmp_path
    result = agent.run_sync("How long is it?")
    assert (result.steps[0].observation, result.success) == ("3", True)
    assert asyncio.run(replay(read_journal(path), agent)).complete


def test_the_examples_of_the_page_work(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "toolsets" / "declared.md").read_text(encoding="utf-8")
    for source in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        data = yaml.safe_load(source)
        agent = agent_with([calls(("count_lines", {"path": "a.txt"})), says("done")])
        agent = ReActAgent({"toolsets": data["toolsets"]}, model=agent.model)
        (tmp_path / "a.txt").write_text("one\ntwo\n")
        agent.workspace = tmp_path
        if data["toolsets"][0]["kind"] == "command":
            assert agent.run_sync("go").steps[0].observation.split()[0] == "2"
    (python,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(python, names)
    assert names["result"].steps[0].observation == "tea for 2"
