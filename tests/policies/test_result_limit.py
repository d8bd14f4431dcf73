"""Results that are too long for a conversation (behaviour T4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from react_run import Observation, RunResult, Tool, tool
from react_run.support.preview import head, size_of, tail
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]
NAME = re.compile(r"name='([^']+)'")


def spilled(workspace: Path) -> list[Path]:
    return sorted(path for path in workspace.rglob("*") if path.is_file() and path.name != ".gitignore")


def one(value: object, **options: Any) -> RunResult:
    @tool
    def fetch() -> object:
        """Fetch it."""
        return value

    return run_agent([calls(("fetch", {})), says("done")], tools=[fetch], **options)


def test_a_short_result_is_left_alone(workspace: Path, fired: Any) -> None:
    assert one("x" * 24_576, plugins=[fired]).steps[0].observation == "x" * 24_576
    assert (fired.guards, spilled(workspace)) == ([], [])


def test_what_must_stay_whole_is_neither_cut_nor_saved(workspace: Path, fired: Any) -> None:
    """As the instructions of a skill."""
    content = "x" * 30_000
    result = one(Observation(content=content, whole=True), plugins=[fired])
    assert result.steps[0].observation == content
    assert (fired.guards, spilled(workspace)) == ([], [])


def test_a_long_text_is_saved_whole_and_previewed(workspace: Path, fired: Any) -> None:
    text = "begin " + "x" * 10_000_000 + " end"
    result = one(text, plugins=[fired])
    (file,) = spilled(workspace)
    assert file.read_text() == text
    assert file.relative_to(workspace).as_posix() == f".react-run/runs/{result.run_id}/spill/1-fetch.txt"
    shown = result.steps[0].observation
    assert shown.startswith("begin xxx")
    assert shown.endswith("xxx end")
    assert "10,000,010 bytes" in shown
    assert file.relative_to(workspace).as_posix() in shown
    assert 4_000 < size_of(shown) < 4_700
    assert fired.guards == ["result_limit"]
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("value", [list(range(200_000)), {str(n): [n] for n in range(50_000)}])
def test_structured_data_is_saved_one_element_per_line(workspace: Path, value: Any) -> None:
    one(value)
    (file,) = spilled(workspace)
    assert file.name == "1-fetch.json"
    lines = file.read_text().splitlines()
    assert len(lines) == len(value) + 2
    assert json.loads(file.read_text()) == value


def test_nothing_is_lost_when_data_is_too_deep_for_that(workspace: Path) -> None:
    deep: list[Any] = []
    for _ in range(150):
        deep = [deep, "x" * 500]
    one(deep)
    assert json.loads(spilled(workspace)[0].read_text()) == deep


@pytest.mark.parametrize("unit", ["x", "é", "漢", "😀"])
@pytest.mark.parametrize("shift", range(4))
def test_no_cut_splits_a_character(workspace: Path, unit: str, shift: int) -> None:
    text = "a" * shift + unit * 30_000
    shown = one(text).steps[0].observation
    assert "�" not in shown
    assert size_of(shown) <= 24_576
    for size in range(12):
        assert text.startswith(head(text, size))
        assert text.endswith(tail(text, size))
        assert max(size_of(head(text, size)), size_of(tail(text, size))) <= size


def test_text_that_is_no_text_does_no_harm(workspace: Path) -> None:
    shown = one("\udce9\x00\x1b[2J" * 10_000).steps[0].observation
    assert shown.encode()
    assert "\x1b" not in shown


def test_without_spill_the_result_is_cut_and_says_so(workspace: Path) -> None:
    result = one("begin " + "x" * 30_000 + " end", limits={"spill": False})
    shown = result.steps[0].observation
    assert "30,010 bytes in all" in shown
    assert "was cut" in shown
    assert shown.endswith(" end")
    assert spilled(workspace) == []
    assert len(result.messages) == 5  # nothing is offered for what is gone


def test_the_results_of_a_iteration_add_up_to_four_ceilings_at_most(workspace: Path) -> None:
    @tool
    def fetch(number: int) -> str:
        """Fetch it."""
        return f"{number}:" + "x" * 20_480

    result = run_agent([calls(*[("fetch", {"number": n}) for n in range(40)]), says("done")], tools=[fetch])
    sizes = [size_of(step.observation) for step in result.steps]
    assert sum(sizes) <= 4 * 24_576
    assert sizes[0] > 20_000  # in request order: the first ones whole
    files = spilled(workspace)
    assert len(files) == sum(size < 20_000 for size in sizes) >= 36
    for number, step in enumerate(result.steps):
        if size_of(step.observation) < 20_000:
            found = NAME.search(step.observation)
            assert found is not None
            (file,) = [file for file in files if file.name == found[1]]
            assert file.read_text().startswith(f"{number}:")


def test_a_ceiling_can_be_lowered(workspace: Path) -> None:
    shown = one("x" * 2_000, max_result_bytes=1_024).steps[0].observation
    assert size_of(shown) <= 1_024
    assert len(spilled(workspace)) == 1


@pytest.mark.parametrize("name", ["a" * 64, "-", "read_result"])
def test_names_of_tools_do_no_harm(workspace: Path, name: str) -> None:
    big = Tool.from_function(lambda: "x" * 30_000, name=name, description="Big.")
    result = run_agent([calls((name, {})), says("done")], tools=[big])
    (file,) = spilled(workspace)
    assert file.parent.name == "spill"
    assert result.success


def test_a_link_is_not_followed_and_the_result_is_cut(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (workspace / ".react-run").symlink_to(elsewhere, target_is_directory=True)
    shown = one("x" * 30_000).steps[0].observation
    assert "was cut" in shown
    assert list(elsewhere.iterdir()) == []


def test_a_workspace_that_cannot_be_written_costs_the_tail_only(workspace: Path) -> None:
    (workspace / ".react-run").write_text("in the way")
    assert "was cut" in one("x" * 30_000).steps[0].observation


def test_a_result_that_was_saved_is_not_saved_again(workspace: Path) -> None:
    big = Tool.from_function(lambda: "x" * 30_000, name="big", description="Big.", repeatable=True)
    result = run_agent([*[calls(("big", {}))] * 9, says("done")], tools=[big])
    assert len(spilled(workspace)) == 1
    assert result.stop_reason == "stuck"  # S1 sees through previews


NEEDLE = "x" * 7_500_000 + "the NEEDLE is 42" + "y" * 2_500_000


def test_the_needle_in_a_saved_result_is_found(workspace: Path) -> None:
    agent = agent_with(
        [
            calls(("fetch", {})),
            calls(("search_result", {"name": "1-fetch.txt", "pattern": "NEEDLE is [0-9]+"})),
            calls(("search_result", {"name": "1-fetch.txt", "pattern": "NEEDLE"})),
            calls(("read_result", {"name": "1-fetch.txt", "offset": 7_500_000, "limit": 40})),
            says("42"),
        ],
        tools=[Tool.from_function(lambda: NEEDLE, name="fetch", description="Fetch.")],
    )
    steps = agent.run_sync("go").steps
    assert "1 matches" in steps[1].observation
    assert "7500004: " in steps[1].observation
    assert "NEEDLE is 42" in steps[1].observation
    assert "NEEDLE is 42" in steps[2].observation  # plain words take a shorter way
    assert steps[3].observation.startswith("the NEEDLE is 42yyy")
    assert "characters 7500000 to 7500040 of 10000016" in steps[3].observation


def test_reading_tools_are_offered_from_then_on_only(workspace: Path) -> None:
    replies = [calls(("small", {})), calls(("big", {})), says("done")]
    tools = [
        Tool.from_function(lambda: "x", name="small", description="Small."),
        Tool.from_function(lambda: "x" * 30_000, name="big", description="Big."),
    ]
    agent = agent_with(replies, tools=tools)
    agent.run_sync("go")
    offered = [[tool.name for tool in request.tools] for request in agent.model.requests]  # type: ignore[attr-defined]  # a ScriptedModel
    assert offered == [["small", "big"], ["small", "big"], ["small", "big", "read_result", "search_result"]]


def test_what_is_saved_is_kept_out_of_version_control(scripted_tool: Make, workspace: Path) -> None:
    run_agent([calls(("read", {})), says("done")], tools=[scripted_tool("read", "x" * 50_000)])
    assert (workspace / ".react-run" / ".gitignore").read_text() == "*\n"
