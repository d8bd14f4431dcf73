"""What holds for all plugins of the shelf."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_run import Plugin, ReActAgentConfig
from react_run.components.kinds import Kind, every_installed
from react_run.config.option_docs import documented

OURS = sorted(
    (kind for kind in every_installed("plugins") if kind.target.startswith("react_plugins.")),
    key=lambda kind: kind.name,
)
AGENTS = Path(__file__).parents[2] / "agents"


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.name)
def test_a_plugin_is_called_by_its_kind_and_each_option_is_documented(kind: Kind) -> None:
    cls = kind.load()
    assert isinstance(cls, type)
    assert issubclass(cls, Plugin)
    assert cls.kind == kind.name
    for name, field in documented(cls).model_fields.items():
        assert field.description, name


@pytest.mark.parametrize("name", ["guarded", "observed", "traced"])
def test_a_file_that_uses_them_survives_being_written_and_read(name: str, tmp_path: Path) -> None:
    config = ReActAgentConfig.from_yaml(AGENTS / f"{name}.yaml")
    written = tmp_path / "written.yaml"
    written.write_text(config.to_yaml(), encoding="utf-8")
    assert [type(plugin) for plugin in ReActAgentConfig.from_yaml(written).plugins] == [
        type(plugin) for plugin in config.plugins
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("permissions: [{tool: write, acton: allow}]", "acton"),
        ("permissions: [{tool: write, action: maybe}]", "'allow', 'ask' or 'deny'"),
        ("permissions: [{tool: write}]", "'action' is missing"),
        ("plugins: [{kind: cost, prices: {m: {input: 1, outptu: 2}}}]", "outptu"),
        ("plugins: [{kind: cost, prices: {m: {input: -1, output: 2}}}]", "at least 0"),
        ("plugins: [{kind: cache, tll: 5}]", "Did you mean 'ttl'?"),
        ("plugins: [redact]", "give values, patterns, or both"),
        ("plugins: [{kind: redact, patterns: ['(']}]", "is not a regular expression"),
        ("plugins: [inject]", "give text, path, or both"),
        ("plugins: [{kind: validate, schemas: {a: {type: nothing}}}]", "the schema of 'a' is not valid"),
        ("plugins: [{kind: rate_limit, tools: {a: 0}}]", "more than 0"),
    ],
)
def test_wrong_options_are_reported_with_their_place(lines: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(f"version: 1\nmodel: offline\n{lines}\n")
    with pytest.raises(Exception, match=r"agent\.yaml:3:\d+: ") as caught:
        ReActAgentConfig.from_yaml(path)
    assert said in str(caught.value)
