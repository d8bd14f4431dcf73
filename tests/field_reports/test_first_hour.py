"""The first hour of a new user: what is typed first, looked at first, and gone wrong first."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command_line import Call, environment
from tests.cli.conftest import call as call  # the fixture
from tests.toolsets.calling import call as ask
from tests.toolsets.calling import code_of, message_of

from react_run import ConfigError, ReActAgent, RunResult, hookimpl
from react_run.cli.statuses import footer
from react_run.journal.reading import read_journal
from react_run.journal.view.formatting import cost
from react_run.journal.view.html import page
from react_run.messages import Usage
from react_run.run import Iteration, Run, ToolCall
from react_run.testing import agent_with, calls, run_agent, says
from react_toolsets.temporal import TemporalToolset

SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
JSON = '{"total": 5}'


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{JSON}\n```",
        f"```\n{JSON}\n```",
        f"\n```json\n{JSON}\n```\n",
        f"<think>ok</think>\n```json\n{JSON}\n```",
        f"<think>ok</think>{JSON}",
        f"  {JSON}\n",
        JSON,
    ],
)
def test_an_answer_by_a_schema_is_json_and_nothing_else(reply: str) -> None:
    result = run_agent([says(reply)], output_schema=SCHEMA)
    assert (result.answer, result.value, result.success) == (JSON, {"total": 5}, True)


def test_an_answer_that_was_refused_stays_as_it_was() -> None:
    reply = '```json\n{"sum": 5}\n```'
    result = run_agent([says(reply)] * 4, output_schema=SCHEMA)
    assert (result.success, result.answer) == (False, reply)


def test_a_pipe_gets_json_that_another_program_reads(call: Call, tmp_path: Path) -> None:
    model = {"kind": "scripted", "replies": [f"```json\n{JSON}\n```"]}
    (tmp_path / "a.yaml").write_text(json.dumps({"model": model, "output_schema": SCHEMA}))
    status, out, _ = call("a.yaml", "go", "-q")
    assert (status, json.loads(out)) == (0, {"total": 5})


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_what_one_looks_at_first_says_what_it_is() -> None:
    seen: list[object] = []

    async def look() -> None:
        agent = agent_with([calls(("add", {"a": 1, "b": 2})), says("3")], tools=[add], name="sums")
        seen.append(agent)
        seen.extend([event async for event in agent.stream("1+2")])

    asyncio.run(look())
    texts = [repr(each) for each in seen]
    assert texts[0] == "<ReActAgent sums: model scripted, 1 tool>"
    assert texts[1] == 'ToolStarted(call=<ToolCall add {"a": 1, "b": 2} → "3">)'
    assert max(map(len, texts)) < 600


def test_runs_and_iterations_are_short_to_look_at() -> None:
    held: list[Run | Iteration | ToolCall] = []

    class Holds:
        @hookimpl
        def react_tool_call_finished(self, run: Run, call: ToolCall) -> None:
            held.extend([run, run.iterations[-1], call])

    adding = {**calls(("add", {"a": 1, "b": 2})), "text": "adding"}
    run_agent([adding, says("3")], tools=[add], plugins=[Holds()])
    run, iteration, call = map(repr, held)
    assert re.fullmatch(r'<Run [0-9a-f]{12} ".*", iteration 2 of 10>', run)
    assert iteration == '<Iteration 1 "adding", 1 call>'
    assert call == '<ToolCall add {"a": 1, "b": 2} → "3">'


def test_a_notebook_shows_the_answer_and_what_went_wrong() -> None:
    def shown(result: RunResult) -> str:
        return result._repr_markdown_()

    assert shown(run_agent([says("**3**")])) == "**3**"
    refused = run_agent([says("[]")] * 4, output_schema=SCHEMA)
    assert shown(refused) == "[]\n\n*not a success: unaccepted*"


def test_a_mistake_of_python_is_not_explained_in_yaml() -> None:
    with pytest.raises(ConfigError, match=r"^toolsets: must be a list, not function$"):
        ReActAgent({"toolsets": add})


BROKEN = "modle: x\nmax_iteration: 3\ntoolsets: [maths]\n"


def test_list_says_which_agent_files_are_broken(call: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BROKEN)
    (tmp_path / "good.yaml").write_text("model: offline\n")
    (tmp_path / "needs.yaml").write_text("model: offline\ntoolsets: [{kind: functions, path: f.py}]\n")
    (tmp_path / "f.py").write_text("raise SystemExit('this must not run')\n")
    status, out, _ = call("list", "agents", "--json")
    assert status == 0
    assert {entry["name"]: entry["error"] for entry in json.loads(out)} == {
        "bad": "unknown key 'modle'. Did you mean 'model'? (and 2 more: react-run check bad.yaml)",
        "good": "",
        "needs": "needs trust",
    }


@pytest.mark.parametrize("name", ["mien.yaml", "mine", "mine.yml", "./mien.yaml"])
def test_a_mistyped_file_is_named(call: Call, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.yaml").write_text("model: offline\n")
    status, _, err = call(name, "go")
    assert (status, "Did you mean mine.yaml?" in err) == (2, True)


def test_doctor_names_a_directory_that_can_be_made_writable(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "file" / "home"))
    status, out, _ = call("doctor", "--offline")
    assert status == 1
    assert f"chmod u+rwx {tmp_path / 'file'}\n" in out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("trust", "."),
            "cannot write the list of trusted directories ({home}/config/trusted.json): Not a directory; ",
        ),
        (("trust", "."), "or use --trust for one run"),
        (("init", "{home}"), "cannot write {home}/agent.yaml: Not a directory; name a directory that you may write to"),
        (("init", "--plugin", "courtesy", "{home}"), "cannot write {home}/"),
        (("trust", "a.yaml"), "to trust the one that it is in: react-run trust {tmp_path}"),
        (("a.yaml", "go", "--record", "-"), "name a file instead of '-'"),
        (("eval", "a.yaml", "cases.yaml", "--html", "-"), "name a file instead of '-'"),
        (("eval", "a.yaml", "cases.yaml", "--export", "junit", "-"), "name a file instead of '-'"),
        (("test", "a.yaml", "cases.yaml", "--junit", "-"), "name a file instead of '-'"),
    ],
)
def test_what_cannot_be_written_is_said_with_the_way_out(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], said: str
) -> None:
    home = tmp_path / "file" / "home"
    (tmp_path / "file").write_text("not a directory")
    (tmp_path / "a.yaml").write_text("model: offline\n")
    monkeypatch.setenv("REACT_RUN_HOME", str(home))
    status, _, err = call(*(part.format(home=home) for part in command))
    assert (status, said.format(home=home, tmp_path=tmp_path) in err) == (2, True), err
    assert not (tmp_path / "-").exists()


def test_a_component_of_ones_own_is_named_by_its_path(call: Call, tmp_path: Path) -> None:
    for key, word in (("checks", "polite"), ("plugins", "my_plugin"), ("toolsets", "weather")):
        (tmp_path / "a.yaml").write_text(f"model: offline\n{key}: [{word}]\n")
        _, out, _ = call("check", "a.yaml")
        assert f"unknown {key[:-1]} '{word}'" in out
        assert f"Name your own by its path, such as my_code.{word.title().replace('_', '')}" in out


def test_doctor_says_what_it_looked_at(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "a.yaml").write_text("model: offline\ntoolsets: [math]\n")
    (tmp_path / "b.yaml").write_text("model: openai/gpt-5-mini\n")
    status, out, _ = call("doctor", "a.yaml", "--offline")
    assert status == 0
    assert "model offline: runs here, and needs no key" in out
    assert "toolset math: starts, 2 tools" in out
    status, out, _ = call("doctor", "b.yaml", "--offline")
    assert status == 1
    assert "OPENAI_API_KEY is not set" in out


TEAM = """\
model:
  kind: scripted
  replies:
    - tool_calls: [{name: helper, arguments: {task: "2+2"}}, {name: helper, arguments: {task: "3+3"}}]
    - done
