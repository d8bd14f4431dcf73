"""The ``people`` toolset: a question to the user, who may not be there."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.questions.test_questions import Person

from react_run import ConfigError, ReActAgent, ReActAgentConfig, RunResult, StopReason, hookimpl, read_journal
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets.people import PeopleToolset

ROOT = Path(__file__).parents[3]
WHICH = ("ask_user", {"question": "Which hut?", "choices": ["Low", "High"]})


def asked(*plugins: object, request: Any = WHICH, times: int = 1, **options: Any) -> RunResult:
    replies = [*[calls(request)] * times, says("done")]
    return agent_with(replies, toolsets=[PeopleToolset(**options)], plugins=plugins).run_sync("go")


def test_the_answer_of_the_user_is_the_result() -> None:
    person = Person("High")
    result = asked(person)
    assert (result.steps[0].observation, result.success) == ("High", True)
    (question,) = person.questions
    assert (question.text, list(question.choices)) == ("The agent asks: Which hut?", ["Low", "High"])


def test_without_choices_any_text_is_an_answer() -> None:
    result = asked(Person("the one by the lake"), request=("ask_user", {"question": "Which hut?"}))
    assert result.steps[0].observation == "the one by the lake"


def test_without_anybody_to_ask_the_run_ends_with_the_question() -> None:
    result = asked(Person(None))
    assert result.stop_reason == StopReason.CLARIFICATION_REQUIRED
    assert "Which hut?" in result.answer


def test_or_the_model_goes_on_and_says_what_it_assumed() -> None:
    result = asked(Person(None), unanswered="go_on")
    assert result.steps[0].error_code == "no_result"
    assert "say in your answer what you assumed" in result.steps[0].observation


def test_who_does_not_answer_in_time_is_not_there() -> None:
    class Asleep:
        @hookimpl
        async def react_ask(self) -> None:
            await asyncio.Event().wait()

    assert asked(Asleep(), wait=0.05).stop_reason == StopReason.CLARIFICATION_REQUIRED


def test_a_run_asks_no_more_questions_than_it_may() -> None:
    person = Person("High")
    result = asked(person, times=3, questions=2, request=("ask_user", {"question": "Which hut?"}))
    assert len(person.questions) == 2
    assert result.steps[2].error_code == "too_many_questions"


def test_one_choice_is_no_question() -> None:
    result = asked(Person("High"), request=("ask_user", {"question": "Which hut?", "choices": ["High", "High"]}))
    assert result.steps[0].error_code == "one_choice"


def test_a_replay_knows_the_answer(tmp_path: Path) -> None:
    path, nobody = tmp_path / "run.jsonl", Person(None)
    agent = ReActAgent.from_yaml(ROOT / "agents" / "people.yaml")
    ReActAgent(agent.config, plugins=[Person("High")], journal=path).run_sync("Plan my walk.")
    again = ReActAgent(agent.config, plugins=[nobody])
    for tools in ("recorded", "live"):
        replayed = asyncio.run(replay(read_journal(path), again, tools=tools))
        assert replayed.result is not None
        assert replayed.result.answer == "You stay at the hut that you chose."
    assert nobody.questions == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("wait: 0", "must be more than 0.0"),
        ("unanswered: wait", "must be 'end' or 'go_on'"),
        ("questions: 0", "at least 1"),
    ],
)
def test_wrong_options_are_reported_with_their_place(tmp_path: Path, options: str, text: str) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(f"version: 1\ntoolsets:\n  - kind: people\n    {options}\n")
    with pytest.raises(ConfigError, match=re.escape(text)) as caught:
        ReActAgentConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}:4:")


def test_the_example_of_the_page_works() -> None:
    text = (ROOT / "docs" / "toolsets" / "people.md").read_text(encoding="utf-8")
    source, limits = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    agent = ReActAgent(yaml.safe_load(source), plugins=[Person("High")])
    result = agent.run_sync("Plan my walk.")
    assert (result.success, result.answer) == (True, "You stay at the hut that you chose.")
    assert ReActAgent(yaml.safe_load(limits)).config.limits.on_limit == "ask"
