"""docs/harness.md and the pages of its toolsets: what they show works, and they name every option."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from react_plugins.checks.command import CommandCheck
from react_plugins.checks.files_exist import FilesExist
from react_plugins.checks.json_schema import JsonSchemaCheck
from react_plugins.checks.python import PythonCheck
from react_plugins.checks.regex import RegexCheck
from react_plugins.checks.tool_used import ToolUsed
from react_plugins.command_sensor import CommandSensor
from react_plugins.guide import Guide
from react_plugins.python_sensor import PythonSensor
from react_plugins.syntax_sensor import SyntaxSensor
from react_run import Component, ReActAgent
from react_run.testing import agent_with, calls, says
from react_toolsets.agents import AgentsToolset
from react_toolsets.files import FilesToolset
from react_toolsets.functions import FunctionsToolset
from react_toolsets.shell import ShellToolset

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    name: (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for name in ("harness", "toolsets/files", "toolsets/shell", "toolsets/functions", "toolsets/agents")
}
SCRIPTED = json.dumps({"kind": "scripted", "replies": ["done"]})


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE)


def code(page: str) -> dict[str, Any]:
    """Everything that the Python blocks of a page define."""
    scope: dict[str, Any] = {"__name__": "documented"}
    for block in blocks(page, "python"):
        exec(compile(block.replace("from __future__ import annotations\n", ""), page, "exec"), scope)
    return scope


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A directory with all that the examples name."""
    python = blocks("harness", "python")
    texts = {
        "house-rules.md": "Use metres.",
        "eyes.py": next(block for block in python if "def no_todo" in block),
        "manners.py": next(block for block in python if "class Polite" in block),
        "judge.py": next(block for block in python if "def is_short" in block),
        "shop.py": blocks("toolsets/functions", "python")[0],
        "tests/test_a.py": "",
        "notes/a.md": "x",
    }
    for name in ("researcher", "calculator"):
        texts[f"{name}.yaml"] = f"version: 1\nname: {name}\nmodel: {SCRIPTED}\n"
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


EXAMPLES = [(page, number) for page in PAGES for number in range(len(blocks(page, "yaml")))]


@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_the_agent_files_build(page: str, number: int, beside: Path) -> None:
    (beside / "agent.yaml").write_text(blocks(page, "yaml")[number], encoding="utf-8")
    agent = ReActAgent.from_yaml(beside / "agent.yaml")
    assert agent.tools or page == "harness"


def test_the_plugins_and_checks_work(tmp_path: Path) -> None:
    names = code("harness")
    checks = [names["Polite"](), PythonCheck(function=names["is_short"])]
    files = FilesToolset(read_only=False)
    write = calls(("write_file", {"path": "a.txt", "content": "TODO"}))
    agent = agent_with(
        [write, calls(("write_file", {"path": "a.txt", "content": "x"})), says("x " * 101), says("done, please")],
        toolsets=[files],
        plugins=[names["Units"](), names["Disk"](), PythonSensor(function=names["no_todo"])],
        checks=checks,
    )
    agent.workspace = tmp_path
    result = agent.run_sync("go")
    prompt = result.messages[0].text
    assert "# Manners\nSay please." in prompt
    assert "# Units\nGive lengths in metres." in prompt
    assert "there is a TODO in it" in result.steps[0].observation
    assert "That is 101 words" in next(m.text for m in result.messages[2:] if m.role == "user")
    assert result.success


def test_the_functions_are_tools(beside: Path) -> None:
    toolset = FunctionsToolset.model_validate({"path": beside / "shop.py"})
    assert [tool.name for tool in toolset.tools()] == ["price_with_tax", "stock_of"]


@pytest.mark.parametrize(
    ("page", "components"),
    [
        ("harness", [Guide, CommandSensor, PythonSensor, SyntaxSensor]),
        ("harness", [FilesExist, CommandCheck, RegexCheck, JsonSchemaCheck, ToolUsed, PythonCheck]),
        ("toolsets/files", [FilesToolset]),
        ("toolsets/shell", [ShellToolset]),
        ("toolsets/functions", [FunctionsToolset]),
        ("toolsets/agents", [AgentsToolset]),
    ],
)
def test_every_option_is_named(page: str, components: list[type[Component]]) -> None:
    for component in components:
        assert [name for name in component.option_names() if f"`{name}`" not in PAGES[page]] == [], component.kind
        assert f"`{component.kind}`" in PAGES[page] or PAGES[page].startswith(f"# {component.kind}\n")


@pytest.mark.parametrize(
    ("page", "toolset"),
    [("toolsets/files", FilesToolset(read_only=False)), ("toolsets/shell", ShellToolset())],
)
def test_every_tool_is_named_with_its_arguments(page: str, toolset: Any) -> None:
    for tool in toolset.tools():
        assert f"`{tool.name}`" in PAGES[page]
        assert [name for name in tool.parameters["properties"] if f"`{name}`" not in PAGES[page]] == []


def test_links_lead_somewhere() -> None:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert (DOCS / page).parent.joinpath(target).resolve().exists(), f"{page}: {target}"
