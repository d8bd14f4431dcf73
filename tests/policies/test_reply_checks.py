"""Replies that are no answer (behaviours S3, S5, A5b)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from react_run import StopReason, Tool
from react_run.models.scripted import ScriptedModel
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]


@pytest.mark.parametrize("empty", [says(""), says(" \n"), says("", extra={"reasoning_content": "hm"})])
def test_an_empty_reply_is_asked_again(empty: object) -> None:
    agent = agent_with([empty, says("hello")])
    result = agent.run_sync("hi")
    assert (result.answer, result.success) == ("hello", True)
    assert (result.iterations, result.usage.requests) == (1, 2)
    assert [message.role for message in result.messages] == ["system", "user", "user", "assistant"]


def test_a_model_that_comes_to_may_go_on_with_calls(scripted_tool: Make) -> None:
    result = run_agent([says(""), calls(("read", {})), says("text")], tools=[scripted_tool("read", "text")])
    assert (result.answer, result.success, result.iterations) == ("text", True, 2)


def test_the_third_time_no_tools_are_offered(scripted_tool: Make) -> None:
    agent = agent_with([says(""), says(""), says("nothing found")], tools=[scripted_tool("read", "text")])
    result = agent.run_sync("hi")
    assert (result.answer, result.success, result.stop_reason) == ("nothing found", True, StopReason.COMPLETED)
    assert isinstance(agent.model, ScriptedModel)
    assert [len(request.tools) for request in agent.model.requests] == [1, 1, 0]


@pytest.mark.parametrize("last", [says(""), calls(("read", {}))])
def test_empty_for_ever_is_never_a_success(scripted_tool: Make, last: object) -> None:
    result = run_agent([says(""), says(""), last, says("late")], tools=[scripted_tool("read", "text")])
    assert (result.stop_reason, result.success, result.usage.requests) == (StopReason.EMPTY_REPLY, False, 3)
    assert result.answer.strip()
    assert not result.steps


def test_an_output_limit_used_up_by_reasoning_is_named() -> None:
    thinking = says("", finish_reason="length", extra={"reasoning_content": "hm"})
    result = run_agent([thinking])
    assert (result.stop_reason, result.finish_reason, result.success) == (StopReason.OUTPUT_LIMIT, "length", False)
    assert "output limit" in result.answer


@pytest.mark.parametrize("mode", ["safe", "legacy"])
@pytest.mark.parametrize("finish", ["refusal", "content_filter"])
def test_a_refusal_is_an_outcome_of_its_own_and_runs_nothing(scripted_tool: Make, finish: str, mode: str) -> None:
    reply = calls(("read", {}), text="I cannot help with that.", finish_reason=finish)
    result = run_agent([reply, says("done")], tools=[scripted_tool("read", "text")], failure_handling=mode)
    assert (result.stop_reason, result.success) == (StopReason.REFUSED, False)
    assert (result.answer, list(result.steps)) == ("I cannot help with that.", [])
    assert [message.role for message in result.messages] == ["system", "user", "assistant"]


def test_a_refusal_without_words_still_says_so() -> None:
    assert run_agent([says("", finish_reason="content_filter")]).answer == "The model refused to answer."


def test_a_cut_answer_is_continued_once_and_joined(scripted_tool: Make) -> None:
    agent = agent_with(
        [says("The answer ", finish_reason="length"), says("is 42.")], tools=[scripted_tool("read", "text")]
    )
    result = agent.run_sync("go")
    assert (result.answer, result.finish_reason, result.success) == ("The answer is 42.", "stop", True)
    assert (result.iterations, result.usage.requests) == (1, 2)
    assert [message.text for message in result.messages][1:] == ["go", "The answer is 42."]
    assert isinstance(agent.model, ScriptedModel)
    assert [request.tool_choice for request in agent.model.requests] == [None, "none"]
    assert agent.run_sync("thanks", messages=result.messages).success


def test_an_answer_cut_again_is_kept_and_marked() -> None:
    result = run_agent([says("one ", finish_reason="length"), says("two ", finish_reason="length"), says("three")])
    assert (result.answer, result.finish_reason, result.stop_reason) == ("one two ", "length", StopReason.COMPLETED)


def test_legacy_keeps_the_first_cut() -> None:
    result = run_agent([says("one ", finish_reason="length"), says("two")], failure_handling="legacy")
    assert (result.answer, result.finish_reason) == ("one ", "length")


@pytest.mark.parametrize("mode", ["safe", "legacy"])
def test_three_cut_replies_in_a_row_end_the_run(scripted_tool: Make, mode: str) -> None:  # A5b
    cut = calls(("write", '{"text": "lo'), finish_reason="length")
    result = run_agent([cut] * 4, tools=[scripted_tool("write", "ok")], failure_handling=mode)
    assert (result.stop_reason, result.iterations, result.success) == (StopReason.OUTPUT_LIMIT, 3, False)
    assert "3 times in a row" in result.answer
    whole = calls(("write", {"x": 1}))
    replies = [cut, cut, whole, cut, cut, says("done")]
    result = run_agent(replies, tools=[scripted_tool("write", "ok")], failure_handling=mode)
    assert (result.answer, result.success) == ("done", True)
