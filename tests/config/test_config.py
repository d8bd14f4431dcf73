"""Agent files: both shapes, shorthands, options checked in one pass, variables, and the way back to YAML."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from tests.config.components import load, positions, problems, write

from react_run.components import Origin
from react_run.components.counterparts import COUNTERPARTS
from react_run.components.kinds import installed
from react_run.config import AgentFileError, Limits, ReActAgentConfig, load_config, pipeline
from react_run.config.dump import kind_of
from react_run.errors import ConfigError
from react_run.models.scripted import ScriptedModel

SCRIPTED = "model: {kind: scripted, replies: [hello]}\n"


# -- one pass over everything -----------------------------------------------------------------------------------------


def test_every_error_of_a_file_comes_at_once_each_at_its_place(tmp_path: Path) -> None:
    error = problems(
        tmp_path,
        """\
version: 2
name: no
model: {kind: scripted, replys: [x]}
temperature: 3
max_iteration: 5
toolsets:
  - mth
  - kind: kit_parts:Words
    digitz: 3
    ratio: true
    root: 5
plugins:
  - kind: kit_parts:Tracer
    attempts: "3"
checks:
  - kind: kit_parts:Longer
    length: ${LENGTH}
limits: {max_cost: -1}
system_prompt: ${NOPE}
""",
        LENGTH="long",
    )
    assert positions(error) == [
        (1, 10, "cfg.version"),
        (2, 7, "cfg.type"),
        (3, 8, "cfg.missing_key"),
        (3, 25, "cfg.unknown_key"),
        (4, 14, "cfg.range"),
        (5, 1, "cfg.unknown_key"),
        (7, 5, "cfg.unknown_toolset"),
        (9, 5, "cfg.unknown_key"),
        (10, 12, "cfg.type"),
        (11, 11, "cfg.type"),
        (14, 15, "cfg.type"),
        (17, 13, "cfg.type"),
        (18, 20, "cfg.range"),
        (19, 16, "cfg.env_unset"),
    ]


@pytest.mark.parametrize(("written", "meant"), [("opnai", "openai"), ("nope", ""), ("Scripted", "scripted")])
def test_a_name_is_suggested_only_when_it_is_near(tmp_path: Path, written: str, meant: str) -> None:
    said = str(problems(tmp_path, f"model: {{kind: {written}}}\n"))
    assert (f"Did you mean {meant!r}?" in said) if meant else ("Did you mean" not in said)


def test_a_version_in_quotes_is_told_to_be_written_without_them(tmp_path: Path) -> None:
    error = problems(tmp_path, 'version: "1"\nmodel: offline\n')
    assert [problem.text for problem in error.problems] == ["must be the number 1: write version: 1, without quotes"]


def test_a_file_in_another_encoding_is_told_which_to_use(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_bytes("name: café\n".encode("latin-1"))
    with pytest.raises(AgentFileError, match="save the file as UTF-8"):
        load_config(tmp_path / "agent.yaml")


@pytest.mark.parametrize(
    "entry", ["prompt: {file: gone.md}", "guides: [{file: gone.md}]", "plugins: [{kind: guide, file: gone.md}]"]
)
def test_a_missing_file_is_one_problem(tmp_path: Path, entry: str) -> None:
    error = problems(tmp_path, f"{entry}\n")
    assert len(error.problems) == 1
    assert "gone.md" in str(error)


def test_an_error_names_place_key_nearest_name_and_the_line_with_a_caret(tmp_path: Path) -> None:
    path = write(tmp_path, "toolsets:\n  - kind: kit_parts:Words\n    digitz: 3\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path, trusted=True)
    names = "api_key, digits, endpoint, loud, mode, note, ratio, root"
    assert str(caught.value).splitlines() == [
        f"{path}:3:5: toolsets[0].digitz: unknown key 'digitz'. Did you mean 'digits'? Keys: {names}",
        "        digitz: 3",
        "        ^",
    ]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("name: 5", ["text", 'quote it when text is meant: "5"']),
        ("name: off", ["off, which YAML reads as false", '"off"']),
        ('max_iterations: "8"', ["integer", "without quotes"]),
        ("max_iterations: 1.5", ["integer", "1.5"]),
        ("max_iterations: 0", ["at least 1"]),
        ("max_iterations:", ["integer", "null"]),
        ("temperature: .inf", ["finite"]),
        ("tool_protocol: txt", ["'auto', 'native' or 'text'", "Did you mean 'text'?"]),
        ("tool_disclosure: skill", ["'all' or 'skills'"]),
        ("toolset: {digits: 1}", ["'kind' is missing"]),
        ("toolset: {kind: 5}", ["kind", "name of a toolset"]),
        ("toolset: {kind: kit_parts:Broken}", ["KeyError", "oops"]),
        ("toolset: {kind: kit_parts:NoComponent}", ["NoComponent", "not a subclass of ReActToolset"]),
        ("toolset: {kind: kit_parts:Tracer}", ["not a subclass of ReActToolset"]),
        ("toolset: {kind: kit_parts:Wordz}", ["Did you mean 'Words'?"]),
        ("toolset: {kind: 'kit_parts:__class__'}", ["is not a path"]),
        ("toolset: {kind: kit_parts:shout, x: 1}", ["unknown key 'x'", "no options"]),
        ("plugins: [{kind: kit_parts:NoComponent}]", ["no method marked @hookimpl"]),
        ("plugins: [{kind: kit_parts:Bare, sise: 2}]", ["sise"]),
        ("plugins: [5]", ["name of a plugin"]),
        ("model: {kind: kit_parts:Words}", ["not a subclass of Model"]),
        ("max_cots: 1", ["Did you mean 'max_cost'?"]),
        ("tool_set: math", ["Did you mean 'toolset'?"]),
        ("class_name: my.Agent", ["not a ReActAgent"]),
        ("base_url: 'https://a:b@c.example'", ["credentials"]),
        ("metadata: [1]", ["mapping"]),
        ("output_schema: text", ["mapping"]),
        ("extends: 5", ["extends"]),
    ],
)
def test_a_wrong_value_is_explained_with_the_way_out(tmp_path: Path, line: str, parts: list[str]) -> None:
    text = str(problems(tmp_path, f"{line}\n"))
    assert all(part in text for part in parts), text


def test_a_missing_package_of_an_extra_says_what_to_install() -> None:
    from react_run.components.errors import install_hint

    assert install_hint(ModuleNotFoundError(name="holidays.utils")) == (
        "Install it with: pip install 'react-run[holidays]'"
    )
    assert install_hint(ModuleNotFoundError(name="numpy")) == ""
    assert install_hint(ValueError()) == ""


def test_standard_library_targets_are_refused_before_anything_is_called(tmp_path: Path) -> None:
    for path in ("os:system", "os.system", "subprocess.run", "builtins:exec", "os.path:join"):
        error = problems(tmp_path, f"toolset: {{kind: '{path}', command: touch {tmp_path}/pwned}}\n")
        assert error.problems[0].code == "cfg.unknown_toolset"
    assert not (tmp_path / "pwned").exists()


# -- shapes and shorthands --------------------------------------------------------------------------------------------

WRAPPED = """\
id: react_calculator
name: Calculator Agent
description: Solves mathematical problems using tools
class_name: rustic_ai.llm_agent.react.ReActAgent
properties:
  model: offline
  max_iterations: 10
  toolset:
    kind: rustic_ai.llm_agent.react.toolset.CompositeToolset
    toolsets:
      - kind: rustic_ai.llm_agent.react.toolsets.math.MathToolset
      - kind: rustic_ai.llm_agent.react.toolsets.temporal.TemporalToolset
      - kind: kit_parts.Words
        api_key: ${SEARCH_API_KEY}
      - kind: kit_parts.Words
        api_key: ${WEATHER_API_KEY}
