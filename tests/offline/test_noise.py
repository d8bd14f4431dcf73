"""The offline model never guesses: a word that it cannot account for is not passed over."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.offline.asking import cases, toolsets
from tests.offline.invented import TOOLSETS

from react_offline import OfflineModel
from react_offline.plan import Comparison, Step
from react_offline.slots import Card, card_of
from react_offline.understanding import understand
from react_run import Message, ModelRequest

TABLE = cases("questions.jsonl")
CALENDAR_AND_NUMBERS = [case for case in TABLE if set(case["toolsets"]) <= {"math", "temporal"}]
WORDS = sorted({word for case in TABLE for word in case["question"].split()})
EVERYTHING = tuple(tool for toolset in toolsets(["math", "temporal", *TOOLSETS]) for tool in toolset.tools())


@cache
def cards(*names: str) -> tuple[Card, ...]:
    return tuple(card_of(tool) for toolset in toolsets(names) for tool in toolset.tools())


def is_answered(question: str, offered: tuple[Card, ...]) -> bool:
    return all(isinstance(part, Step | Comparison) for part in understand(question, offered, False))


@pytest.mark.parametrize("noise", ["zorgly", "purple", "not", "without", "approximately", "leave"])
@pytest.mark.parametrize("case", CALENDAR_AND_NUMBERS, ids=lambda case: str(case["question"]))
def test_a_strange_word_anywhere_in_a_question_makes_it_unanswerable(case: dict[str, Any], noise: str) -> None:
    offered = cards(*case["toolsets"])
    words = case["question"].split(" ")
    noisy = [" ".join([*words[:place], noise, *words[place:]]) for place in range(len(words) + 1)]
    answered = [question for question in noisy if is_answered(question, offered)]
    # "convert 5 zorgly miles" is asked of the tool, which knows its units; it reports what it does not know.
    assert [question for question in answered if "convert" not in question.casefold()] == []


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=60))
def test_any_text_gets_a_reply(question: str) -> None:
    request = ModelRequest(messages=[Message(role="user", content=question)], tools=EVERYTHING)
    response = asyncio.run(OfflineModel().complete(request))
    assert response.text or response.message.tool_requests


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_result_gets_a_reply(result: str) -> None:
    model = OfflineModel()
    question = Message(role="user", content="What is the weather in Paris and what is 2+2?")
    first = asyncio.run(model.complete(ModelRequest(messages=[question], tools=EVERYTHING)))
    results = [
        Message(role="tool", content=result, tool_request_id=request.id) for request in first.message.tool_requests
    ]
    response = asyncio.run(model.complete(ModelRequest(messages=[question, first.message, *results], tools=EVERYTHING)))
    assert response.text or response.message.tool_requests
