"""The commands beside ``run``: what they print, and how they end."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.cli.command_line import SCRIPTED, Call, write

from react_run.cli.commands import COMMANDS
from react_run.cli.terminal import json_text
from react_run.components.kinds import GROUPS, installed
from react_run.config.json_schema import agent_file_schema
from react_run.secrets import mask_line

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_has_a_help_text(call: Call, name: str) -> None:
    status, out, _ = call(name, "--help")
    assert status == 0
    assert out.startswith(f"Usage: react-run {name}")
    assert len(out.splitlines()) > 5


def test_the_help_text_lists_every_command_and_every_exit_status(call: Call) -> None:
    _, out, _ = call("--help")
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", out, re.MULTILINE)
    for status in range(7):
        assert re.search(rf"\b{status} ", out.partition("Exit status")[2])


# -- check ------------------------------------------------------------------------------------------------------------


def test_check_reports_all_errors_of_all_files(call: Call, tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED, "good.yaml")
    write(tmp_path, "name: no\nmax_iterations: x\n", "bad.yaml")
    write(tmp_path, "toolsets: [math, math]\n", "clash.yaml")
    status, out, err = call("check", "good.yaml", "bad.yaml", "clash.yaml", "gone.yaml")
    assert (status, err) == (2, "")
    assert "good.yaml: ok" in out
    assert "bad.yaml:1:7: name: must be text" in out
    assert "bad.yaml:2:17: max_iterations: must be a whole number" in out
    assert "clash.yaml:1:" in out
    assert "there is no file gone.yaml" in out
    assert out.endswith("4 checked, 3 wrong, 4 problems\n")


def test_check_writes_json_for_ci_and_takes_directories(call: Call, tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED, "a.yaml")
    write(tmp_path, "nme: x\n", "b.yaml")
    status, out, _ = call("check", ".", "--json")
    assert status == 2
    report = json.loads(out)
    assert [(entry["file"], entry["ok"]) for entry in report["files"]] == [("a.yaml", True), ("b.yaml", False)]
    assert report["files"][1]["problems"][0]["code"] == "cfg.unknown_key"
    assert call("check", "a.yaml")[0] == 0


FUNCTIONS = """
from react_run import tool

def price(net: int) -> int:
    "The price."
    return net

def order(item: str) -> str:
    "Order it."
    return item

@tool(read_only=True)
def stock(item: str) -> int:
    "The stock."
    return 4