"""


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("rustic_ai.skills.marketplace.MarketplaceSkillToolset", "Here it is 'skills'."),
        ("rustic_ai.skills.marketplace:MarketplaceSkillToolset", "Here it is 'skills'."),
        ("rustic_ai.core.Unheard", "`react-run list` shows what there is."),
        ("rustic_aix.core.MarketplaceSkillToolset", "Is its package installed?"),
    ],
)
def test_a_kind_of_the_wrapped_shapes_runtime_names_what_it_is_here(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(name)):
        load(tmp_path, f"properties:\n  toolset: {{kind: '{kind}'}}\n")


@pytest.mark.parametrize("wrapper", sorted(COUNTERPARTS))
def test_every_counterpart_of_another_runtimes_kind_is_installed(wrapper: str) -> None:
    kinds = {*installed("plugins"), *installed("toolsets")}
    assert COUNTERPARTS[wrapper] in kinds


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("max_retries", "model_retries"),
        ("custom_llm_provider", "write model: PROVIDER/MODEL"),
        ("dependency_map", "no counterpart"),
        ("tools", "in Python, toolsets="),
        ("functions", "kind: functions, module: M"),
        ("prompt", "system_prompt:"),
        ("instructions", "system_prompt:"),
        ("additional_topics", "no counterpart"),
    ],
)
def test_a_key_of_the_wrapped_shapes_runtime_says_what_it_is_here(tmp_path: Path, key: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as failed:
        load(tmp_path, f"model: offline\nproperties:\n  {key}: 3\n")
    assert "Did you mean" not in str(failed.value)
    assert "Keys:" not in str(failed.value)


@pytest.mark.parametrize(
    ("line", "mend"),
    [
        ("run_timeout: 1m", "write seconds: 60"),
        ("timeout: 1.5 h", "write seconds: 5400"),
        ("limits: {tool_timeout: 30s}", "write seconds: 30"),
        ("toolsets: [{kind: web, timeout_seconds: 2m}]", "write seconds: 120"),
    ],
)
def test_a_time_with_a_unit_is_answered_with_its_seconds(tmp_path: Path, line: str, mend: str) -> None:
    with pytest.raises(ConfigError, match=mend):
        load(tmp_path, f"model: offline\n{line}\n")


def test_a_unit_of_time_where_no_time_is_meant_is_not_turned_into_seconds(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be a") as failed:
        load(tmp_path, "model: offline\nmax_iterations: 1m\n")
    assert "seconds" not in str(failed.value)


def test_the_wrapped_shape_of_the_comparable_agent_loads_as_the_flat_one(tmp_path: Path) -> None:
    keys = {"SEARCH_API_KEY": "search-key-1", "WEATHER_API_KEY": "weather-key-2"}
    wrapped = load(tmp_path, WRAPPED, **keys)
    assert [kind_of(type(toolset)) for toolset in wrapped.toolsets] == [
        "math",
        "temporal",
        "kit_parts:Words",
        "kit_parts:Words",
    ]
    assert (wrapped.id, wrapped.name, wrapped.max_iterations) == ("react_calculator", "Calculator Agent", 10)
    flat = load(
        tmp_path,
        "id: react_calculator\nname: Calculator Agent\ndescription: Solves mathematical problems using tools\n"
        "model: offline\ntoolsets:\n  - math\n  - temporal\n"
        "  - {kind: 'kit_parts:Words', api_key: '${SEARCH_API_KEY}'}\n"
        "  - {kind: 'kit_parts:Words', api_key: '${WEATHER_API_KEY}'}\n",
        **keys,
    )
    assert wrapped == flat


def test_an_error_in_the_wrapped_shape_names_the_key_as_written(tmp_path: Path) -> None:
    error = problems(tmp_path, "name: a\nproperties:\n  toolset: {kind: kit_parts.Words, digits: x}\n")
    assert [problem.key for problem in error.problems] == ["properties.toolset.digits"]


@pytest.mark.parametrize(
    "text",
    [
        "toolset: math\ntoolsets: [math]\n",
        "max_cost: 1\nlimits: {max_cost: 1}\n",
        "model: offline\nproperties: {model: offline}\n",
    ],
)
def test_a_key_given_twice_in_two_shapes_is_an_error(tmp_path: Path, text: str) -> None:
    assert "cfg.given_twice" in [problem.code for problem in problems(tmp_path, text).problems]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("toolset: math\n", "toolsets: [{kind: math}]\n"),
        ("toolset: {kind: kit_parts:Words, digits: 4}\n", "toolsets: [{kind: 'kit_parts.Words', digits: 4}]\n"),
        ("max_cost: 2\nspill: false\n", "limits: {max_cost: 2, spill: false}\n"),
        ("model: offline\n", "model: {kind: offline}\n"),
        ("x-mine: {a: 1}\n", ""),
        ("toolset:\n", ""),
        (
            "toolsets:\n  - {kind: react_run.CompositeToolset, toolsets: [math, {kind: temporal}]}\n",
            "toolsets: [math, temporal]\n",
        ),
    ],
)
def test_a_shorthand_means_its_canonical_form(tmp_path: Path, given: str, meant: str) -> None:
    assert load(tmp_path, f"name: a\n{given}") == load(tmp_path, f"name: a\n{meant}")


@pytest.mark.parametrize(
    ("line", "key", "kind", "option"),
    [
        ("skills: [skill]", "toolsets", "skills", "paths"),
        ("subagents: [other.yaml]", "toolsets", "agents", "agents"),
        ("guides: [Be kind.]", "plugins", "guide", "text"),
        ("permissions: [{tool: '*', action: ask}]", "plugins", "approval", "rules"),
        ("output_schema: {type: object}", "checks", "json_schema", "schema"),
    ],
)
def test_a_shorthand_of_a_component_expands_to_its_kind(
    tmp_path: Path, line: str, key: str, kind: str, option: str
) -> None:
    from react_run.config.shorthands import expand_shorthands

    (tmp_path / "skill").mkdir()
    write(tmp_path, SCRIPTED, "other.yaml")
    name, _, value = line.partition(": ")
    loading = pipeline.loading_from_python({name: yaml.safe_load(value)})
    object.__setattr__(loading, "directory", tmp_path)
    expand_shorthands(loading.tree, loading)
    assert not loading.report.problems
    [component] = loading.tree.mapping[key].items
    assert component.mapping["kind"].value == kind
    assert set(component.mapping) == {"kind", option}


@pytest.mark.parametrize(
    ("text", "kind", "model"),
    [
        ("model: openai/gpt-4o-mini\n", "openai", "openai/gpt-4o-mini"),
        ("model: llama3\nbase_url: http://localhost:1/v1\n", "openai", "llama3"),
        ("model: gpt-5-nano\n", "openai", "gpt-5-nano"),
        ("model: anthropic/claude-x\n", "litellm", "anthropic/claude-x"),
    ],
)
def test_a_model_id_names_its_component(tmp_path: Path, text: str, kind: str, model: str) -> None:
    config = load(tmp_path, text)
    assert kind_of(type(config.model)) == kind
    assert config.model is not None
    assert config.model.model == model  # type: ignore[attr-defined]  # both have it
    assert config.model_id == text.split()[1]


def test_the_settings_of_the_file_are_handed_to_models_that_have_them(tmp_path: Path) -> None:
    text = "model: {kind: kit_parts:Echo, model: m}\ntemperature: 0.5\nbase_url: http://h.example/v1\napi_key: ${K}\n"
    model = load(tmp_path, text, K="a-secret-key").model
    assert model is not None
    data = model.model_dump()
    assert (data["temperature"], data["api_key"].get_secret_value()) == (0.5, "a-secret-key")
    assert isinstance(load(tmp_path, SCRIPTED + "temperature: 0\n").model, ScriptedModel)


def test_no_model_named_is_no_model(tmp_path: Path) -> None:
    assert load(tmp_path, "name: a\n").model is None


def test_functions_plugins_checks_and_plain_classes_are_components(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "toolset: kit_parts:shout\n"
        "plugins: [{kind: 'kit_parts:Tracer', attempts: 1}, {kind: kit_parts.Bare, size: 4}]\n"
        "checks: [{kind: kit_parts.Longer, length: 3}]\nfailure_handling: {kind: kit_parts.Tracer}\n"
        "tool_wrappers: [kit_parts.Tracer]\n",
    )
    assert [tool.name for tool in config.toolsets[0].tools()] == ["shout"]
    assert config.plugins[0].attempts == 1
    assert config.plugins[1].size == 4
    assert config.checks[0].length == 3  # type: ignore[attr-defined]  # a class of the test kit
    assert type(config.failure_handling).__name__ == type(config.tool_wrappers[0]).__name__ == "Tracer"


def test_a_plugin_in_the_list_of_another_level_is_an_error(tmp_path: Path) -> None:
    error = problems(tmp_path, "iteration_wrappers:\n  - kit_parts:Tracer\n")
    assert positions(error) == [(2, 5, "cfg.level")]
    assert "none of the hooks react_iteration_started, react_iteration," in str(error)


def test_toolsets_inside_toolsets_report_their_options_too(tmp_path: Path) -> None:
    text = "toolsets:\n  - kind: composite\n    extra: 1\n    toolsets:\n      - {kind: kit_parts:Words, digits: x}\n"
    assert (5, 41, "cfg.type") in positions(problems(tmp_path, text))


# -- values -----------------------------------------------------------------------------------------------------------


def test_an_expanded_value_becomes_what_is_expected(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "max_iterations: ${N}\nspill: ${B:-no}\nmax_cost: ${F:-0.5}\n"
        "toolset: {kind: kit_parts:Words, digits: '${N}', loud: '${B:-true}', ratio: '${N}', note: '${N}'}\n",
        N="7",
    )
    assert (config.max_iterations, config.limits.spill, config.limits.max_cost) == (7, False, 0.5)
    assert config.toolsets[0].model_dump(include={"digits", "loud", "ratio", "note"}) == {
        "digits": 7,
        "loud": True,
        "ratio": 7.0,
        "note": "7",
    }


def test_a_written_text_is_never_taken_for_a_number(tmp_path: Path) -> None:
    assert positions(problems(tmp_path, "max_iterations: '7'\n")) == [(1, 17, "cfg.type")]


def test_a_file_takes_the_place_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Cost: $5 and ${THIS}\n", encoding="utf-8")
    config = load(
        tmp_path, "system_prompt: {file: prompt.md}\ntoolset: {kind: kit_parts:Words, note: {file: prompt.md}}\n"
    )
    assert config.system_prompt == "Cost: $5 and ${THIS}\n"
    assert config.toolsets[0].note == config.system_prompt  # type: ignore[attr-defined]  # a class of the test kit


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("entry", ["system_prompt: {file: pipe}", "env_file: pipe"])
def test_a_pipe_in_the_place_of_a_text_is_an_error_and_nothing_to_wait_for(tmp_path: Path, entry: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "cannot read pipe: it is not a regular file" in str(problems(tmp_path, f"{entry}\n"))


def test_a_mapping_with_a_key_called_file_is_left_alone(tmp_path: Path) -> None:
    text = (
        "metadata: {file: x}\nmodel:\n  kind: scripted\n  replies: [{tool_calls: [{name: a, arguments: {file: x}}]}]\n"
    )
    config = load(tmp_path, text)
    assert config.metadata == {"file": "x"}


def test_texts_and_paths_of_a_base_start_beside_the_base(tmp_path: Path) -> None:
    write(
        tmp_path,
        "system_prompt: {file: prompt.md}\ntool_protocol: text\n"
        "toolset: {kind: kit_parts:Words, root: data, mode: long}\n",
        "sub/base.yaml",
    )
    (tmp_path / "sub" / "prompt.md").write_text("hi", encoding="utf-8")
    config = load(tmp_path, "extends: sub/base.yaml\n+toolsets: [{kind: kit_parts:Words, root: data}]\n")
    assert config.system_prompt == "hi"
    roots = [toolset.root for toolset in config.toolsets]  # type: ignore[attr-defined]  # a class of the test kit
    assert roots == [tmp_path / "sub" / "data", tmp_path / "data"]


def test_positions_survive_bases_files_and_variables(tmp_path: Path) -> None:
    write(tmp_path, "limits:\n  max_cost: -1\n", "base.yaml")
    error = problems(tmp_path, "extends: base.yaml\nsystem_prompt:\n  file: gone.md\nmax_iterations: ${N}\n", N="lots")
    assert [str(problem.place).rpartition("/")[2] for problem in error.problems] == [
        "agent.yaml:3:9",
        "agent.yaml:4:17",
        "base.yaml:2:13",
    ]


def test_overrides_replace_what_the_file_says_and_are_named_in_errors(tmp_path: Path) -> None:
    path = write(tmp_path, "model: ${UNSET}\nmax_cost: 1\ntoolset: {kind: kit_parts:Words}\n")
    overrides = {"model": "offline", "max_cost": 2, "toolsets.0.digits": 9, "limits.spill": False, "metadata.a.b": 1}
    config = load_config(path, overrides=overrides, environment={}, trusted=True)
    assert config.limits == Limits(max_cost=2, spill=False)
    assert config.metadata == {"a": {"b": 1}}
    assert config.toolsets[0].digits == 9  # type: ignore[attr-defined]  # a class of the test kit
    with pytest.raises(AgentFileError) as caught:
        load_config(path, overrides={"model": "offline", "max_iterations": "x"}, environment={}, trusted=True)
    assert str(caught.value).startswith("override max_iterations: must be a whole number")


@pytest.mark.parametrize("key", ["toolsets.1.timezone", "toolsets[1].timezone"])
def test_an_option_of_a_component_that_is_only_named_can_be_overridden(tmp_path: Path, key: str) -> None:
    path = write(tmp_path, "model: offline\ntoolsets: [math, temporal]\n")
    config = load_config(path, overrides={key: "Asia/Tokyo"}, environment={}, trusted=True)
    assert [kind_of(type(toolset)) for toolset in config.toolsets] == ["math", "temporal"]
    assert config.toolsets[1].timezone == "Asia/Tokyo"  # type: ignore[attr-defined]  # an option of temporal


def test_an_override_below_a_text_says_what_to_set_instead(tmp_path: Path) -> None:
    path = write(tmp_path, "model: offline\ndescription: adds\n")
    with pytest.raises(AgentFileError, match="'short' has no place in 'adds'; set that as a whole"):
        load_config(path, overrides={"description.short": "sums"}, environment={}, trusted=True)


def test_from_yaml_replaces_keys_and_trusts_what_a_program_names(tmp_path: Path) -> None:
    path = write(tmp_path, "model: offline\ntoolset: kit_parts:Runner\n")
    model = ScriptedModel(replies=["x"])
    config = ReActAgentConfig.from_yaml(path, model=model, max_iterations=3, toolset={"kind": "math"})
    assert config.model is model
    assert config.max_iterations == 3
    assert [kind_of(type(toolset)) for toolset in config.toolsets] == ["math"]
    assert ReActAgentConfig.from_yaml(path).trusted


# -- from Python ------------------------------------------------------------------------------------------------------


def test_a_configuration_made_in_python_takes_objects_and_mappings() -> None:
    from react_toolsets.math import MathToolset

    toolset = MathToolset()
    config = ReActAgentConfig(model=ScriptedModel(replies=["x"]), toolset=toolset, max_iterations=5)  # type: ignore[call-arg]  # a shorthand
    assert config.toolset is toolset
    assert config.toolsets == [toolset]
    assert ReActAgentConfig.from_mapping({"toolset": {"kind": "math"}, "max_cost": 1}).limits.max_cost == 1
    assert ReActAgentConfig(base_url=None, toolsets=[toolset, "math"]).base_url is None


def test_a_wrong_configuration_made_in_python_raises_a_readable_config_error() -> None:
    with pytest.raises(ConfigError) as caught:
        ReActAgentConfig(max_iterations=500, toolsets=["mathh"], colour=1)  # type: ignore[call-arg]  # all wrong
    text = str(caught.value)
    assert "pydantic" not in text
    assert "max_iterations: must be at most 100, not 500" in text
    assert "toolsets[0]: unknown toolset 'mathh'. Did you mean 'math'?" in text
    assert "unknown key 'colour'" in text


def test_the_masker_of_a_configuration_made_in_python_knows_its_secrets() -> None:
    config = ReActAgentConfig(api_key="hunter22hunter22")
    assert config.masker.mask("x hunter22hunter22 y") == "x *** y"


# -- trust ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kit_parts:Words", "kit_parts.Words", "kit_parts:shout"])
def test_code_beside_the_file_is_not_even_imported_without_trust(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, f"toolset: {kind}\n")
    (tmp_path / "kit_parts.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n", encoding="utf-8")
    with pytest.raises(AgentFileError) as caught:
        load_config(path, trusted=False)
    assert [problem.code for problem in caught.value.problems] == ["cfg.untrusted"]
    assert f"react-run trust {tmp_path}" in str(caught.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("trace: ../out.jsonl\n", "trace"),
        ("plugins: [{kind: logging, path: ../log.jsonl}]\n", "plugins[0].path"),
        ("model: {kind: replay, journal: ../run.jsonl}\n", "model.journal"),
        ("toolsets: [{kind: shell, readable: [/etc]}]\n", "toolsets[0]"),
        ("trace: link/out.jsonl\n", "trace"),
        ("trace: ~/out.jsonl\n", "trace"),
    ],
)
def test_no_path_leads_out_of_the_directory_without_trust(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "link").symlink_to(tmp_path)
    path = write(tmp_path / "agents", f"{'' if 'model' in text else 'model: offline'}\n{text}")
    with pytest.raises(AgentFileError) as caught:
        load_config(path, trusted=False)
    assert [(problem.code, problem.key) for problem in caught.value.problems] == [("cfg.untrusted", key)]
    load_config(path, trusted=True)


def test_whoever_starts_the_run_may_name_any_path(tmp_path: Path) -> None:
    path = write(tmp_path / "agents", "model: offline\ntrace: inside.jsonl\n")
    outside = tmp_path / "outside.jsonl"
    assert load_config(path, overrides={"trace": str(outside)}, trusted=False).trace == outside


def test_a_component_that_needs_trust_says_why(tmp_path: Path) -> None:
    from react_run.config.loading import Loading
    from react_run.config.pipeline import inspect
    from react_run.config.yaml import wrap
    from react_run.tools.tool import Tool
    from react_run.tools.toolset import OneTool

    tool = Tool(name="t", description="d", parameters={"type": "object"}, function=len, runs_programs=True)
    loading = Loading(directory=tmp_path, tree=wrap({}))
    inspect([OneTool(function=tool)], loading)
    assert [problem.code for problem in loading.report.problems] == ["cfg.untrusted"]
    assert "starts programs" in loading.report.problems[0].text


def test_two_files_with_modules_of_one_name_get_their_own_code(tmp_path: Path) -> None:
    for name in ("one", "two"):
        path = write(tmp_path / name, "toolset: kit_parts:Words\n")
        code = path.with_name("kit_parts.py")
        code.write_text(code.read_text(encoding="utf-8").replace("digits: int = 3", f"digits: int = {len(name) * 7}"))
        (path.parent / "marker.py").write_text("", encoding="utf-8")
    first = load_config(tmp_path / "one" / "agent.yaml", trusted=True).toolsets[0]
    (tmp_path / "two" / "kit_parts.py").write_text(
        (tmp_path / "two" / "kit_parts.py").read_text(encoding="utf-8").replace("= 21", "= 99"), encoding="utf-8"
    )
    second = load_config(tmp_path / "two" / "agent.yaml", trusted=True).toolsets[0]
    assert (first.digits, second.digits) == (21, 99)  # type: ignore[attr-defined]  # a class of the test kit


# -- secrets ----------------------------------------------------------------------------------------------------------


def test_secrets_never_appear_in_errors_or_representations(tmp_path: Path) -> None:
    secret = "sk-CANARY-99887766"
    error = problems(
        tmp_path,
        "toolsets:\n  - {kind: kit_parts:Words, api_key: '${MY_KEY}', note: 'x ${MY_KEY}', digits: '${MY_KEY}'}\n"
        "  - {kind: 'kit_parts:${MY_KEY}'}\nname: {a: '${MY_KEY}'}\n",
        MY_KEY=secret,
    )
    assert secret not in str(error) + repr(error) + repr([problem.to_dict() for problem in error.problems])
    assert "MY_KEY" in str(error)
    literal = problems(tmp_path, f"toolset: {{kind: kit_parts:Words, api_key: {secret}, digits: x}}\n")
    assert secret not in str(literal)
    broken = problems(tmp_path, f'api_key: "{secret}\nname: x\n')
    assert secret not in str(broken)
    config = load(tmp_path, "api_key: ${ANY}\ntoolset: {kind: kit_parts:Words, api_key: '${ANY}'}\n", ANY=secret)
    assert secret not in repr(config) + repr(config.model_dump()) + config.to_yaml()
    assert config.masker.mask(f"<{secret}>") == "<***>"


# -- and back ---------------------------------------------------------------------------------------------------------

ROUND_TRIP = """\
version: 1
name: iteration $$5 trip
model: {kind: kit_parts:Echo, model: m}
api_key: ${MODEL_KEY}
temperature: 0.5
max_iterations: 3
toolsets:
  - math
  - {kind: kit_parts:Words, digits: 4, api_key: '${KEY}', endpoint: 'https://h/?k=${KEY}', root: data}
  - kit_parts:shout
