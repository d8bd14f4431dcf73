"""Agent files in Markdown: the keys in front, the system prompt behind, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command_line import Call
from tests.cli.conftest import call as call  # the fixture

from react_run import ConfigError, ReActAgent, read_journal
from react_run.config import load_config

ROOT = Path(__file__).parents[2]


def written(folder: Path, text: str, name: str = "agent.md") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_body_is_the_system_prompt_as_it_is(tmp_path: Path, end: str) -> None:
    text = "---\nmodel: offline\nname: scribe\n---\n\n# You\n\nWrite ${THIS} for $5 --- or not.\n\n---\n\nMore.\n\n"
    config = load_config(written(tmp_path, text.replace("\n", end)))
    assert config.system_prompt == "# You\n\nWrite ${THIS} for $5 --- or not.\n\n---\n\nMore."
    assert config.name == "scribe"


def test_without_a_body_the_built_in_prompt_is_kept(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, "---\nmodel: offline\n---\n\n")).system_prompt is None


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("# An agent\n", "1:1", "begins with its keys, such as 'model: offline', between two lines '---'"),
        ("", "1:1", "begins with its keys"),
        ("---\nmodel: offline\n", "1:1", "are not closed: add a line '---'"),
        ("---\nmodel: offline\nmax_iteration: 3\n---\nText\n", "3:1", "Did you mean 'max_iterations'?"),
        ("---\nmodel: offline\nmax_iterations: many\n---\nText\n", "3:17", "must be a whole number"),
        ("---\nmodel: [\n---\nText\n", "", "agent.md:"),
        ("---\nsystem_prompt: a\n---\nText\n", "2:1", "keep one of them"),
        ("---\n---\nText\n", "", "agent.md: the file is empty"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, place: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert said in str(caught.value)
    if place:
        assert f"{path}:{place}: " in str(caught.value)


def test_a_file_in_either_form_extends_one_in_the_other(tmp_path: Path) -> None:
    written(tmp_path, "---\nmodel: offline\nmax_iterations: 3\n---\nBe brief.\n", "base.md")
    written(tmp_path, "extends: base.md\nname: child\n", "child.yaml")
    written(tmp_path, "---\nextends: child.yaml\n---\nBe long.\n", "grandchild.md")
    child, grandchild = (load_config(tmp_path / name) for name in ("child.yaml", "grandchild.md"))
    assert (child.system_prompt, child.max_iterations) == ("Be brief.", 3)
    assert (grandchild.system_prompt, grandchild.name) == ("Be long.", "child")


def test_the_wrapped_shape_has_a_body_as_well(tmp_path: Path) -> None:
    path = written(tmp_path, "---\nid: a\nproperties:\n  model: offline\n---\nBe brief.\n")
    assert load_config(path).system_prompt == "Be brief."


def test_the_command_line_finds_lists_and_explains_them(call: Call, tmp_path: Path) -> None:
    written(tmp_path, "---\nmodel: offline\ndescription: Writes.\n---\nBe brief.\n", "scribe.md")
    written(tmp_path, "---\ntitle: A page of a blog\n---\nHello.\n", "blog.md")
    written(tmp_path, "# Nothing\n", "README.md")
    written(tmp_path, "model: offline\n", "other.yaml")
    _, out, _ = call("list", "agents")
    assert "scribe" in out
    assert "blog" not in out
    status, out, _ = call("check", ".")
    assert (status, "scribe.md" in out, "blog.md" in out) == (0, True, False), out
    _, out, _ = call("explain", "scribe.md")
    assert "scribe.md:5" in out


def test_the_agent_in_markdown_runs_offline_and_replays(call: Call) -> None:
    file = str(ROOT / "agents" / "scribe.md")
    status, out, err = call(file, "What is 15*23?", "--record", "run.jsonl")
    assert (status, "345" in out) == (0, True), err
    assert "You work out what people ask" in read_journal("run.jsonl").messages[0].text
    assert call("replay", "run.jsonl")[0] == 0
    assert ReActAgent.from_yaml(file).config.description
