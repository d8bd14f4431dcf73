"""Finding a skill among hundreds: the selector stays small, and words find what is needed."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from react_run import ReActSkillSpec, ReActToolset, ScriptedModel, Tool
from react_run.policies.disclosure.groups import SELECTOR
from react_run.policies.disclosure.selector import LISTED, search, selector
from react_run.testing import agent_with, calls, says


def spec(name: str, description: str, *examples: str) -> ReActSkillSpec:
    return ReActSkillSpec(name=name, description=description, tool_names=(name,), examples=examples)


FILLER = [spec(f"topic_{number}", f"Everything about topic number {number} of the handbook.") for number in range(300)]
KNOWN = [
    spec("pdf_forms", "Fill in and flatten forms in PDF documents.", "Complete this application form"),
    spec("pdf_text", "Extract text and tables from PDF documents."),
    spec("invoices", "Write invoices and reminders for customers.", "Bill the customer for May"),
    spec("travel", "Book trains and hotels for the team."),
]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("pdf form", "pdf_forms"),
        ("filling in a form", "pdf_forms"),
        ("extract the tables of a document", "pdf_text"),
        ("write an INVOICE", "invoices"),
        ("billing: customer", "invoices"),
        ("the hotel", "travel"),
    ],
)
def test_words_find_the_skill(words: str, first: str) -> None:
    assert search(words, [*FILLER, *KNOWN])[0].name == first


def test_a_search_gives_a_few_and_only_what_shares_a_word() -> None:
    assert len(search("topic of the handbook", FILLER)) == 10
    assert search("volcano", [*FILLER, *KNOWN]) == []
    assert search("", KNOWN) == []


def test_the_selector_stays_small_whatever_the_number() -> None:
    small, large = selector(FILLER[: LISTED + 1]), selector(FILLER)
    assert abs(len(json.dumps(small.wire)) - len(json.dumps(large.wire))) < 10
    assert "enum" not in json.dumps(large.wire)
    assert len(selector(FILLER[:LISTED]).parameters["properties"]["skill"]["enum"]) == LISTED


class Many(ReActToolset):
    """Tools for every topic."""

    kind: ClassVar[str] = "many"

    def tools(self) -> list[Tool]:
        schema = {"type": "object", "properties": {}}
        return [
            Tool(name=one.name, description=one.description, parameters=schema, function=lambda: "ok")
            for one in self.get_skill_specs()
        ]

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [*FILLER, *KNOWN]


def test_a_skill_is_searched_for_activated_and_used() -> None:
    replies = [
        calls((SELECTOR, {"search": "fill in a pdf form"})),
        calls((SELECTOR, {"skill": "pdf_forms"})),
        calls(("pdf_forms", {})),
        says("done"),
    ]
    agent = agent_with(replies, toolsets=[Many()], tool_disclosure="skills", skill_activation_followup="required")
    result = agent.run_sync("go")
    found = json.loads(result.steps[0].observation)
    assert found["found"][0] == {"skill": "pdf_forms", "description": "Fill in and flatten forms in PDF documents."}
    assert [(step.executed, step.failed) for step in result.steps] == [(False, False), (False, False), (True, False)]
    assert isinstance(agent.model, ScriptedModel)
    requests = agent.model.requests
    assert [request.tool_choice for request in requests] == [
        None,
        None,
        "required",
        None,
    ]
    assert [tool.name for tool in requests[2].tools] == ["pdf_forms"]


def test_a_wrong_name_among_many_is_answered_with_the_nearest() -> None:
    sent: tuple[dict[str, str], ...] = ({"skill": "pdf-form"}, {}, {"search": "volcano"})
    replies = [calls((SELECTOR, arguments)) for arguments in sent]
    agent = agent_with([*replies, says("done")], toolsets=[Many()], tool_disclosure="skills")
    unknown, invalid, nothing = (step.observation for step in agent.run_sync("go").steps)
    assert "Nearest: pdf_forms, pdf_text" in unknown
    assert "304 skills" in unknown
    assert json.loads(invalid)["error"]["code"] == "invalid_skill_activation"
    assert json.loads(nothing)["found"] == []
    assert max(map(len, (unknown, invalid, nothing))) < 1000


def test_a_search_among_few_that_are_listed_is_a_wrong_call() -> None:
    class Few(Many):
        def get_skill_specs(self) -> list[ReActSkillSpec]:
            return FILLER[:LISTED]

    replies = [calls((SELECTOR, {"search": "volcano"})), says("done")]
    agent = agent_with(replies, toolsets=[Few()], tool_disclosure="skills")
    assert json.loads(agent.run_sync("go").steps[0].observation)["error"]["code"] == "invalid_skill_activation"
