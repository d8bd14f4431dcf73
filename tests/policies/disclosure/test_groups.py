"""Merging the skills of several toolsets, and what is wrong with them, found when the agent is built (behaviour D6)."""

from __future__ import annotations

from typing import Any

import pytest

from react_run import CompositeToolset, ConfigError, ReActSkillSpec, ReActToolset, Tool
from react_run.policies.disclosure.groups import SELECTOR, skills_of
from react_run.testing import agent_with, says

SCHEMA = {"type": "object", "properties": {}}


def toolset(kind: str, tools: str, *skills: ReActSkillSpec, doc: str = "") -> ReActToolset:
    """A toolset of this kind with the named tools and skills."""

    class Made(ReActToolset):
        __doc__ = doc

        def tools(self) -> list[Tool]:
            return [
                Tool(name=name, description=f"The tool {name}.", parameters=SCHEMA, function=lambda: "ok")
                for name in tools.split()
            ]

        def get_skill_specs(self) -> list[ReActSkillSpec]:
            return list(skills)

    Made.kind = kind
    return Made()


def skill(name: str, tools: str, description: str = "About it.", **more: Any) -> ReActSkillSpec:
    return ReActSkillSpec(name=name, description=description, tool_names=tuple(tools.split()), **more)


def build(*toolsets: ReActToolset) -> None:
    agent_with([says("done")], toolsets=toolsets, tool_disclosure="skills")


def test_skills_of_one_name_merge_in_their_order() -> None:
    late = toolset("late", "c", skill("s", "c", "About  it.", order=2, instructions="Last.", examples=("x", "y")))
    early = toolset("early", "a b", skill("s", "a b", order=1, instructions="First.", examples=("x",)))
    (merged,) = skills_of(CompositeToolset(toolsets=[late, early]), grouped=True)
    assert merged.tool_names == ("a", "b", "c")
    assert merged.instructions == "First.\n\nLast."
    assert merged.examples == ("x", "y")


def test_skills_are_listed_by_order_and_then_as_they_come() -> None:
    one, two = skill("second", "a", order=5), (skill("first", "b"), skill("x", "c"))
    both = [toolset("one", "a", one), toolset("two", "b c", *two)]
    assert [one.name for one in skills_of(CompositeToolset(toolsets=both), grouped=True)] == ["first", "x", "second"]


def test_composites_within_composites_are_looked_through() -> None:
    inner = CompositeToolset(toolsets=[toolset("one", "a", skill("s", "a"))])
    outer = CompositeToolset(toolsets=[inner, toolset("two", "b", skill("s", "b"))])
    (merged,) = skills_of(outer, grouped=True)
    assert merged.tool_names == ("a", "b")


def test_a_toolset_without_skills_becomes_a_group_named_after_its_kind() -> None:
    bare = toolset("bare", "b c", doc="Two things to do.\n\nAnd details.")
    _, group = skills_of(CompositeToolset(toolsets=[toolset("one", "a", skill("s", "a")), bare]), grouped=True)
    assert (group.name, group.tool_names) == ("bare", ("b", "c"))
    assert group.description == "Two things to do. b: The tool b. c: The tool c."


def test_toolsets_of_one_kind_without_skills_share_a_group() -> None:
    alike = [toolset("bare", "b", doc="Things."), toolset("bare", "c", doc="Things.")]
    _, group = skills_of(CompositeToolset(toolsets=[toolset("one", "a", skill("s", "a")), *alike]), grouped=True)
    assert (group.name, group.tool_names) == ("bare", ("b", "c"))
    assert group.description == "Things. b: The tool b. c: The tool c."


def test_a_group_whose_name_is_taken_gets_another() -> None:
    both = [toolset("one", "a", skill("bare", "a")), toolset("bare", "b")]
    assert [one.name for one in skills_of(CompositeToolset(toolsets=both), grouped=True)] == ["bare", "bare_tools"]


def test_a_toolset_without_tools_is_no_group() -> None:
    both = [toolset("one", "a", skill("s", "a")), toolset("empty", "")]
    assert [one.name for one in skills_of(CompositeToolset(toolsets=both), grouped=True)] == ["s"]


def test_without_any_skill_there_is_nothing_to_activate() -> None:
    assert skills_of(CompositeToolset(toolsets=[toolset("bare", "a b")]), grouped=True) == []


def test_skills_of_toolsets_do_not_count_when_all_tools_are_offered() -> None:
    assert skills_of(toolset("one", "a", skill("s", "a", "")), grouped=False) == []


WRONG = {
    "descriptions differ": (
        [toolset("one", "a", skill("s", "a", "This.")), toolset("two", "b", skill("s", "b", "That."))],
        ["skill 's'", "toolset one", "'This.'", "toolset two", "'That.'", "make the descriptions equal"],
    ),
    "tool of another child": (
        [toolset("one", "a", skill("s", "a b")), toolset("two", "b", skill("t", "b"))],
        ["toolset one, skill 's'", "'b' belongs to toolset two", "declare a skill of this name with it there"],
    ),
    "no such tool": (
        [toolset("one", "search", skill("s", "search serch"))],
        ["toolset one, skill 's'", "no tool 'serch'", "Did you mean 'search'?"],
    ),
    "reserved name": (
        [toolset("one", f"a {SELECTOR}", skill("s", f"a {SELECTOR}"))],
        ["toolset one", SELECTOR, "reserved", "rename it"],
    ),
    "reserved name in a toolset without skills": (
        [toolset("one", "a", skill("s", "a")), toolset("two", SELECTOR)],
        ["toolset two", SELECTOR, "reserved"],
    ),
    "a tool left outside": (
        [toolset("one", "a b c", skill("s", "a"))],
        ["toolset one", "b, c would never be offered", "'s'", "add them to the tool_names"],
    ),
    "one tool left outside": ([toolset("one", "a b", skill("s", "a"))], ["b would never be offered", "add it to the"]),
    "no tools": ([toolset("one", "a", skill("s", "a"), skill("t", ""))], ["skill 't'", "unlocks no tool", "remove it"]),
    "no description": ([toolset("one", "a", skill("s", "a", " "))], ["skill 's'", "give it a name and a description"]),
    "no name": ([toolset("one", "a", skill(" ", "a"))], ["toolset one", "give it a name and a description"]),
}


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.replace(" ", "-"))
def test_a_contradiction_is_an_error_when_the_agent_is_built(case: str) -> None:
    toolsets, parts = WRONG[case]
    with pytest.raises(ConfigError) as caught:
        build(*toolsets)
    assert [part for part in parts if part not in str(caught.value)] == []


def test_all_contradictions_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        build(toolset("one", "a b", skill("s", "a", "This.")), toolset("two", "c", skill("s", "c d", "That.")))
    assert len(str(caught.value).splitlines()) == 3


def test_a_toolset_without_skills_next_to_one_with_some_breaks_no_request() -> None:
    toolsets = [toolset("one", "a", skill("s", "a")), toolset("bare", "b c")]
    agent = agent_with([says("done")], toolsets=toolsets, tool_disclosure="skills")
    assert agent.run_sync("go").success
