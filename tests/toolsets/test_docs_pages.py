"""The examples on the pages of plan and notes, and of agent files in Markdown, load and run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from react_run import ReActAgent

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "tools"),
    [("plan", {"plan"}), ("notes", {"remember", "recall", "forget"}), ("people", {"ask_user"})],
)
def test_the_example_of_a_page_loads(tmp_path: Path, page: str, tools: set[str]) -> None:
    text = (DOCS / "toolsets" / f"{page}.md").read_text(encoding="utf-8")
    path = tmp_path / "agent.yaml"
    path.write_text(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    assert tools <= {tool.name for tool in ReActAgent.from_yaml(path).tools}
    assert all(f"**{tool}**" in text for tool in tools)


def test_the_example_in_markdown_answers(tmp_path: Path) -> None:
    text = (DOCS / "agent-files.md").read_text(encoding="utf-8")
    path = tmp_path / "agent.md"
    path.write_text(re.findall(r"```markdown\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    result = ReActAgent.from_yaml(path).run_sync("What is 15*23?")
    assert "345" in result.answer
    assert result.messages[0].text.startswith("You work out what people ask")
