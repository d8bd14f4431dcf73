"""The keys of every toolset: what an agent is offered of it, and under which names."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from react_run import (
    CompositeToolset,
    ConfigError,
    Outcome,
    ReActAgent,
    ReActAgentConfig,
    ReActSkillSpec,
    ReActToolset,
    ToolError,
    ToolsetError,
    read_journal,
    tool,
)
from react_run.config.json_schema import agent_file_schema
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_run.tools.composite import offered
from react_run.tools.toolset import ToolSpec, toolset_label

ROOT = Path(__file__).parents[2]


class Shelf(ReActToolset):
    """Books on a shelf."""

    kind = "shelf"
    room: str = "hall"

    @tool(read_only=True)
    def find_book(self, title: str) -> str:
        """Find a book."""
        return f"{title} in the {self.room}"

    @tool
    def lend_book(self, title: str) -> str:
        """Lend a book."""
        return f"lent {title}"

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        return Outcome.success(f"{tool_name}: {result}")

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [ReActSkillSpec(name="books", description="Books.", tool_names=("find_book", "lend_book"))]


class Named(ReActToolset):
    """Has options of its own that are called like shared keys."""

    name: str = "nobody"
    timeout: int = 7

    @tool
    def greet(self) -> str:
        """Greet."""
        return f"{self.name} {self.timeout}"


def names(toolset: ReActToolset) -> list[str]:
    return [tool.name for tool in offered(toolset)]


def file(tmp_path: Path, text: str) -> Path:
    (tmp_path / "shelves.py").write_text("from tests.tools.test_shared_keys import Shelf, Named\n")
    path = tmp_path / "agent.yaml"
    path.write_text(text)
    return path


# -- each key --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, ["find_book", "lend_book"]),
        ({"prefix": "my_"}, ["my_find_book", "my_lend_book"]),
        ({"include": ["find_*"]}, ["find_book"]),
        ({"exclude": ["lend*"]}, ["find_book"]),
        ({"include": ["*book"], "exclude": ["find_book"]}, ["lend_book"]),
        ({"rename": {"find_book": "search"}}, ["search", "lend_book"]),
        ({"rename": {"find_book": "search"}, "prefix": "my_"}, ["my_search", "my_lend_book"]),
        ({"enabled": False}, []),
    ],
)
def test_the_shared_keys_say_what_is_offered_and_under_which_names(keys: dict[str, Any], expected: list[str]) -> None:
    assert names(Shelf(**keys)) == expected
    assert [tool.name for tool in Shelf(**keys).tools()] == ["find_book", "lend_book"]


def test_descriptions_annotations_and_deadlines_are_set_anew() -> None:
    shelf = Shelf.model_validate(
        {
            "describe": {"find_book": "Look for a book."},
            "annotations": {"*": {"read_only": True}, "lend*": {"read_only": False, "idempotent": True}},
            "timeout": 5,
        }
    )
    find, lend = offered(shelf)
    assert (find.description, lend.description) == ("Look for a book.", "Lend a book.")
    assert (find.read_only, lend.read_only, lend.idempotent) == (True, False, True)
    assert (find.timeout, lend.timeout) == (5, 5)


def test_a_renamed_tool_runs_and_its_toolset_reads_results_by_the_name_it_knows() -> None:
    shelf = Shelf.model_validate({"room": "attic", "rename": {"find_book": "search"}})
    agent = agent_with([calls(("search", {"title": "Emma"})), says("found")], toolsets=[shelf])
    (step,) = agent.run_sync("go").steps
    assert (step.action, step.observation) == ("search", "Emma in the attic")
    assert step.outcome is not None
    assert step.outcome.verified_summary == "find_book: Emma in the attic"


def test_tools_of_specs_are_executed_under_their_own_name() -> None:
    from pydantic import BaseModel

    class Title(BaseModel):
        title: str

    class Specified(ReActToolset):
        def get_toolspecs(self) -> list[ToolSpec]:
            return [ToolSpec("find", "Find.", Title)]

        def execute(self, tool_name: str, args: Any) -> object:
            return f"{tool_name} {args.title}"

    specified = Specified.model_validate({"prefix": "a_"})
    result = agent_with([calls(("a_find", {"title": "x"})), says("ok")], toolsets=[specified]).run_sync("go")
    assert result.steps[0].observation == "find x"


def test_an_option_of_the_toolset_wins_over_a_shared_key_of_its_name() -> None:
    (greet,) = offered(Named.model_validate({"name": "Ada", "timeout": 3, "prefix": "a_"}))
    assert (greet.name, greet.timeout, greet.function()) == ("a_greet", None, "Ada 3")
    with pytest.raises(ValueError, match="timeout"):
        Named.model_validate({"timeout": "soon"})


def test_all_tools_can_be_put_behind_one_skill_even_of_several_toolsets() -> None:
    shelves: list[ReActToolset] = [
        Shelf.model_validate({"prefix": "a_", "skill": "library"}),
        Shelf.model_validate(
            {"prefix": "b_", "include": ["find_*"], "skill": {"name": "library", "instructions": "!"}}
        ),
    ]
    agent = agent_with(
        [calls(("activate_tool_skill", {"skill": "library"})), calls(("b_find_book", {"title": "x"})), says("ok")],
        toolsets=shelves,
        tool_disclosure="skills",
    )
    result = agent.run_sync("go")
    assert result.steps[-1].observation.startswith("x in the hall")
    requests = agent.model.requests  # type: ignore[attr-defined]  # the scripted model's
    assert "a_find_book: Find a book." in str(requests[0].tools[0].description)


def test_skills_of_a_toolset_follow_its_new_names() -> None:
    shelf = Shelf.model_validate({"prefix": "my_", "exclude": ["lend_book"]})
    (skill,) = CompositeToolset(toolsets=[shelf]).get_skill_specs()
    assert skill.tool_names == ("my_find_book",)


def test_a_composite_takes_the_keys_for_all_it_holds() -> None:
    both = CompositeToolset.model_validate(
        {"toolsets": [Shelf(), Shelf.model_validate({"prefix": "old_"})], "prefix": "x_", "exclude": ["*lend*"]}
    )
    assert names(both) == ["x_find_book", "x_old_find_book"]
    agent = agent_with([calls(("x_old_find_book", {"title": "x"})), says("ok")], toolsets=[both])
    assert agent.run_sync("go").steps[0].observation == "x in the hall"


def test_a_disabled_toolset_is_not_opened() -> None:
    class Opens(Shelf):
        async def open(self) -> None:
            raise OSError("it is not there")

    result = agent_with([says("ok")], toolsets=[Opens.model_validate({"enabled": False})]).run_sync("go")
    assert result.answer == "ok"


@pytest.mark.parametrize(
    ("keys", "text"), [({"name": "upstairs"}, "shelf:upstairs"), ({"prefix": "a_"}, "shelf"), ({}, "shelf")]
)
def test_a_name_labels_a_toolset(keys: dict[str, Any], text: str) -> None:
    assert toolset_label(Shelf(**keys)) == text
    assert toolset_label(Named.model_validate({"name": "Ada"})) == "Named:Ada"


# -- in agent files --------------------------------------------------------------------------------------------------


def test_one_file_uses_a_kind_twice_and_a_function_with_keys(tmp_path: Path) -> None:
    text = """
