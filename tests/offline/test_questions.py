"""The table of questions, asked of a real agent with real tools.

``heldout.jsonl`` was set aside while the rules were written; ``found_later.jsonl`` came out of trials with them,
``found_outside.jsonl`` out of what new users asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.offline.asking import Verdict, ask, cases
from tests.offline.wiki import wiki

FILES = {"questions.jsonl": 80, "heldout.jsonl": 36, "found_later.jsonl": 65, "found_outside.jsonl": 48}
"""How many of each file must be right. None may be wrong."""


@pytest.fixture(scope="module")
def verdicts() -> Iterator[dict[str, list[Verdict]]]:
    with wiki() as endpoint:
        yield {name: [ask(case, endpoint) for case in cases(name)] for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_no_answer_is_wrong(name: str, verdicts: dict[str, list[Verdict]]) -> None:
    assert [(verdict.question, verdict.said) for verdict in verdicts[name] if verdict.grade == "wrong"] == []


@pytest.mark.parametrize(("name", "enough"), FILES.items())
def test_most_questions_are_answered(name: str, enough: int, verdicts: dict[str, list[Verdict]]) -> None:
    assert Counter(verdict.grade for verdict in verdicts[name])["right"] >= enough


def test_the_table_is_large_and_a_third_of_it_was_held_out() -> None:
    counts = {name: len(cases(name)) for name in ("questions.jsonl", "heldout.jsonl")}
    assert sum(counts.values()) >= 60
    assert counts["heldout.jsonl"] * 3 >= sum(counts.values()) - 2


@pytest.mark.parametrize("case", cases("disclosed.jsonl"), ids=lambda case: str(case["question"]))
def test_skills_are_activated_before_their_tools_are_used(case: dict[str, Any]) -> None:
    with wiki() as endpoint:
        verdict = ask(case, endpoint, tool_disclosure="skills")
    assert verdict.grade == "right", verdict.said
    activated = [step.action_input for step in verdict.result.steps if not step.executed]
    assert activated == [{"skill": skill} for skill in case["skills"]]