subagents: [helper.yaml]
"""
HELPER = "name: helper\ndescription: Calculates.\nmodel: offline\ntoolsets: [math]\n"
COUNTS = "6 model calls (4 by subagents) · 4 tool calls (2 by subagents)"


def test_the_calls_of_subagents_are_counted_alike_everywhere(call: Call, tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "helper.yaml").write_text(HELPER)
    status, _, err = call("team.yaml", "go", "--trust")
    assert (status, COUNTS in err) == (0, True)
    assert COUNTS in call("runs", "show", "--last")[1]
    assert COUNTS in call("trace", "--last")[1]
    call("trace", "--last", "--html", "t.html")
    html = (tmp_path / "t.html").read_text()
    assert "<dt>model calls</dt><dd>6 (4 by subagents)</dd>" in html
    assert "<dt>tool calls</dt><dd>4 (2 by subagents)</dd>" in html


def test_the_time_of_a_person_is_not_that_of_a_tool(tmp_path: Path) -> None:
    class Person:
        @hookimpl
        async def react_ask(self) -> str:
            await asyncio.sleep(0.3)
            return "yes"

    def order(item: str) -> str:
        """Order an item."""
        return "ok"

    model = {"kind": "scripted", "replies": [calls(("order", {"item": "pen"})), says("done")]}
    rules = [{"tool": "order", "action": "ask"}]
    journal_file = tmp_path / "j.jsonl"
    ReActAgent(
        {"model": model, "permissions": rules}, toolsets=[order], plugins=[Person()], journal=journal_file
    ).run_sync("go")
    journal = read_journal(journal_file)
    assert journal.stats.person_seconds > 0.25
    assert journal.stats.tool_seconds < 0.2
    assert sum(use.taken or 0 for found in journal.iterations for use in found.tools) == journal.stats.tool_seconds
    assert "<dt>waiting for a person</dt><dd>0.3" in page(journal)


def test_a_cost_that_is_too_small_to_show_is_not_shown_as_none() -> None:
    assert cost(0.0000444) == "<$0.0001"
    assert cost(0.0) == "$0.0000"
    assert "<$0.0001" in footer(Usage(input_tokens=1, output_tokens=1, cost=0.0000444), 0, 0.0, "0" * 32)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("safee", "must be 'safe' or 'legacy', not 'safee'. Did you mean 'safe'?"),
        ("retry", "must be 'safe' or 'legacy'; a policy is a mapping: {kind: retry}"),
        ("zzz", "must be 'safe' or 'legacy', not 'zzz'. Or a policy: {kind: …}"),
    ],
)
def test_a_mistyped_policy_is_named(call: Call, tmp_path: Path, word: str, said: str) -> None:
    (tmp_path / "a.yaml").write_text(f"model: offline\nfailure_handling: {word}\n")
    status, out, _ = call("check", "a.yaml")
    assert (status, said in out) == (2, True)


@pytest.mark.filterwarnings("default")
def test_check_as_json_has_the_warnings(call: Call, tmp_path: Path) -> None:
    (tmp_path / "skills" / "bad").mkdir(parents=True)
    (tmp_path / "skills" / "bad" / "SKILL.md").write_text("no front matter")
    (tmp_path / "a.yaml").write_text("model: offline\nskills: [skills]\n")
    status, out, _ = call("check", "a.yaml", "--json")
    (note,) = json.loads(out)["files"][0]["notes"]
    assert status == 0
    assert note.startswith("warning: skill left out: ")
    assert "warning: skill left out" in call("check", "a.yaml")[2]


def test_a_file_of_variables_that_is_not_there_is_told_in_words(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("model: offline\n")
    status, _, err = call("a.yaml", "go", "--env-file", "nope")
    assert (status, "cannot read nope: No such file or directory" in err, "Errno" in err) == (2, True, False)


def test_an_answer_that_nobody_can_read_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(json.dumps({"model": {"kind": "scripted", "replies": ["done"]}}))
    words = [sys.executable, "-m", "react_run", "a.yaml", "go"]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *words]
    done = subprocess.run(closed, cwd=tmp_path, env=environment(tmp_path / "home"), capture_output=True, text=True)
    assert (done.returncode, "cannot write the output" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("Pacific Time", "America/Los_Angeles"),
        ("eastern standard time", "America/New_York"),
        ("Central European Summer Time", "Europe/Berlin"),
        ("Japan Time", "Asia/Tokyo"),
    ],
)
def test_the_time_of_a_region_is_offered_by_its_zone(name: str, zone: str) -> None:
    result = ask(TemporalToolset(), "get_current_time", timezone=name)
    assert code_of(result) == "unknown_timezone"
    assert f"Did you mean {zone}?" in message_of(result)


def test_what_is_not_text_is_sent_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(json.dumps({"model": {"kind": "scripted", "replies": ["done"]}}))
    words = [sys.executable, "-m", "react_run", "a.yaml", "-"]
    for data, told in ((b"caf\xe9", True), ("caf\u00e9".encode(), False), ("\ufeffx".encode("utf-16"), False)):
        done = subprocess.run(words, cwd=tmp_path, env=environment(tmp_path / "home"), input=data, capture_output=True)
        assert (done.returncode, b"standard input is not valid UTF-8" in done.stderr) == (0, told)


def test_a_run_is_not_written_into_a_file_of_another_kind(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(json.dumps({"model": {"kind": "scripted", "replies": ["done"]}}))
    call("a.yaml", "go")
    status, _, err = call("runs", "export", "--last", "-o", "x.pdf")
    assert (status, "x.pdf: a run is written as .md, .json or .html" in err) == (2, True)
    assert not (tmp_path / "x.pdf").exists()
    assert call("runs", "export", "--last", "-o", "x.pdf", "--format", "markdown")[0] == 0