version: 1
toolsets:
  - {kind: shelves:Shelf, room: attic, prefix: attic_}
  - {kind: shelves:Shelf, prefix: "${PREFIX}", enabled: "${ON:-yes}"}
  - {kind: shelves:Shelf, enabled: "${OFF:-false}"}
"""
    path = file(tmp_path, text)
    config = ReActAgentConfig.from_yaml(path, environment={"PREFIX": "hall_"})
    agent = ReActAgent(config)
    assert [tool.name for tool in agent.tools] == [
        *("attic_find_book", "attic_lend_book", "hall_find_book", "hall_lend_book"),
    ]
    again = tmp_path / "again.yaml"
    again.write_text(config.to_yaml())
    assert ReActAgentConfig.from_yaml(again) == config


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [
        ("include: [find_bok]", 15, "no tool of this toolset is called 'find_bok'. Did you mean 'find_book'?"),
        ("exclude: ['x*']", 15, "no tool of this toolset is called 'x*'."),
        ("rename: {find: search}", 14, "no tool of this toolset is called 'find'."),
        ("describe: {lend_bok: x}", 16, "Did you mean 'lend_book'? Its tools: find_book, lend_book"),
        ("annotations: {a*: {read_only: true}}", 19, "no tool of this toolset is called 'a*'."),
        ("exclude: ['*']", 5, "no tool is left to offer; enabled: false leaves the toolset out"),
        ("rename: {find_book: lend_book}", 5, "the tool 'lend_book' is declared twice"),
        ("rename: {find_book: find book}", 25, "should match pattern"),
        ("prefix: 'a b'", 13, "should match pattern"),
        ("timeout: 0", 14, "must be more than 0.0"),
        ("annotations: {'*': {cheap: true}}", 25, "unknown key 'cheap'"),
        ("prefixx: a_", 5, "unknown key 'prefixx'. Did you mean 'prefix'?"),
    ],
)
def test_a_wrong_key_is_reported_with_its_place(tmp_path: Path, line: str, column: int, text: str) -> None:
    path = file(tmp_path, f"version: 1\ntoolsets:\n  - kind: shelves:Shelf\n    {line}\n")
    with pytest.raises((ConfigError, ToolsetError)) as caught:
        ReActAgent.from_yaml(path)
    first = str(caught.value).splitlines()[0]
    assert text in first
    where = "3:5" if "twice" in text else f"4:{column}"
    assert first.startswith(f"{path}:{where}: ")


def test_a_clash_names_both_toolsets_with_their_places_and_the_way_out(tmp_path: Path) -> None:
    text = """version: 1
