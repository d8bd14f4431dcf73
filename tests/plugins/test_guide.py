"""Guides: text for the system prompt, once, in order, each under its heading (behaviour G1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from react_plugins.guide import LONGEST, Guide
from react_run import ConfigError, ReActAgent, ReActAgentConfig, Run, hookimpl, tool
from react_run.testing import agent_with, calls, says

SCRIPTED = "version: 1\nmodel: {kind: scripted, replies: [done]}\n"


def prompt(workspace: Path, *plugins: Any, **config: Any) -> str:
    agent = agent_with([says("done")], plugins=plugins, system_prompt="You are tested.", **config)
    agent.workspace = workspace
    return agent.run_sync("go").messages[0].text


def test_guides_stand_in_plugin_order_each_under_its_own_heading(tmp_path: Path) -> None:
    class Rules:
        @hookimpl
        def react_guide(self, run: Run) -> str:
            return "Say please."

    first = Guide(text="Be brief.", heading="Style")
    second = Guide(text="# House\nUse metres.")
    assert prompt(tmp_path, first, Rules(), second, Guide(text="Be kind.")) == (
        "You are tested.\n\n# Style\n\nBe brief.\n\n# Rules\n\nSay please.\n\n# House\nUse metres.\n\n"
        "# Guide\n\nBe kind."
    )


def test_a_guide_is_asked_for_once_per_run() -> None:
    asked: list[str] = []

    class Counting:
        @hookimpl
        def react_guide(self, run: Run) -> str:
            asked.append(run.id)
            return f"# Asked {len(asked)}"

    @tool
    def nothing() -> None:
        """Do nothing."""

    agent = agent_with(
        [calls(("nothing", {})), calls(("nothing", {})), says("ok")], tools=[nothing], plugins=[Counting()]
    )
    results = [agent.run_sync("go"), agent.run_sync("go")]
    assert [result.messages[0].text.partition("# Asked ")[2] for result in results] == ["1", "2"]
    prompts = [request.messages[0].text for request in agent.model.requests[:3]]  # type: ignore[attr-defined]  # scripted
    assert prompts[0].endswith("# Asked 1")
    assert len(set(prompts)) == 1  # the prefix never changes (L7)


def test_a_file_is_read_when_a_run_starts(tmp_path: Path) -> None:
    path = tmp_path / "RULES.txt"
    path.write_text("one\n")
    guide = Guide(file=path)
    assert prompt(tmp_path, guide) == "You are tested.\n\n# RULES.txt\n\none"
    path.write_text("\ufeff# Two\ntwo")
    assert prompt(tmp_path, guide) == "You are tested.\n\n# Two\ntwo"
    path.write_text("")
    assert prompt(tmp_path, guide) == "You are tested."
    path.write_text("x" * (LONGEST + 1))
    assert prompt(tmp_path, guide).endswith("[RULES.txt is longer; the rest is not shown]")


def test_the_nearest_agents_md_of_the_repository_is_found(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("not of this repository")
    deep = tmp_path / "repository" / "src" / "deep"
    deep.mkdir(parents=True)
    guide = Guide(find="AGENTS.md")
    assert prompt(deep, guide) == "You are tested."  # outside of a repository, others' files are not ours
    (tmp_path / "repository" / ".git").mkdir()
    assert prompt(deep, guide) == "You are tested."
    (tmp_path / "repository" / "AGENTS.md").write_text("Use tabs.")
    assert prompt(deep, guide) == "You are tested.\n\n# AGENTS.md\n\nUse tabs."
    (deep.parent / "AGENTS.md").write_text("Use spaces.")
    assert prompt(deep, guide).endswith("Use spaces.")
    assert prompt(deep, Guide(find="NONE.md")) == "You are tested."


def test_in_an_agent_file_texts_and_files_are_guides(tmp_path: Path) -> None:
    (tmp_path / "house.md").write_text("Use metres.")
    path = tmp_path / "a.yaml"
    path.write_text(
        f"{SCRIPTED}system_prompt: x\nguides:\n  - Be brief.\n  - {{file: house.md}}\n"
        "plugins:\n  - {kind: guide, find: AGENTS.md}\n  - {kind: guide, file: house.md, heading: Units}\n"
    )
    text = ReActAgent.from_yaml(path).run_sync("go").messages[0].text
    assert [part.partition("\n")[0] for part in text.split("# ")[1:]] == ["Units", "Guide", "Guide"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "give one of"),
        ({"text": "a", "find": "b"}, "give one of"),
        ({"text": " "}, "give one of"),
        ({"find": "../AGENTS.md"}, "pattern"),
        ({"file": "none.md"}, "there is no file"),
    ],
)
def test_a_guide_has_one_source(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        Guide.model_validate(options)


def test_a_file_outside_the_directory_needs_trust(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("x")
    path = tmp_path / "agents" / "a.yaml"
    path.parent.mkdir()
    path.write_text(f"{SCRIPTED}plugins:\n  - {{kind: guide, file: ../secret.md}}\n")
    ReActAgentConfig.from_yaml(path)
    with pytest.raises(ConfigError, match=r"a\.yaml:4.*outside its directory"):
        ReActAgentConfig.from_yaml(path, trusted=False)


def test_to_look_outside_the_directory_for_what_is_no_markdown_needs_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "agents").mkdir()
    monkeypatch.chdir(tmp_path / "agents")  # it looks in the whole repository
    path = tmp_path / "agents" / "a.yaml"
    for name, allowed in (("AGENTS.md", True), (".env", False), ("credentials", False)):
        path.write_text(f"model: offline\nplugins: [{{kind: guide, find: {name}}}]\n", encoding="utf-8")
        ReActAgentConfig.from_yaml(path)
        if allowed:
            ReActAgentConfig.from_yaml(path, trusted=False)
        else:
            with pytest.raises(ConfigError, match=r"a\.yaml:2.*looks for .* outside its directory"):
                ReActAgentConfig.from_yaml(path, trusted=False)
    path.rename(tmp_path / "a.yaml")
    ReActAgentConfig.from_yaml(tmp_path / "a.yaml", trusted=False)
