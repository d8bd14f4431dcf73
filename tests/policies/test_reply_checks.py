"""Replies that are not answers (behaviours S3, S5, A5b)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from react_run import Message, ModelError, ModelResponse, StopReason, Tool, Verdict, hookimpl
from react_run.messages import NO_USAGE
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


def test_a_refusal_after_an_empty_reply_is_not_asked_again() -> None:
    result = run_agent([says(""), says("", finish_reason="content_filter"), says("late")])
    assert (result.stop_reason, result.usage.requests) == (StopReason.REFUSED, 2)


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
    assert (result.answer, result.finish_reason, result.stop_reason) == ("one two ", "length", StopReason.OUTPUT_LIMIT)
    assert not result.success


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


def test_a_cut_answer_that_is_refused_is_no_cut_call(scripted_tool: Make) -> None:
    class Refuses:
        @hookimpl
        def react_check_answer(self, answer: str) -> Verdict:
            return Verdict(accepted=answer == "done", feedback="Say that it is done.")

    cut = calls(("write", '{"text": "lo'), finish_reason="length")
    replies = [*[says("on and on", finish_reason="length")] * 2, cut, cut, says("done")]
    result = run_agent(replies, tools=[scripted_tool("write", "ok")], plugins=[Refuses()])
    assert (result.answer, result.iterations) == ("done", 4)


WRITTEN = [
    '<tool_call>{"name": "look", "arguments": {"x": 5}}</tool_call>',
    '<tool_call>\n{"name": "look", "arguments": {"x": 5}}\n</tool_call>\n<tool_call>{"name": "look"}</tool_call>',
    "<function=look><parameter=x>5</parameter></function>",
    '{"name": "look", "arguments": {"x": 5}}',
    '[{"name": "look", "arguments": {"x": 5}}]',
    '```json\n{"tool": "look", "args": {"x": 5}}\n```',
    '[TOOL_CALLS] [{"name": "look", "arguments": {}}]',
    '<think>I should call look</think><tool_call>{"name": "look", "arguments": {"x": 5}}</tool_call>',
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_call_written_as_text_is_asked_again_and_never_run(scripted_tool: Make, text: str) -> None:  # S3
    result = run_agent([says(text), says("It is 5.")], tools=[scripted_tool("look", "5")])
    assert (result.answer, result.success, len(result.steps)) == ("It is 5.", True, 0)
    assert (result.iterations, result.usage.requests) == (1, 2)
    asked = result.messages[-2]
    assert (asked.role, asked.text.startswith("That was not a call")) == ("user", True)


@pytest.mark.parametrize("text", WRITTEN[:3])
def test_calls_written_as_text_for_ever_are_no_answer(scripted_tool: Make, text: str) -> None:  # S3
    result = run_agent([says(text)] * 4, tools=[scripted_tool("look", "5")])
    assert (result.stop_reason, result.success, result.usage.requests) == (StopReason.EMPTY_REPLY, False, 3)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "other"}</tool_call>',
        'Use {"name": "look", "arguments": {}}',
        '{"name": "Looker", "arguments": {}}',
        "{1, 2}",
        '[{"name": "look"}] is what I would send.',
        '{"name": "look", "arguments": {}} is the form.',
    ],
)
def test_text_about_calls_is_an_answer(scripted_tool: Make, text: str) -> None:  # S3
    result = run_agent([says(text)], tools=[scripted_tool("look", "5")])
    assert (result.answer, result.success) == (text, True)


def test_json_that_was_asked_for_is_no_call(scripted_tool: Make) -> None:  # S3
    text = '{"name": "look", "arguments": {"x": 5}}'
    schema = {"type": "object", "required": ["name", "arguments"]}
    result = run_agent([says(text)], tools=[scripted_tool("look", "5")], output_schema=schema)
    assert (result.success, result.value) == (True, {"name": "look", "arguments": {"x": 5}})


@pytest.mark.parametrize(
    "text",
    ["<think>so it is 5</think>It is 5.", "so it is 5\n</think>\n\nIt is 5.", "<thinking>hm</thinking> It is 5."],
)
def test_thinking_at_the_beginning_is_no_part_of_the_answer(text: str) -> None:  # S5
    result = run_agent([says(text)])
    assert (result.answer, result.success) == ("It is 5.", True)
    assert result.messages[-1].text == text  # word for word


@pytest.mark.parametrize("text", ["<think>I should call A</think>", "<think>I should call", "so it is 5</think>  "])
def test_thinking_alone_is_no_answer(text: str) -> None:  # S3
    result = run_agent([says(text), says("It is 5.")])
    assert (result.answer, result.usage.requests) == ("It is 5.", 2)


def test_thinking_is_the_thought_of_a_step(scripted_tool: Make) -> None:  # L9, S5
    replies = [calls(("look", {}), text="<think>need a look</think>Looking."), says("done")]
    assert run_agent(replies, tools=[scripted_tool("look", "5")]).steps[0].thought == "need a look\n\nLooking."
    reasoned = {**calls(("look", {})), "extra": {"reasoning_content": "because"}}
    assert run_agent([reasoned, says("done")], tools=[scripted_tool("look", "5")]).steps[0].thought == "because"


def test_a_continuation_that_is_a_call_leaves_the_first_part_cut(scripted_tool: Make) -> None:  # S5
    half = says("the first half of a sent", finish_reason="length")
    result = run_agent([half, calls(("A", {}))], tools=[scripted_tool("A", "x")])
    assert (result.answer, result.stop_reason) == ("the first half of a sent", StopReason.OUTPUT_LIMIT)
    assert (result.finish_reason, result.success, len(result.steps)) == ("length", False, 0)


def test_a_continuation_that_meets_a_limit_keeps_the_first_part() -> None:  # S5
    half = says("the first half", finish_reason="length", usage={"input_tokens": 5, "output_tokens": 5})
    result = run_agent([half, says("the rest")], max_total_tokens=10)
    assert (result.stop_reason, result.unverified_answer) == (StopReason.TOKEN_LIMIT, "the first half")


def test_a_continuation_that_fails_keeps_the_first_part() -> None:  # S5, S6
    half = says("the first half", finish_reason="length")
    with pytest.raises(ModelError) as failed:
        run_agent([half, {"error": {"status": 400, "message": "bad"}}])
    assert failed.value.result is not None
    assert failed.value.result.unverified_answer == "the first half"


def test_the_draft_of_a_call_written_as_text_is_withdrawn(scripted_tool: Make) -> None:  # S3, L10
    events: list[str] = []

    class Listener:
        @hookimpl
        def react_text_delta(self, text: str) -> None:
            events.append(text)

        @hookimpl
        def react_text_discarded(self) -> None:
            events.append("withdrawn")

    text = '<tool_call>{"name": "read", "arguments": {}}</tool_call>'
    result = run_agent([says(text), says("hello")], tools=[scripted_tool("read", "text")], plugins=[Listener()])
    assert result.answer == "hello"
    assert "".join(events) == f"{text}withdrawnhello"


def test_the_rest_of_an_answer_that_was_not_streamed_is_withdrawn() -> None:  # S5, L10
    """A listener that only heard the rest would take it for the answer."""
    events: list[str] = []
    kept = [ModelResponse(message=Message(role="assistant", content="one "), usage=NO_USAGE, finish_reason="length")]

    class Kept:
        """Answers the first request itself."""

        @hookimpl(trylast=True)
        def react_model_call(self) -> ModelResponse | None:
            return kept.pop() if kept else None

        @hookimpl
        def react_text_delta(self, text: str) -> None:
            events.append(text)

        @hookimpl
        def react_text_discarded(self) -> None:
            events.append(" withdrawn")

    assert run_agent([says("two")], plugins=[Kept()]).answer == "one two"
    assert "".join(events) == "two withdrawn"
