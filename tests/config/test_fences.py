"""What an agent file may do without trust: every option that names a path, a conversation, a host or a program."""

from __future__ import annotations

import asyncio
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from react_plugins.guide import Guide
from react_run import Component, ConfigError, ReActAgent, ReActAgentConfig, ScriptedModel
from react_run.components import GROUPS, every_installed
from react_run.testing import says

NAMES_SOMETHING = re.compile(
    r"path|file|dir|root|home|cwd|session|journal|trace|host|url|endpoint|address|socket|proxy|(?<![a-z])port(?![a-z])"
    r"|command|program|function|module|args|server|readable|writable|roots|recording|extends|class_name|find|env"
)
NEEDS_TRUST = {
    "functions.path", "functions.module", "mcp.command", "mcp.args", "mcp.env", "mcp.pass_environment", "mcp.cwd",
    "mcp.servers", "shell.environment", "shell.pass_environment", "command_sensor.command", "command.command",
    "command_sensor.environment", "command_sensor.pass_environment", "command.environment",
    "command_hook.command", "command_hook.environment", "command_hook.pass_environment",
    "command.pass_environment", "python_sensor.function", "python.function", "skills.environment", "agent.session",
    "agent.class_name", "sql.url",
}  # fmt: skip
"""What is refused in a file that is not trusted, by its component or by the loader."""
INSIDE = {"agent.extends", "agent.env_file", "guide.find", "skills.paths"}
"""What reads files in the directory of the file, or in that of the run, and follows no link out."""
ASKED_THERE = {
    "duckduckgo.endpoint", "mediawiki.endpoint", "litellm.base_url", "openai.base_url", "agent.base_url", "mcp.url",
    "web.allow_hosts", "web.deny_hosts", "http.url", "http.allow_hosts", "openapi.base_url",
}  # fmt: skip
"""Whom a file may ask: SECURITY.md says so under what is not protected from."""
NOT_SUCH = {
    "command_sensor.files", "files_exist.files", "limits.file_size", "journal.session", "journal.options",
    "acme_ledger.path", "approval.rules",
}  # fmt: skip
"""Globs and names within the workspace, or options that no file can give."""


def options() -> Iterator[tuple[str, Any]]:
    """Every option of every component that is installed, and of agent files, with its type."""
    for group in GROUPS:
        for kind in every_installed(group):
            if kind.distribution == "react-run":
                component = kind.entry_point.load()
                for name, field in component.model_fields.items():
                    yield f"{component.kind}.{name}", field.annotation
    for name, field in ReActAgentConfig.model_fields.items():
        yield f"agent.{name}", field.annotation


def holds_paths(annotation: object) -> bool:
    """Whether it holds paths, which the loader keeps in the directory of the file, whatever they are for."""
    inside = typing.get_args(annotation)
    return annotation is Path or any(map(holds_paths, inside))


def test_every_option_that_names_something_is_fenced() -> None:
    known = NEEDS_TRUST | INSIDE | ASKED_THERE | NOT_SUCH
    loose = [
        name
        for name, annotation in options()
        if NAMES_SOMETHING.search(name.partition(".")[2]) and not holds_paths(annotation) and name not in known
    ]
    assert loose == [], "say in this file which fence each of these has"


def refused(directory: Path, text: str) -> str:
    file = directory / "agent.yaml"
    file.write_text(f"version: 1\nmodel: offline\n{text}\n")
    with pytest.raises(ConfigError) as caught:
        ReActAgentConfig.from_yaml(file, trusted=False)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "toolsets: [{kind: shell}]",
        "toolsets: [{kind: shell, environment: {A: b}}]",
        "toolsets: [{kind: mcp, name: files, command: server}]",
        "checks: [{kind: command, command: 'true'}]",
        "plugins: [{kind: command_sensor, command: 'true'}]",
        "session: work",
        "session: other",
    ],
)
def test_what_takes_trust_is_refused_without(tmp_path: Path, text: str) -> None:
    assert "react-run trust" in refused(tmp_path, text)


PATHS = [
    "toolsets: [{kind: files, root: PLACE}]",
    "toolsets: [{kind: openapi, spec: PLACE/file.yaml}]",
    "trace: PLACE/x.jsonl",
    "plugins: [{kind: cache, path: PLACE/x.db}]",
    "plugins: [{kind: logging, path: PLACE/x.log}]",
    "plugins: [{kind: metrics, path: PLACE/x.json}]",
    "plugins: [{kind: inject, path: PLACE/file.md}]",
    "plugins: [{kind: guide, file: PLACE/file.md}]",
    "checks: [{kind: files_exist, files: [x], root: PLACE}]",
    "plugins: [{kind: syntax_sensor, root: PLACE}]",
    "extends: PLACE/file.yaml",
    "env_file: PLACE/file.env",
    "system_prompt: {file: PLACE/file.md}",
    "guides: [{file: PLACE/file.md}]",
]


@pytest.mark.parametrize("text", PATHS)
@pytest.mark.parametrize("way", ["up", "absolute", "link"])
def test_no_path_leads_out_without_trust(tmp_path: Path, text: str, way: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for directory in (outside, inside):
        directory.mkdir()
    for name in ("file.md", "file.env", "x.jsonl"):
        (outside / name).write_text("A=b")
    (outside / "file.yaml").write_text("version: 1\n")
    (inside / "link").symlink_to(outside)
    place = {"up": "../outside", "absolute": str(outside), "link": "link"}[way]
    assert "trust" in refused(inside, text.replace("PLACE", place))


GUIDES = [
    {"find": "AGENTS.md"},
    {"find": "CLAUDE.md"},
    {"find": "note.txt"},
    {"find": "agents.MD"},
    {"file": "AGENTS.md"},
]


@pytest.mark.parametrize("options", GUIDES)
@pytest.mark.parametrize("depth", [0, 1])
def test_a_guide_without_trust_follows_no_link_out(
    tmp_path: Path, options: dict[str, str], depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("SECRET")
    bundle = tmp_path / "bundle"
    work = bundle / "deep" if depth else bundle
    work.mkdir(parents=True)
    (bundle / ".git").mkdir()
    [name] = options.values()
    (bundle / name).symlink_to("../secret")
    monkeypatch.chdir(work)
    file = bundle / "agent.yaml"
    file.write_text(f"version: 1\nmodel: offline\nplugins: [{{kind: guide, {next(iter(options))}: {name}}}]\n")
    try:
        config = ReActAgentConfig.from_yaml(file, trusted=False)
    except ConfigError:
        return
    model = ScriptedModel(replies=[says("done")])
    result = asyncio.run(ReActAgent(config).replace(model=model).run("hello"))
    assert "SECRET" not in str(result.messages)


def test_a_link_within_the_repository_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "CLAUDE.md").write_text("Be kind.")
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "agent.yaml"
    file.write_text("version: 1\nmodel: offline\nplugins: [{kind: guide, find: AGENTS.md}]\n")
    config = ReActAgentConfig.from_yaml(file, trusted=False)
    [guide] = [plugin for plugin in config.plugins if isinstance(plugin, Guide)]
    assert not guide._leads_out(tmp_path, tmp_path / "AGENTS.md")
    assert isinstance(guide, (Component, BaseModel))
