"""The tree of a run: subagents below the calls that started them, reasons in words."""

from __future__ import annotations

from pathlib import Path

from tests.pictures import png

from react_run import ImagePart, ReActAgent, ScriptedModel
from react_run.journal.reading import Journal, read_journal
from react_run.journal.recorder import Recorder
from react_run.journal.view.formatting import attached, cost, tokens
from react_run.journal.view.html import page
from react_run.journal.view.tree import Branch, tree_of
from react_run.testing import agent_with, calls, says
from react_toolsets.agents import AgentsToolset


def team(folder: Path) -> Journal:
    """A run that calls a subagent twice, whose own subagent answers."""
    scripted = "version: 1\ndescription: Works.\nmodel: {{kind: scripted, replies: {}}}\n"
    call = "[{tool_calls: [{name: low, arguments: {task: t}}]}, '**middle** answer']"
    (folder / "low.yaml").write_text(scripted.format("[low answer]"))
    (folder / "middle.yaml").write_text(scripted.format(call) + "subagents: [low.yaml]\n")
    asked = [calls(("middle", {"task": "first"}), ("middle", {"task": "second"})), says("end")]
    path = folder / "run.jsonl"
    agent = agent_with(asked, toolsets=[AgentsToolset(agents=[folder / "middle.yaml"])], plugins=[Recorder(path=path)])
    agent.run_sync("go")
    return read_journal(path)


def named(branch: Branch, words: str) -> list[Branch]:
    """The branches below ``branch``, at any depth, whose text has ``words``."""
    found = [one for one in branch.below if words in one.text]
    return found + [deeper for one in branch.below for deeper in named(one, words)]


def test_subagents_are_below_the_calls_that_started_them(tmp_path: Path) -> None:
    tree = tree_of(team(tmp_path))
    assert not [branch for branch in tree.below if branch.text.startswith("run ")]
    started = named(tree, 'middle {"task"')
    assert len(started) == 2
    for call, task in zip(started, ("first", "second"), strict=True):
        (run,) = [branch for branch in call.below if branch.text.startswith("run ")]
        assert [branch.text for branch in run.below if branch.mark == "prompt"] == [task]
        (below,) = named(run, 'low {"task"')
        assert [branch.text.split(" · ")[1] for branch in below.below if branch.text.startswith("run ")] == ["low.yaml"]


def test_the_page_shows_a_subagent_once_and_within_its_call(tmp_path: Path) -> None:
    text = page(team(tmp_path))
    assert text.count("Subagent: middle") == 2
    assert text.count("Subagent: low") == 2
    call = text.index('<details class="tool"')
    assert call < text.index("Subagent: middle") < text.index("<b>middle</b>", text.index("Subagent: middle"))


def test_the_page_shows_answers_of_subagents_as_markdown_and_results_as_text(tmp_path: Path) -> None:
    text = page(team(tmp_path))
    assert text.count('<div class="md"><p><strong>middle</strong> answer</p>') == 2
    assert text.count("answer&quot;: &quot;**middle** answer&quot;") >= 2


def test_the_page_opens_results_and_folds_requests(tmp_path: Path) -> None:
    text = page(team(tmp_path))
    assert '<details class="tool" id=' in text
    assert text.count('<details class="tool"') == text.count('open><summary><span class="good">✓</span>')
    assert '<b>assistant</b> <span class="soft">calls middle, middle' in text


def test_calls_of_subagents_of_subagents_count_as_in_the_result(tmp_path: Path) -> None:
    journal = team(tmp_path)
    assert journal.footer is not None
    stats = journal.stats
    assert (stats.model_calls, stats.model_calls_below) == (2, 6)
    assert stats.model_calls + stats.model_calls_below == journal.footer["usage"]["requests"]
    assert (stats.tool_calls, stats.tool_calls_below) == (2, 2)


def test_what_is_attached_to_a_prompt_is_below_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    model = ScriptedModel(replies=["Two dots."], reads=["image/*"])
    prompt: list[str | ImagePart] = ["See?", ImagePart(png(), name="photo.png"), ImagePart(png(2), name="other.png")]
    ReActAgent({}, model=model, plugins=[Recorder(path=path)]).run_sync(prompt)
    journal = read_journal(path)
    above = tree_of(journal).below[:2]
    assert [branch.mark for branch in above] == ["prompt", "attached"]
    assert above[1].text == attached(journal)
    assert above[1].text.index("photo.png") < above[1].text.index("other.png")
    (other := tmp_path / "team").mkdir()
    without = tree_of(team(other))
    assert not [branch for branch in without.below if branch.mark == "attached"]


def test_an_iteration_is_headed_by_its_number_and_what_it_used(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    used = {"input_tokens": 7, "output_tokens": 2}
    replies = [
        calls(("nowhere", {}), usage={**used, "cost": 0.25}),
        calls(("nowhere", {"x": 1}), usage=used),
        says("end", usage={**used, "cost": 0.0}),
    ]
    agent_with(replies, plugins=[Recorder(path=path)], failure_handling="legacy").run_sync("go")
    heads = [branch.text for branch in tree_of(read_journal(path)).below if branch.text.startswith("iteration")]
    assert heads == [
        f"iteration 1 · {tokens(9)} · {cost(0.25)}",
        f"iteration 2 · {tokens(9)}",
        f"iteration 3 · {tokens(9)} · {cost(0.0)}",
    ]