"""


FREE = "model: {kind: scripted, replies: [done]}\n"


def test_a_rule_for_a_misspelt_tool_is_noted_with_the_nearest_name(call: Call, tmp_path: Path) -> None:
    text = FREE + "toolsets: [math]\npermissions: [{tool: calculte, action: deny}, {tool: elsewhere, action: deny}]\n"
    status, out, _ = call("check", write(tmp_path, text, "a.yaml").name)
    assert status == 0
    assert "note: permissions[0].tool: no tool is called 'calculte'" in out
    assert "Did you mean 'calculate'?" in out
    assert "elsewhere" not in out  # it may be a tool of a subagent


def test_tools_without_a_mark_are_named_and_are_no_mistake(call: Call, tmp_path: Path) -> None:  # F4, F6
    write(tmp_path, FUNCTIONS, "shop.py")
    path = write(tmp_path, FREE + "toolsets: [{kind: functions, path: shop.py}]\n", "a.yaml")
    status, out, _ = call("check", "--trust", path.name)
    assert (status, "note: price, order: nothing declares whether they change anything" in out) == (0, True)
    (entry,) = json.loads(call("check", "--trust", "--json", path.name)[1])["files"]
    assert (entry["ok"], len(entry["notes"]), "stock" in entry["notes"][0]) == (True, 1, False)
    assert "note: price, order: nothing declares" in call("explain", "--trust", path.name)[1]
    marked = FREE + (
        "toolsets:\n  - kind: functions\n    path: shop.py\n"
        "    annotations: {price: {read_only: true}, order: {read_only: false}}\n"
    )
    write(tmp_path, marked, "a.yaml")
    assert "note:" not in call("check", "--trust", path.name)[1]
    assert "note:" not in call("explain", "--trust", path.name)[1]


def test_every_agent_file_that_ships_is_right_and_matches_the_schema(call: Call) -> None:
    paths = [str(path) for path in sorted((ROOT / "agents").glob("*.yaml"))]
    assert paths
    status, out, _ = call("check", "--trust", *paths)
    assert status == 0, out
    assert "note:" not in out  # their tools are marked
    validator = jsonschema.Draft202012Validator(agent_file_schema())
    for path in paths:
        validator.validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))


def test_no_agent_file_that_ships_holds_what_a_journal_would_mask() -> None:
    shipped = [*(ROOT / "agents").rglob("*.yaml"), *(ROOT / "src/react_run/cli/templates").rglob("*.yaml.tmpl")]
    assert shipped
    for path in shipped:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert mask_line(line) == line, path


# -- schema -----------------------------------------------------------------------------------------------------------


def test_the_schema_is_one_and_covers_every_installed_kind_with_descriptions(call: Call) -> None:
    status, out, _ = call("schema")
    assert status == 0
    schema = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(schema)
    for group in GROUPS:
        for name in installed(group):
            options = schema["$defs"][f"{group}.{name}"]
            assert options["properties"]["kind"]["const"] == name
            for option, about in options["properties"].items():
                shared = schema["$defs"][about["$ref"].removeprefix("#/$defs/")] if "$ref" in about else about
                assert about.get("description") or shared.get("description"), f"{group}.{name}: {option}"
    for key in schema["properties"]:
        if key != "properties":
            assert schema["$defs"][f"key.{key}"].get("description"), key


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("model: offline\nmax_iterations: ${N:-5}\n", True),
        ("model: {kind: scripted, replies: [x]}\ntoolsets: [math, {kind: temporal, timezone: UTC}]\n", True),
        ("system_prompt: {file: p.md}\nlimits: {max_cost: 1}\nmax_cost: 2\nx-mine: 1\n+plugins: []\n", True),
        ("id: a\nclass_name: x.ReActAgent\nproperties: {toolset: {kind: a.b.C, any: 1}}\n", True),
        ("failure_handling: {kind: safe, corrections: 2}\ntool_disclosure: skills\n", True),
        ("permissions: [{tool: '*', action: ask}]\nguides: [x, {file: y}]\nskills: [a]\n", True),
        ("max_iteration: 5\n", False),
        ("max_iterations: many\n", False),
        ("max_iterations: 500\n", False),
        ("toolsets: [mth]\n", False),
        ("toolsets: [{kind: temporal, timezon: UTC}]\n", False),
        ("toolsets: math\n", False),
        ("model: {kind: scripted}\n", False),
        ("permissions: [{tool: '*', action: maybe}]\n", False),
        ("properties: {max_iteration: 5}\n", False),
    ],
)
def test_the_schema_accepts_what_loads_and_refuses_what_does_not(text: str, valid: bool) -> None:
    validator = jsonschema.Draft202012Validator(agent_file_schema())
    assert validator.is_valid(yaml.safe_load(text)) is valid


# -- explain ----------------------------------------------------------------------------------------------------------


def test_explain_says_where_every_value_came_from(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIONS", "7")
    write(tmp_path, "max_cost: 3\ntoolsets: [math]\n", "base.yaml")
    write(
        tmp_path,
        "extends: base.yaml\nname: mine\nmax_iterations: ${ITERATIONS}\nmodel: ${NO_SUCH:-offline}\n"
        "api_key: literally-secret\n+toolsets: [temporal, {kind: web}]\n",
    )
    status, out, _ = call("explain", "agent.yaml", "--set", "limits.run_timeout=9", "--json")
    assert status == 0
    explained = json.loads(out)
    values = {value["key"]: (value["shown"], value["source"]) for value in explained["values"]}
    assert values["name"] == ("mine", "agent.yaml:2:7")
    assert values["limits.max_cost"] == ("3.0", "base.yaml:1:11")
    assert values["max_iterations"] == ("7", "agent.yaml:3:17  ${ITERATIONS}")
    assert values["model.kind"] == ("offline", "agent.yaml:4:8  ${NO_SUCH:-offline}")
    assert values["limits.run_timeout"] == ("9.0", "command line")
    assert values["failure_handling"] == ("safe", "default")
    assert values["toolsets[0].kind"] == ("math", "base.yaml:2:12")
    assert values["toolsets[1].kind"] == ("temporal", "agent.yaml:6:13")
    assert values["toolsets[2].kind"] == ("web", "agent.yaml:6:30")
    assert values["api_key"] == ("***", "agent.yaml:5:10")
    assert "literally-secret" not in out
    assert "careful assistant" in explained["prompt"][0]
    tools = {tool["name"]: tool for tool in explained["tools"]}
    assert tools["calculate"]["parameters"]["required"] == ["expression"]
    assert explained["hooks"]["react_run"][-1] == "Loop"


def test_explain_is_readable_and_names_the_plugin_order(call: Call, tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    status, out, _ = call("explain", "agent.yaml")
    assert status == 0
    for heading in ("VALUES", "PROMPT", "TOOLS", "HOOKS, outermost first"):
        assert f"{heading}\n" in out
    assert re.search(r"^  react_tool_call +.*> Loop$", out, re.MULTILINE)


def test_explain_shows_what_the_file_says_before_what_is_there_by_default(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: offline\ntoolsets: [math]\nmax_iterations: 7\n")
    out = call("explain", "agent.yaml")[1]
    values, _, rest = out.partition("\n  by default: ")
    assert re.search(r"^  max_iterations +7 +agent.yaml:\d+:\d+$", values, re.MULTILINE)
    assert " default\n" not in values
    defaults, _, unset = rest.partition("PROMPT\n")[0].partition("\n  not set: ")
    assert "failure_handling safe" in defaults
    assert "temperature" in unset
    assert "    - expression: string, " in out
    assert re.search(r"^    - digits\?: ", out, re.MULTILINE)
    every = {row["key"] for row in json.loads(call("explain", "agent.yaml", "--json")[1])["values"]}
    assert all(key in out for key in every)
    assert max(map(len, rest.partition("PROMPT")[0].splitlines())) <= 110


def test_explain_shows_no_part_of_a_secret_where_it_cuts_a_line(call: Call, tmp_path: Path) -> None:
    secret = "sk-" + "canary" * 30
    (tmp_path / "parts.py").write_text(
        f"from react_run import tool\n\n\n@tool\ndef look(where: str) -> str:\n"
        f'    """Look.\n\n    Args:\n        where: The place {secret}.\n    """\n    return where\n'
    )
    write(tmp_path, "model: openai/gpt-5-mini\napi_key: ${KEY}\ntoolsets: [{kind: functions, path: parts.py}]\n")
    (tmp_path / ".env").write_text(f"KEY={secret}\n")
    status, out, err = call("explain", "agent.yaml", "--trust", "--env-file", ".env")
    assert status == 0, err
    assert "look" in out
    assert "canary" not in out


def test_explain_draws_the_agent(call: Call, tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED + "plugins: [{kind: stuck}]\n")
    _, out, _ = call("explain", "agent.yaml", "--mermaid")
    lines = out.splitlines()
    assert lines[:3] == ["flowchart LR", '  agent(["scripted"])', '  agent --> model[/"scripted"/]']
    assert '  agent --> t0[["math"]]' in lines
    assert '  t0 --> t0_tool0["calculate"]' in lines
    assert any("plugin" in line for line in lines)


# -- list, doctor, trust, completion ----------------------------------------------------------------------------------


def test_list_names_what_is_installed_with_its_distribution(call: Call, tmp_path: Path) -> None:
    entries = json.loads(call("list", "toolsets", "--json")[1])
    math = next(entry for entry in entries if entry["name"] == "math")
    assert (math["distribution"], math["error"]) == ("react-run", "")
    assert math["description"]
    write(tmp_path, "name: mine\ndescription: Mine.\nmodel: offline\n")
    everything = json.loads(call("list", "--json")[1])
    assert set(everything) == {"toolsets", "plugins", "models", "checks", "scorers", "agents"}
    assert everything["agents"] == [{"name": "mine", "description": "Mine.", "file": "agent.yaml", "error": ""}]
    out = call("list")[1]
    assert re.search(r"^math +\S", out, re.MULTILINE)


def test_list_marks_the_plugins_that_agents_have_unasked(call: Call) -> None:
    roles = {entry["name"]: entry["role"] for entry in json.loads(call("list", "plugins", "--json")[1])}
    assert (roles["stuck"], roles["compaction"]) == ("guard", "guard")
    assert (roles["retry"], roles["journal"]) == ("", "")


def test_doctor_finds_nothing_wrong_here_and_never_shows_a_key(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-CANARY-123")
    write(tmp_path, SCRIPTED)
    status, out, _ = call("doctor", "agent.yaml", "--offline")
    assert status == 0, out
    assert "OPENAI_API_KEY: set (not shown)" in out
    assert "CANARY" not in out
    assert "toolset math: starts, 2 tools" in out


def test_doctor_names_every_failure_with_its_fix(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "file"
    home.write_text("", encoding="utf-8")
    monkeypatch.setenv("REACT_RUN_HOME", str(home))
    write(tmp_path, "name: no\n", "wrong.yaml")
    status, out, _ = call("doctor", "wrong.yaml", "--offline", "--json")
    assert status == 1
    failed = [finding for finding in json.loads(out) if finding["status"] == "failed"]
    assert {finding["what"] for finding in failed} >= {"data directory", "agent file"}
    assert all(finding["fix"] for finding in failed)


def test_doctor_says_when_a_provider_cannot_be_reached() -> None:
    import socket

    from react_run.cli.doctor_checks import reachable

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        listener.listen()
        assert reachable(address).status == "ok"
    gone = reachable(address)
    assert (gone.status, bool(gone.fix)) == ("failed", True)


def test_trust_is_given_listed_and_taken_back(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "my agents"
    folder.mkdir()
    code = 'from react_run import tool\n\n\n@tool\ndef shout(text: str) -> str:\n    """Shout."""\n    return text\n'
    write(folder, code, "shouting.py")
    write(folder, "model: {kind: scripted, replies: [ok]}\ntoolsets: [shouting:shout]\n")
    status, _, err = call("my agents/agent.yaml", "go")
    assert status == 2
    assert f"react-run trust '{folder}'" in err
    assert call("my agents/agent.yaml", "go", "--trust")[0] == 0
    assert call("trust", "--list")[1:] == ("", "no directory is trusted\n")
    assert call("trust", "my agents") == (0, f"trusted: {folder}\n", "")
    assert call("trust", "--list")[1] == f"{folder}\n"
    assert call("my agents/agent.yaml", "go")[0] == 0
    assert call("trust", "my agents", "--remove")[0] == 0
    assert call("my agents/agent.yaml", "go")[0] == 2
    assert call("trust", "my agents", "--remove")[0] == 2
    assert call("trust", "nowhere")[0] == 2
    assert call("trust")[0] == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(call: Call, shell: str) -> None:
    status, out, _ = call("completion", shell)
    assert status == 0
    assert "_REACT_RUN_COMPLETE" in out


# -- a run, by its options --------------------------------------------------------------------------------------------


def test_values_of_the_command_line_win(call: Call, tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED + "max_iterations: 1\nfailure_handling: legacy\n")
    assert call("agent.yaml", "go")[0] == 5
    assert call("agent.yaml", "go", "--max-iterations", "3")[0] == 0
    assert call("agent.yaml", "go", "--set", "max_iterations=3", "--set", "metadata={a: [1]}")[0] == 0
    assert call("agent.yaml", "go", "--set", "max_iterations=3", "--set", "name=~")[0] == 0
    answer = call("agent.yaml", "go", "-m", "{kind: scripted, replies: [other]}")[1]
    assert answer == "other\n"


COMPARABLE = """\
id: research_assistant
name: Research Assistant
description: Looks things up and calculates.
class_name: rustic_ai.llm_agent.react.ReActAgent
properties:
  model: gpt-5-nano
  api_key: ${LLM_API_KEY}
  max_iterations: 10
  system_prompt: |
    You are a research assistant.
  toolset:
    kind: rustic_ai.llm_agent.react.toolset.CompositeToolset
    toolsets:
      - kind: rustic_ai.llm_agent.react.toolsets.math.MathToolset
      - kind: rustic_ai.llm_agent.react.toolsets.temporal.TemporalToolset
      - kind: rustic_ai.llm_agent.react.toolsets.mediawiki.MediaWikiSearchToolset
      - kind: rustic_ai.llm_agent.react.toolsets.duckduckgo.DuckDuckGoInstantAnswerToolset
        timeout_seconds: 4