plugins:
  - {kind: kit_parts.Bare, size: 3}
  - {kind: kit_parts:Tracer, attempts: 5}
checks: [{kind: kit_parts:Longer, length: 2}]
failure_handling: legacy
max_cost: 1.5
system_prompt: |
  two
  lines ${NAME:-x}
metadata: {a: [1, null, true], b: "no"}
"""


def test_a_configuration_written_to_yaml_loads_to_an_equal_one(tmp_path: Path) -> None:
    keys = {"MODEL_KEY": "model-key-123", "KEY": "other-key-456"}
    config = load(tmp_path, ROUND_TRIP, **keys)
    text = config.to_yaml()
    assert "model-key" not in text
    assert "other-key" not in text
    assert "${KEY}" in text
    assert "${MODEL_KEY}" in text
    again = load(tmp_path, text, **keys)
    assert again == config
    assert again.model_dump() == config.model_dump()
    assert again != load(tmp_path, ROUND_TRIP.replace("digits: 4", "digits: 5"), **keys)


def test_a_secret_given_in_python_is_written_as_a_variable() -> None:
    data = ReActAgentConfig(api_key="hunter22hunter22").model_dump()
    assert data == {"api_key": "${API_KEY}"}


def test_values_without_a_form_in_yaml_are_written_as_text(tmp_path: Path) -> None:
    from react_toolsets.duckduckgo import DuckDuckGoToolset

    toolset = DuckDuckGoToolset.model_validate({"endpoint": "https://example.org/x"})
    text = ReActAgentConfig(toolsets=[toolset]).to_yaml()
    assert "endpoint: https://example.org/x" in text
    assert load(tmp_path, text).to_yaml() == text


def test_an_object_made_in_python_cannot_be_written() -> None:
    class Mine:
        def __init__(self) -> None:
            self.size = 1

    with pytest.raises(ConfigError, match=r"plugins\[0\]: a .*Mine created in Python"):
        ReActAgentConfig(plugins=[Mine()]).to_yaml()


# -- what loading costs -----------------------------------------------------------------------------------------------


def test_loading_starts_nothing_and_imports_only_the_kinds_that_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, f"{SCRIPTED}toolsets: [math]\nfallback_models: [gpt-5-nano]\n")
    code = (
        "import sys\nfrom react_run.config import load_config\nhappened = []\n"
        "watched = ('socket.', 'subprocess.', '_thread.start_new_thread', 'os.mkdir', 'os.remove', 'os.system')\n"
        "sys.addaudithook(lambda event, _: happened.append(event) if event.startswith(watched) else None)\n"
        f"load_config({str(path)!r})\n"
        "kinds = [name for name in sys.modules if name.startswith(('react_toolsets.', 'react_plugins.'))]\n"
        "others = [name for name in kinds if name.count('.') == 1 and not name.endswith(('.math', '.answers'))]\n"
        "print(happened, others, 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]", "False"]


def test_a_hundred_files_load_without_work_that_grows(tmp_path: Path) -> None:
    for number in range(100):
        write(
            tmp_path, f"name: a{number}\n{SCRIPTED}toolsets: [{{kind: kit_parts:Words, digits: 2}}]\n", f"{number}.yaml"
        )
    load_config(tmp_path / "0.yaml", trusted=True)
    start = time.process_time()
    for number in range(100):
        load_config(tmp_path / f"{number}.yaml", trusted=True)
    assert time.process_time() - start < 10  # finds a hang; benchmarks/ has the figures


def test_options_from_a_file_know_where_they_were_written(tmp_path: Path) -> None:
    config = load(tmp_path, "toolset: {kind: kit_parts:Words, root: data}\ntrace: out/run.jsonl\n")
    assert config.trace == tmp_path / "out" / "run.jsonl"
    assert config.directory == tmp_path
    assert config.path == tmp_path / "agent.yaml"
    words = type(config.toolsets[0])
    made = words.model_validate({"root": "x"}, context=Origin(directory=Path("/base")))
    assert made.root == Path("/base/x")  # type: ignore[attr-defined]  # a class of the test kit
