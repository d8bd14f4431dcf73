"""Small promises that were once not kept: numbers, options, files, recordings, skills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from react_offline.declining import keys_set
from react_run import (
    ModelError,
    ModelRequest,
    ReActAgent,
    ReActAgentConfig,
    ReActSkillSpec,
    ReplayMismatch,
    ToolsetError,
    tool,
)
from react_run.cli.exit import ended
from react_run.models.openai import OpenAIModel
from react_run.models.provider import parse_response
from react_run.models.scripted import ScriptedModel
from react_run.testing import agent_with, calls, replayed, run_agent, says
from react_toolsets.knowledge import source_of, web_address
from react_toolsets.skills import SkillToolset

# -- arguments --------------------------------------------------------------------------------------------------------


@tool(read_only=False)
def wipe(path: str = ".", recursive: bool = True) -> str:
    """Delete."""
    return f"wiped {path} {recursive}"


@pytest.mark.parametrize("name", ["file_path", "pth", "target", "folder"])
def test_a_misnamed_argument_never_runs_with_defaults(name: str) -> None:  # A3
    (step,) = run_agent([calls(("wipe", {name: "tmp/x"})), "ok"], tools=[wipe]).steps
    assert not step.executed
    assert name in step.observation


@pytest.mark.parametrize("around", ["arguments", "kwargs", "parameters", "input", "wipe"])
def test_arguments_that_were_wrapped_once_are_unwrapped(around: str) -> None:  # A3
    (step,) = run_agent([calls(("wipe", {around: {"path": "tmp/x"}})), "ok"], tools=[wipe]).steps
    assert step.observation.startswith("wiped tmp/x True")


# -- one setting, one field -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base_url", "options", "settings", "sent"),
    [
        (None, {"max_tokens": 500}, {"max_tokens": 77}, {"max_completion_tokens": 77}),
        (None, {}, {"max_tokens": 66}, {"max_completion_tokens": 66}),
        (None, {"max_tokens": 500}, {"max_completion_tokens": 5}, {"max_completion_tokens": 5}),
        (None, {"settings": {"max_tokens": 9}}, {}, {"max_completion_tokens": 9}),
        ("http://127.0.0.1:1/v1", {"max_tokens": 500}, {"max_tokens": 77}, {"max_tokens": 77}),
        ("http://127.0.0.1:1/v1", {"max_tokens": 500}, {"max_completion_tokens": 7}, {"max_completion_tokens": 7}),
    ],
)
def test_a_limit_is_sent_once_under_one_name(
    base_url: str | None, options: dict[str, Any], settings: dict[str, Any], sent: dict[str, int]
) -> None:  # H4
    model = OpenAIModel(model="openai/gpt-5-mini", api_key="k", base_url=base_url, **options)
    head = model._head(ModelRequest(messages=[], settings=settings), stream=False)
    assert {key: value for key, value in head.items() if "tokens" in key} == sent


def test_both_roads_to_a_provider_take_the_address_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # H1
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for name in ("gpt-4o-mini", "openai/gpt-4o-mini"):
        model = ReActAgentConfig.from_mapping({"model": name}).model
        assert isinstance(model, OpenAIModel)
        assert model._host == "127.0.0.1"


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-4-5", "ollama/llama3", "azure/deployment"])
def test_a_server_of_another_dialect_is_told_the_way_out(name: str, tmp_path: Path) -> None:  # S6
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name is the library's
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(ModelError, match=r"an API other than OpenAI's, write model: {kind: litellm"):
            ReActAgent({"model": name, "base_url": f"http://127.0.0.1:{server.server_port}"}).run_sync("q")
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 5, "completion_tokens": -3}, (5, None)),
        ({"prompt_tokens": -1, "completion_tokens": 3}, (None, 3)),
        ({"prompt_tokens": -1.5, "completion_tokens": -1}, (None, None)),
    ],
)
def test_a_negative_count_is_unknown(usage: dict[str, object], read: tuple[object, object]) -> None:  # H3
    body = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": usage}
    used = parse_response(body, provider="p", model="m").usage
    assert (used.input_tokens, used.output_tokens) == read


# -- agent files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "properties:",
        "plugins:",
        "tool_wrappers:",
        "toolsets:",
        "checks:",
        "plugins: {kind: cache}",
        "tool_wrappers: {kind: cache}",
    ],
)
def test_an_empty_key_and_a_single_entry_are_taken(tmp_path: Path, line: str) -> None:  # L1
    (tmp_path / "f.yaml").write_text(f"model: offline\n{line}\n", encoding="utf-8")
    assert ended(["check", str(tmp_path / "f.yaml")]) == 0


@pytest.mark.parametrize(
    "listed", ["toolsets: [mediawiki, mediawiki]", "plugins: [nonsense]", "toolsets: [math, math]"]
)
def test_what_cannot_be_built_is_told_with_its_place(
    tmp_path: Path, listed: str, capsys: pytest.CaptureFixture[str]
) -> None:  # D6
    (tmp_path / "f.yaml").write_text(f"model: offline\n{listed}\n", encoding="utf-8")
    assert ended(["check", str(tmp_path / "f.yaml")]) != 0
    assert "f.yaml:2:" in capsys.readouterr().out


WRAPPERS = """
from react_run import *
class Before(RequestPreprocessor):
    def preprocess(self, agent, ctx, request, llm): return request