"""


def test_an_agent_file_of_the_comparable_system_runs_unchanged(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-CANARY-445566")
    write(tmp_path, COMPARABLE)
    assert call("check", "agent.yaml")[0] == 0
    _, out, _ = call("agent.yaml", "what is 6*7?", "--dry-run")
    request = json.loads(out)
    assert request["model"] == "gpt-5-nano"
    assert len(request["tools"]) >= 12
    model = "{kind: scripted, replies: [{tool_calls: [{name: calculate, arguments: {expression: 6*7}}]}, It is 42.]}"
    assert call("agent.yaml", "what is 6*7?", "-m", model)[:2] == (0, "It is 42.\n")


def test_plugins_are_added_and_left_out(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, SCRIPTED + "plugins: [{kind: stuck}]\n")

    def plugins(*arguments: str) -> list[str]:
        explained = json.loads(call("explain", "agent.yaml", "--json", *arguments)[1])
        return [value["shown"] for value in explained["values"] if re.fullmatch(r"plugins\[\d\]\.kind", value["key"])]

    assert plugins() == ["stuck"]
    explained = json.loads(call("explain", "agent.yaml", "--json", "-p", "cache")[1])
    assert {"key": "-p", "value": "cache", "shown": "cache", "source": "command line"} in explained["values"]
    assert '{{"cache"}}' in call("explain", "agent.yaml", "--mermaid", "-p", "cache")[1]
    assert plugins("-p", "no:stuck") == []
    assert call("agent.yaml", "go", "-p", "{kind: stuck}")[0] == 0
    monkeypatch.setenv("REACT_RUN_PLUGINS", "stuck, nonsense")
    status, _, err = call("agent.yaml", "go", "-p", "no:stuck")
    assert status == 2
    assert "REACT_RUN_PLUGINS=nonsense: unknown plugin" in err
    assert call("agent.yaml", "go", "-p", "no:stuck", "-p", "no:nonsense")[0] == 2


REMOVING = """\
from react_run import tool


