"""What the math and temporal tools offer to models: schemas for every provider and grammar, flags, skills."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.toolsets.calling import Result

from react_run import ReActAgent, ReActToolset, Tool
from react_toolsets.math import MathToolset
from react_toolsets.temporal import TemporalToolset

TOOLSETS: list[ReActToolset] = [MathToolset(), TemporalToolset()]
TOOLS = [tool for toolset in TOOLSETS for tool in toolset.tools()]
KEYWORDS = {
    "additionalProperties", "anyOf", "default", "description", "enum", "format", "maximum", "maxLength", "minimum",
    "minLength", "properties", "required", "type",
}  # fmt: skip
"""What the converters from JSON Schema to a grammar (llama.cpp's among them) and every provider accept."""


def nodes(schema: Result) -> Iterator[Result]:
    yield schema
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        yield from nodes(part)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_uses_only_what_every_provider_and_grammar_accepts(tool: Tool) -> None:
    for node in nodes(tool.wire["function"]["parameters"]):
        assert set(node) <= KEYWORDS, node
        assert isinstance(node.get("type", "object"), str)
        # A grammar makes a model invent the offset that ``date-time`` asks for.
        assert node.get("format", "date") == "date"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_and_parameter_is_described(tool: Tool) -> None:
    function = tool.wire["function"]
    assert len(function["description"]) > 20
    assert all(len(part["description"]) > 10 for part in function["parameters"]["properties"].values())


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_only_reads(tool: Tool) -> None:
    assert tool.read_only is True
    assert not tool.network
    assert not tool.runs_programs


def test_only_the_clock_and_waiting_are_repeatable() -> None:
    assert [tool.name for tool in TOOLS if tool.repeatable] == ["get_current_time", "wait"]


def test_every_tool_is_in_the_skill_of_its_toolset() -> None:
    skills = {skill.name: skill for toolset in TOOLSETS for skill in toolset.get_skill_specs()}
    assert list(skills) == ["math_and_units", "dates_and_time"]
    assert [name for skill in skills.values() for name in skill.tool_names] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("name", ["math", "temporal"])
def test_the_agent_file_of_the_documentation_loads(name: str, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "toolsets" / f"{name}.md").read_text(encoding="utf-8")
    path = tmp_path / "agent.yaml"
    path.write_text(page.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    offered = {tool.name for tool in ReActAgent.from_yaml(path).tools}
    assert offered == {
        tool.name for tool in TOOLS if isinstance(tool.toolset, ReActToolset) and tool.toolset.kind == name
    }