toolsets:
  - {kind: shelves:Shelf, name: one}
  - math
  - {kind: shelves:Shelf, name: two}
  - kind: composite
    name: inner
    toolsets:
      - {kind: shelves:Named}
      - {kind: shelves:Named}
"""
    path = file(tmp_path, text)
    with pytest.raises(ToolsetError) as caught:
        ReActAgent.from_yaml(path)
    first, second = [line for line in str(caught.value).splitlines() if line.startswith(str(path))]
    assert first == (
        f"{path}:5:5: toolsets[2]: toolsets shelf:one and shelf:two both offer tools 'find_book', 'lend_book': give "
        "one of them a prefix, rename: {find_book: …}, or exclude: [find_book, lend_book] "
        f"(the other one: {path}:3:5)"
    )
    assert second == (
        f"{path}:10:9: toolsets[3].toolsets[1]: toolsets Named:nobody and Named:nobody both offer a tool 'greet': "
        f"give one of them a prefix, rename: {{greet: …}}, or exclude: [greet] (the other one: {path}:9:9)"
    )


@pytest.mark.parametrize("error", [ToolError("no server"), OSError("no file"), KeyError("x")])
def test_whatever_a_toolset_raises_names_it_and_its_place(tmp_path: Path, error: Exception) -> None:
    class Broken(ReActToolset):
        kind = "broken"

        def tools(self) -> Any:
            raise error

    with pytest.raises(ToolsetError, match="toolset broken has no tools: "):
        agent_with([says("x")], toolsets=[Broken()])


def test_the_schema_offers_the_keys_for_every_toolset_and_its_own_options_first() -> None:
    schema = agent_file_schema()
    check = Draft202012Validator(schema).is_valid
    assert check({"toolsets": [{"kind": "math", "prefix": "a_", "annotations": {"*": {"read_only": True}}}]})
    assert check(
        {"toolsets": [{"kind": "files", "root": ".", "name": "x", "enabled": "${ON}", "skill": {"name": "y"}}]}
    )
    assert not check({"toolsets": [{"kind": "math", "prefix": 3}]})


def test_permissions_may_be_about_a_named_toolset() -> None:
    shelf = Shelf.model_validate({"name": "upstairs"})
    rules = [{"toolset": "up*", "action": "deny"}]
    result = agent_with([calls(("find_book", {"title": "x"})), says("ok")], toolsets=[shelf], permissions=rules)
    assert result.run_sync("go").steps[0].error_code == "denied"


def test_the_journal_says_what_the_file_calls_a_toolset(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent = agent_with([says("ok")], toolsets=[Shelf.model_validate({"name": "upstairs"})]).replace(journal=path)
    agent.run_sync("go")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    (offer,) = [record for record in records if record["type"] == "tools"]
    assert {tool["toolset"] for tool in offer["new"]} == {"upstairs"}


def test_the_composed_agent_that_ships_reads_both_folders_and_can_be_replayed(tmp_path: Path) -> None:
    agent = ReActAgent.from_yaml(ROOT / "agents" / "composed.yaml").replace(journal=tmp_path / "run.jsonl")
    result = agent.run_sync("go")
    assert asyncio.run(replay(read_journal(tmp_path / "run.jsonl"), agent)).complete
    assert result.success, result.answer
    assert [step.action for step in result.steps if step.executed] == ["notes_search_files", "skills_read_file"]


def test_the_example_in_the_documentation_is_that_of_the_agent() -> None:
    import yaml

    text = (ROOT / "docs" / "agent-files.md").read_text(encoding="utf-8")
    example = text.partition("# from agents/composed.yaml")[2].partition("```")[0]
    shipped = yaml.safe_load((ROOT / "agents" / "composed.yaml").read_text(encoding="utf-8"))
    assert yaml.safe_load(example)["toolsets"] == shipped["toolsets"]