@tool
def remove_note(note: str) -> str:
    \"""Remove the note with a given name.\"""
    return f"removed {note}"
"""


@pytest.mark.parametrize("model", ["", "model: offline\n"])
def test_yes_lets_the_offline_model_change_things(call: Call, tmp_path: Path, model: str) -> None:
    write(tmp_path, REMOVING, "notes.py")
    write(tmp_path, f"{model}toolsets: [{{kind: functions, path: notes.py}}]\n")
    asked = ("agent.yaml", 'remove the note "milk"', "--trust", "--no-save")
    status, out, _ = call(*asked)
    assert status == 1
    assert "--yes" in out
    assert "No tools are offered" not in out
    status, out, err = call(*asked, "--yes")
    assert (status, out) == (0, "removed milk\n"), err


def test_a_dry_run_prints_the_exact_first_request_and_sends_nothing(call: Call, tmp_path: Path) -> None:
    write(
        tmp_path,
        "model: openai/gpt-4o-mini\nbase_url: http://127.0.0.1:9/v1\ntemperature: 0.5\ntoolsets: [math]\n"
        "system_prompt: Be brief.\n",
    )
    status, out, _ = call("agent.yaml", "what is 2+2?", "--dry-run")
    assert status == 0
    request = json.loads(out)
    assert request["temperature"] == 0.5
    assert [(m["role"], m["content"]) for m in request["messages"]] == [
        ("system", "Be brief."),
        ("user", "what is 2+2?"),
    ]
    assert [tool["function"]["name"] for tool in request["tools"]] == ["calculate", "convert_units"]


