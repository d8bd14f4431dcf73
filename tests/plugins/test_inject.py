"""The plugin ``inject``: context with each request that no conversation keeps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.plugins.traces import Traces, requests_of

from react_plugins.inject import Inject
from react_plugins.redact import Redact
from react_run import ReActAgent, tool
from react_run.testing import agent_with, calls, replayed, says

TWICE = [calls(("read", {"path": "a"})), says("done")]


@pytest.mark.parametrize(("when", "seen"), [("each", [True, True]), ("first", [True, False]), ("later", [False, True])])
def test_the_text_is_the_last_message_of_the_requests_it_is_wanted_in(when: Any, seen: list[bool]) -> None:
    agent = agent_with(TWICE, tools=Traces().tools(), plugins=[Inject(text="Mind the gap.", when=when)])
    result = agent.run_sync("go")
    assert [request.messages[-1].text == "Mind the gap." for request in requests_of(agent)] == seen
    assert "Mind the gap." not in [message.text for message in result.messages]


def test_the_prefix_of_the_conversation_stays_the_same() -> None:  # L7
    agent = agent_with(TWICE, tools=Traces().tools(), plugins=[Inject(text="{iteration}")])
    agent.run_sync("go")
    first, second = requests_of(agent)
    assert list(first.messages)[:-1] == list(second.messages)[: len(first.messages) - 1]


def test_placeholders_are_filled_in_and_other_braces_stay() -> None:
    text = "{iteration} {iterations_left} {tool_calls} {tokens} {cost} {now} {other} {}"
    agent = agent_with(TWICE, tools=Traces().tools(), plugins=[Inject(text=text)], max_iterations=5)
    agent.run_sync("go")
    last = requests_of(agent)[-1].messages[-1].text
    assert re.fullmatch(r"2 3 1 unknown unknown \d{4}-\d\d-\d\dT[\d:]+[+-][\d:]+ \{other\} \{\}", last)


def test_a_file_is_read_anew_before_each_call(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("first")

    @tool
    def edit(text: str) -> str:
        """Write, or take away, the notes."""
        path.write_text(text) if text else path.unlink()
        return "edited"

    replies = [calls(("edit", {"text": "second"})), calls(("edit", {"text": ""})), says("done")]
    agent = agent_with(replies, tools=[edit], plugins=[Inject(path=path)])
    agent.run_sync("go")
    assert [request.messages[-1].text for request in requests_of(agent)] == ["first", "second", "edited"]


def test_what_is_asked_again_gets_it_once() -> None:
    agent = agent_with([says(""), says("done")], plugins=[Inject(text="hint")])
    agent.run_sync("go")
    assert [[m.text for m in request.messages].count("hint") for request in requests_of(agent)] == [1, 1]


def test_nothing_to_inject_is_an_error() -> None:
    with pytest.raises(ValidationError, match="give text, path, or both"):
        Inject()


def test_secrets_do_not_get_past_redact_this_way() -> None:
    plugins = [Redact(patterns=["word-[0-9]+"]), Inject(text="The word is word-42.")]
    for listed in (plugins, plugins[::-1]):
        agent = agent_with([says("done")], plugins=listed)
        agent.run_sync("go")
        assert requests_of(agent)[0].messages[-1].text == "The word is ***."


def test_a_replay_is_told_what_the_run_was_told(tmp_path: Path) -> None:  # J3
    notes, recording = tmp_path / "notes.md", tmp_path / "run.jsonl"
    notes.write_text("first")

    def agent(**config: Any) -> ReActAgent:
        return agent_with(TWICE, tools=Traces().tools(), plugins=[Inject(text="{now}", path=notes)], **config)

    agent(trace=str(recording)).run_sync("go")
    notes.write_text("second")
    assert replayed(recording, agent()).answer == "done"
