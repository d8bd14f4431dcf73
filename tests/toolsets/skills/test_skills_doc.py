"""docs/skills.md is true: its agent files load, its toolset discloses, its options are those there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from react_run import ReActAgent, ReActToolset
from react_run.testing import agent_with, calls, says
from react_toolsets.skills import SkillToolset

TEXT = (Path(__file__).parents[3] / "docs" / "skills.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", blocks("yaml"), ids=["agent", "toolset"])
def test_the_agent_files_load(text: str, tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "invoice-check" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(
        blocks("markdown")[0].replace(" add_calendar_period", "").replace("allowed-tools: calculate\n", "")
    )
    (tmp_path / "agent.yaml").write_text(text)
    assert ReActAgent.from_yaml(tmp_path / "agent.yaml").run_sync("hello").answer


def test_the_toolset_discloses_as_told() -> None:
    scope: dict[str, Any] = {}
    exec(compile(blocks("python")[0], "skills.md", "exec"), scope)
    toolset = scope["Ledger"]()
    assert isinstance(toolset, ReActToolset)
    replies = [
        calls(("activate_tool_skill", {"skill": "bookkeeping"})),
        calls(("balance", {"account": "travel"})),
        says("12.50 EUR"),
    ]
    result = agent_with(replies, toolsets=[toolset], tool_disclosure="skills").run_sync("What is left?")
    assert [step.failed for step in result.steps] == [False, False]
    assert "in EUR unless" in result.steps[0].observation


def test_every_option_of_the_toolset_is_told() -> None:
    assert [name for name in SkillToolset.model_fields if f"    {name}: " not in TEXT] == []