@pytest.mark.parametrize("arguments", [("agent.yaml", "go", "--dry-run"), ("explain", "agent.yaml")])
def test_looking_at_an_agent_is_no_failed_run_to_its_plugins(
    call: Call, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write(tmp_path, f"{SCRIPTED}plugins: [console]\n")
    status, out, err = call(*arguments)
    assert status == 0
    assert "failed" not in err
    assert arguments[0] != "explain" or re.search(r"react_run_failed +console\n", out)


def test_a_conversation_goes_on_when_asked_to(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, replies: [fine]}\n")

    def users(*arguments: str) -> list[str]:
        result = json.loads(call("agent.yaml", *arguments, "--json")[1])
        return [message["content"] for message in result["messages"] if message["role"] == "user"]

    assert users("one") == ["one"]
    assert users("two", "-c") == ["one", "two"]
    assert users("three", "-c", "--no-save") == ["one", "two", "three"]
    assert users("four", "-c") == ["one", "two", "four"]
    assert users("five", "--session", "talk") == ["five"]
    assert users("six", "--session", "talk") == ["five", "six"]
    assert users("seven") == ["seven"]
    kept = list((tmp_path / "home").rglob("sessions/**/*.json"))
    assert kept
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)
    kept[0].write_text("{", encoding="utf-8")