class After(ResponsePostprocessor):
    def postprocess(self, *_): return None
class Both(LLMCallWrapper):
    def preprocess(self, agent, ctx, request, llm): return request
    def postprocess(self, *_): return None
"""


@pytest.mark.parametrize("name", ["Before", "After", "Both"])
def test_a_wrapper_in_the_wrong_list_is_told_with_its_place(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:  # D6
    (tmp_path / "wrapping.py").write_text(WRAPPERS, encoding="utf-8")
    (tmp_path / "f.yaml").write_text(f"model: offline\nplugins:\n  - wrapping.{name}\n", encoding="utf-8")
    assert ended(["check", "--trust", str(tmp_path / "f.yaml")]) == 2
    shown = capsys.readouterr().out
    assert f"f.yaml:3:5: plugins[0]: {name} is a wrapper class: list it in " in shown


@pytest.mark.parametrize(
    "entries",
    [{"toolsets": ["math"]}, {"plugins": ["cache"], "max_iterations": 7}, {"checks": [{"kind": "tool_used"}]}],
)
def test_a_dumped_configuration_loads_again(entries: dict[str, object]) -> None:  # L1
    config = ReActAgentConfig.from_mapping({"model": "offline", **entries})
    for dumped in (config.model_dump(), json.loads(config.model_dump_json())):
        assert ReActAgentConfig.from_mapping(dumped) == config
        assert dumped["model"] == "offline" or dumped["model"]["kind"] == "offline"


# -- recordings -------------------------------------------------------------------------------------------------------

SUM = calls(("calculate", {"expression": "2+2"}), text="I add.")


@pytest.mark.parametrize("status", [400, 401, 422])
def test_a_run_that_failed_can_be_replayed(tmp_path: Path, status: int) -> None:  # J3
    agent = agent_with([SUM, {"error": {"status": status, "message": "bad"}}], toolset="math")
    journal = tmp_path / "run.jsonl"
    with pytest.raises(ModelError):
        agent.replace(journal=journal).run_sync("q")
    again = replayed(journal, agent)
    assert (again.stop_reason, len(again.steps), "= 4" in again.answer) == ("model_error", 1, True)


@pytest.mark.parametrize(
    ("recorded", "changed", "told"),
    [
        ("2+2", "2+3", "the call of calculate"),
        ("I add.", "I subtract.", "I subtract."),
        ("It is 4.", "It is 5.", "It is 5."),
    ],
)
def test_a_changed_recording_shows_what_differs(tmp_path: Path, recorded: str, changed: str, told: str) -> None:  # J3
    agent = agent_with([SUM, "It is 4."], toolset="math")
    journal = tmp_path / "run.jsonl"
    agent.replace(journal=journal).run_sync("q")
    lines = journal.read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if '"model_response"' in line and recorded in line)
    lines[at] = lines[at].replace(recorded, changed)
    journal.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ReplayMismatch) as caught:
        replayed(journal, agent)
    assert told in str(caught.value)
    assert "digest" not in str(caught.value)


def test_a_call_that_never_finished_is_not_marked_as_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "run.jsonl"  # J5
    agent_with([SUM, "It is 4."], toolset="math").replace(journal=journal).run_sync("q")
    lines = journal.read_text(encoding="utf-8").splitlines()
    end = next(at for at, line in enumerate(lines) if '"tool_finished"' in line)
    journal.write_text("\n".join(lines[:end]) + "\n", encoding="utf-8")
    ended(["trace", str(journal)])
    shown = capsys.readouterr().out
    assert "✓ calculate" not in shown
    assert "unfinished" in shown


# -- skills -----------------------------------------------------------------------------------------------------------


def test_a_lone_text_is_one_example_and_one_tool() -> None:  # D1
    skill = ReActSkillSpec(name="a", description="d", tool_names="t1", examples="one example")  # type: ignore[arg-type]
    assert (skill.tool_names, skill.examples) == (("t1",), ("one example",))


@pytest.mark.parametrize("wrong", [{"name": "a\nb"}, {"description": None}, {"name": 3}, {"name": "a\x00"}])
def test_a_skill_that_is_declared_wrongly_is_an_error(wrong: dict[str, Any]) -> None:  # D6
    with pytest.raises(ToolsetError):
        ReActSkillSpec(**{"name": "a", "description": "d", "tool_names": ("t1",), **wrong})


def skill_in(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("print('hi')\n", encoding="utf-8")
    (folder / "SKILL.md").write_text("---\nname: csv\ndescription: CSV files\n---\nDo it.\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(("files", "required"), [((), False), (("terms.md",), True), (("scripts/a.py",), True)])
def test_a_skill_without_tools_demands_no_call(tmp_path: Path, files: tuple[str, ...], required: bool) -> None:  # D5
    folder = skill_in(_made(tmp_path / "csv"), *files)
    config = {"toolsets": ["math"], "skills": [str(folder)], "skill_activation_followup": "required"}
    model = ScriptedModel(replies=[calls(("activate_tool_skill", {"skill": "csv"})), "ok"])
    ReActAgent(config, model=model).run_sync("q")
    assert (model.requests[1].tool_choice == "required") is required


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_the_combined_prompt_names_the_files_of_skills(tmp_path: Path) -> None:  # D8
    skills = SkillToolset.from_paths([skill_in(_made(tmp_path / "csv"), "terms.md", "scripts/a.py")])
    text = skills.get_combined_system_prompt()
    assert "terms.md" in text
    assert "scripts/a.py" in text


@pytest.mark.parametrize("script", ["a.py", "b/c.py"])
def test_a_script_without_its_folder_is_told_the_whole_path(tmp_path: Path, script: str) -> None:  # D8
    folder = skill_in(_made(tmp_path / "csv"), f"scripts/{script}")
    replies = [
        calls(("activate_tool_skill", {"skill": "csv"})),
        calls(("run_skill_script", {"skill": "csv", "script": script})),
        says("x"),
    ]
    result = agent_with(replies, toolsets=[SkillToolset.from_paths([folder])]).run_sync("q")
    assert f"Did you mean 'scripts/{script}'?" in result.steps[-1].observation


# -- the rest ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", ["1e-10000", "1e-9999", "25e-10000", "1e9999"])
def test_a_number_is_exact_while_no_digit_is_lost(expression: str) -> None:  # T3
    (step,) = run_agent([calls(("calculate", {"expression": expression})), "d"], toolset="math").steps
    assert '"approximate":false' in step.observation


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("https://en.wikipedia.org/wiki/Kite", True),
        ("http://127.0.0.1:80/x", True),
        ("javascript:alert(1)", False),
        ("/c/Birds", False),
        ("//evil.example/x", False),
        ("data:text/html,x", False),
        (None, False),
    ],
)
def test_only_addresses_of_the_web_are_handed_on(given: object, taken: bool) -> None:  # F5
    assert (web_address(given) == given) is taken
    assert web_address(given) in (given, "")
    assert source_of("a fact", web_address(given)) == (f"a fact ({given})" if taken else "a fact")


def test_only_keys_of_models_are_listed_as_keys(monkeypatch: pytest.MonkeyPatch) -> None:  # J2
    for name in ("SEARCH_API_KEY", "WEATHER_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(name, "x")
    assert "MISTRAL_API_KEY" in keys_set()
    assert not {"SEARCH_API_KEY", "WEATHER_API_KEY"} & set(keys_set())


@pytest.mark.parametrize("spelt", [{"x": 1.0, "y": 2}, {"y": 2, "x": 1}, {"x": "1"}])
def test_a_default_that_is_spelt_out_makes_no_other_call(spelt: dict[str, object]) -> None:  # F4
    runs: list[object] = []

    @tool(read_only=True)
    def f(x: float, y: int = 2) -> str:
        """Compute."""
        runs.append(x)
        return "a"

    run_agent([calls(("f", {"x": 1})), calls(("f", spelt)), "d"], tools=[f])
    assert runs == [1]