def test_a_run_leaves_a_journal_that_says_how_to_make_its_agent_again(call: Call, tmp_path: Path) -> None:
    from react_run.journal.reading import read_journal
    from react_run.launch.options import AgentOptions

    write(tmp_path, SCRIPTED)
    assert call("agent.yaml", "go", "--no-save")[0] == 0
    assert not list((tmp_path / "home").rglob("*.jsonl"))
    assert call("agent.yaml", "go", "--no-save", "--record", "run.jsonl")[0] == 0
    assert call("agent.yaml", "go", "--max-iterations", "4", "--session", "talk")[0] == 0
    (own,) = (tmp_path / "home").rglob("*.jsonl")
    assert own.stat().st_size > (tmp_path / "run.jsonl").stat().st_size / 2
    header = json.loads(own.read_text(encoding="utf-8").splitlines()[0])
    options = AgentOptions.from_record(header["options"])
    assert options == AgentOptions(file=str(tmp_path / "agent.yaml"), overrides={"max_iterations": 4})
    assert options.config().max_iterations == 4
    assert header["session"] == "talk"
    assert read_journal(own)


def test_what_cannot_be_kept_does_not_keep_a_run_from_its_answer(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, SCRIPTED)
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "file"))
    status, out, err = call("agent.yaml", "go")
    assert (status, out) == (0, "The answer is 42.\n")
    assert "the journal is not saved" in err
    assert "the conversation is not saved" in err


def test_a_damaged_conversation_is_reported(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, replies: [fine]}\n")
    call("agent.yaml", "one", "--session", "talk")
    (path,) = (tmp_path / "home").rglob("talk.json")
    path.write_text("{", encoding="utf-8")
    status, _, err = call("agent.yaml", "two", "--session", "talk")
    assert status == 2
    assert "cannot continue the conversation" in err


def test_a_chat_on_a_pipe_answers_line_by_line(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, scope: agent, replies: [one, two]}\n")
    status, out, err = call("chat", "agent.yaml", stdin="a\n/nonsense\n\nb\n/reset\n/quit\nc\n")
    assert (status, out) == (0, "one\ntwo\n")
    assert "unknown command /nonsense" in err


def test_a_turn_of_a_chat_can_be_taken_back_and_asked_again(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, scope: agent, replies: [one, two, three, four]}\n")
    typed = "/undo\n/retry\na\nb\n/undo\n/save left.json\nc\n/retry\n/save all.json\n"
    status, out, err = call("chat", "agent.yaml", stdin=typed)
    assert (status, out) == (0, "one\ntwo\nthree\nfour\n")
    assert err.count("there is no turn of this chat to take back") == 2
    assert "the last turn is forgotten" in err

    def said(name: str) -> list[str]:
        messages = json.loads((tmp_path / name).read_text())
        return [message["content"] for message in messages if message["role"] != "system"]

    assert said("left.json") == ["a", "one"]
    assert said("all.json") == ["a", "one", "c", "four"]


def test_a_turn_taken_back_is_gone_from_the_session_too(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, scope: agent, replies: [one, two]}\n")
    call("chat", "agent.yaml", "--session", "talk", stdin="a\nb\n/undo\n")
    (path,) = (tmp_path / "home").rglob("talk.json")
    assert [m["content"] for m in json.loads(path.read_text())["messages"] if m["role"] != "system"] == ["a", "one"]


def test_a_failed_turn_can_be_asked_again(call: Call, tmp_path: Path) -> None:
    failed = "{error: {message: no luck, status: 400, retryable: false}}"
    write(tmp_path, f"model: {{kind: scripted, scope: agent, replies: [{failed}, fine]}}\n")
    status, out, err = call("chat", "agent.yaml", stdin="a\n/retry\n/usage\n")
    assert (status, out) == (0, "fine\n")
    assert "no luck" in err
    assert "1 turn · 1 model call · 0 tool calls" in err


def test_a_chat_shows_its_usage_the_last_turn_and_the_sessions(call: Call, tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, scope: agent, replies: [one, two]}\n")
    status, _, err = call("chat", "agent.yaml", stdin="/trace\n/sessions\n/usage\n")
    assert status == 0
    assert "there is no turn yet" in err
    assert "--session NAME begins one" in err
    assert "0 turns · 0 model calls" in err
    status, _, err = call("chat", "agent.yaml", "--session", "talk", stdin="a\nb\n/usage\n/trace\n/sessions\n")
    assert status == 0
    assert "2 turns · 2 model calls · 0 tool calls" in err
    assert "prompt b" in err
    assert "* talk" in err


def test_an_internal_error_is_one_line_unless_debug_asks(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, SCRIPTED)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("react_run.config.load_config", broken)
    status, _, err = call("agent.yaml", "go")
    assert status == 1
    assert "internal error: ZeroDivisionError: oops" in err
    status, _, err = call("agent.yaml", "go", "--debug")
    assert status == 1
    assert err.endswith("ZeroDivisionError: oops\n")
    assert "Traceback" in err


def test_debug_changes_no_exit_status(call: Call) -> None:
    status, _, err = call("gone.yaml", "go", "--debug")
    assert status == 2
    assert err.endswith("ConfigError: there is no file gone.yaml\n")


LEFT_OUT = "---\nname: Bad Name\n---\n"


@pytest.mark.parametrize("command", ["agent.yaml", "check agent.yaml", "explain agent.yaml", "doctor agent.yaml"])
@pytest.mark.filterwarnings("default")
def test_a_warning_is_said_without_the_code_it_comes_from(call: Call, tmp_path: Path, command: str) -> None:
    skill = tmp_path / "skills" / "bad"
    skill.mkdir(parents=True)
    write(skill, LEFT_OUT, "SKILL.md")
    write(tmp_path, SCRIPTED + "skills: [skills]\n")
    status, _, err = call(*command.split(), stdin="go")
    assert status == 0
    assert "warning: skill left out: " in err
    assert ".py:" not in err


def test_a_stream_of_few_letters_gets_plain_ones(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr("sys.stdout", plain)
    assert call("doctor", "--offline")[0] == 0
    assert plain.buffer.getvalue().startswith(b"ok Python: ")


def test_json_says_the_same_whatever_had_to_be_escaped_in_it() -> None:
    data = {"a\x9b": ["\x1b\u202e\x7f\u2028", "größer 日本 🎉", "\U000e0041", 1.5, None, Path("x")]}
    text = json_text(data, indent=2)
    assert json.loads(text) == {**data, "a\x9b": [*data["a\x9b"][:-1], "x"]}
    assert "größer 日本 🎉" in text
    assert not set(text) & set("\x9b\x1b\u202e\x7f\U000e0041")


# -- one style of errors, and of times -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "a.yaml", "--nope"], "No such option '--nope'"),
        (["run", "a.yaml", "--timeout", "1x"], "write seconds, or a time such as 30s, 10m, 2h, 7d"),
        (["run", "a.yaml", "--timeout", "nan"], "write seconds, or a time such as 30s, 10m, 2h, 7d"),
        (["run", "a.yaml", "--max-cost", "x"], "'x' is not a valid float"),
        (["trace"], "name a run"),
        (["init", "--toolset", "a", "--plugin", "b"], "not both"),
        (["runs", "--nope"], "No such option '--nope'"),
    ],
)
def test_every_mistake_on_the_command_line_is_said_in_one_style(call: Call, arguments: list[str], says: str) -> None:
    status, out, err = call(*arguments)
    first, second = err.splitlines()
    assert (status, out, first.startswith("react-run: "), says in first) == (2, "", True, True)
    assert second == f"`react-run {arguments[0]} --help` shows the options."


@pytest.mark.parametrize("time", ["90", "30s", "10m", "2h", "0.5"])
def test_a_run_takes_its_time_limit_as_people_write_it(call: Call, tmp_path: Path, time: str) -> None:
    agent = write(tmp_path, "model: offline\ntoolsets: [math]\n")
    assert call("run", str(agent), "2+3", "--timeout", time, "-q")[:2] == (0, "5\n")
