"""One correction, then the end (behaviours F1 to F3, F7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from react_run import ClarificationNeeded, NoResult, StopReason, Tool, ToolError, ToolFailed
from react_run.testing import calls, run_agent, says

Make = Callable[..., Tool]


def bad(code: str = "bad") -> ToolError:
    return ToolError(f"it is {code}", code=code)


def test_the_second_failure_of_a_kind_ends_the_run(scripted_tool: Make) -> None:  # F1
    replies = [calls(("measure", {"x": 1})), calls(("measure", {"x": 2})), says("I guess 7")]
    result = run_agent(replies, tools=[scripted_tool("measure", bad(), bad(), "!7")])
    assert (result.stop_reason, result.success, result.iterations) == (StopReason.TOOL_RETRY_EXHAUSTED, False, 2)
    assert "Unresolved:\n- measure: it is bad" in result.answer


def test_a_failure_with_another_code_is_another_kind(scripted_tool: Make) -> None:  # F1
    replies = [calls(("measure", {"x": n})) for n in range(3)]
    result = run_agent(
        [*replies, says("7")], tools=[scripted_tool("measure", bad("low"), bad("high"), "!7", read_only=True)]
    )
    assert (result.answer, result.success, list(result.unresolved)) == ("7", True, [])


def test_a_success_of_the_tool_clears_its_latest_failure(scripted_tool: Make) -> None:  # F1
    replies = [calls(("measure", {"x": n})) for n in range(4)]
    result = run_agent(
        [*replies, says("7")], tools=[scripted_tool("measure", bad(), "!1", bad(), "!7", read_only=True)]
    )
    assert (result.answer, result.success) == ("7", True)


def test_a_success_of_the_tool_starts_the_count_of_its_failures_anew(scripted_tool: Make) -> None:  # F1
    results = [bad("low"), bad("high"), "!1", bad("low"), "!2", bad("high"), "!7"]
    replies = [calls(("measure", {"x": n})) for n in range(len(results))]
    result = run_agent([*replies, says("7")], tools=[scripted_tool("measure", *results, read_only=True)])
    assert (result.answer, result.success) == ("7", True)


def test_failures_of_one_iteration_count_once(scripted_tool: Make) -> None:  # F1
    replies = [calls(*[("measure", {"x": n}) for n in range(3)]), calls(("measure", {"x": 9})), says("7")]
    result = run_agent(replies, tools=[scripted_tool("measure", bad(), bad(), bad(), "!7", read_only=True)])
    assert (result.answer, result.success) == ("7", True)


def test_how_many_corrections_there_are_can_be_set(scripted_tool: Make) -> None:  # F1
    replies = [calls(("measure", {"x": n})) for n in range(4)]
    options: dict[str, Any] = {"failure_handling": {"kind": "safe", "corrections": 3}}
    result = run_agent(
        [*replies, says("7")], tools=[scripted_tool("measure", bad(), bad(), bad(), "!7", read_only=True)], **options
    )
    assert (result.answer, result.success) == ("7", True)
    options = {"failure_handling": {"kind": "safe", "corrections": 0}}
    result = run_agent(replies, tools=[scripted_tool("measure", bad(), "!7")], **options)
    assert (result.stop_reason, result.iterations) == (StopReason.TOOL_RETRY_EXHAUSTED, 1)


def test_other_arguments_are_a_new_attempt_where_nobody_interprets_results(scripted_tool: Make) -> None:  # F1
    replies = [calls(("fetch", {"x": n})) for n in range(4)]
    flaky = scripted_tool("fetch", OSError("a"), OSError("b"), OSError("c"), "page")
    result = run_agent([*replies, says("found")], tools=[flaky])
    assert (result.answer, result.success) == ("found", True)


@pytest.mark.parametrize("second", [OSError("again"), ValueError("otherwise")])
def test_the_same_arguments_failing_again_end_the_run(scripted_tool: Make, second: Exception) -> None:  # F1, F4
    replies = [calls(("fetch", {"x": 1})), calls(("fetch", {"x": 1.0})), says("found")]
    result = run_agent(replies, tools=[scripted_tool("fetch", OSError("a"), second, "page")])
    assert result.stop_reason == StopReason.TOOL_RETRY_EXHAUSTED


@pytest.mark.parametrize(
    ("request_", "code"),
    [(("nowhere", {"x": 1}), "unknown_tool"), (("measure", "{broken"), "invalid_arguments")],
)
def test_what_the_runtime_refuses_counts_too(scripted_tool: Make, request_: tuple[str, str], code: str) -> None:
    result = run_agent([calls(request_), calls(request_), says("7")], tools=[scripted_tool("measure", "!7")])
    assert (result.stop_reason, result.steps[-1].error_code) == (StopReason.TOOL_RETRY_EXHAUSTED, code)


def test_other_arguments_are_no_correction_of_a_tool_that_does_not_exist(scripted_tool: Make) -> None:  # F1
    replies = [calls(("nowhere", {"x": 1})), calls(("nowhere", {"x": 2})), says("7")]
    result = run_agent(replies, tools=[scripted_tool("measure", "!7")])
    assert result.stop_reason == StopReason.TOOL_RETRY_EXHAUSTED


def test_broken_arguments_may_be_mended_more_than_once(scripted_tool: Make) -> None:  # A5, F1
    replies = [calls(("fetch", '{"x": ')), calls(("fetch", '{"x": 1')), calls(("fetch", {"x": 1})), says("found")]
    result = run_agent(replies, tools=[scripted_tool("fetch", "page")])
    assert (result.answer, result.success) == ("found", True)


def test_a_question_for_the_user_ends_the_run_at_once_and_the_others_finish(scripted_tool: Make) -> None:  # F2
    ask = ClarificationNeeded("US or Imperial gallons?")
    tools = [scripted_tool("convert", ask), scripted_tool("measure", "!7 litres")]
    result = run_agent([calls(("convert", {"x": 1}), ("measure", {"x": 1})), says("I guess US")], tools=tools)
    assert (result.stop_reason, result.iterations) == (StopReason.CLARIFICATION_REQUIRED, 1)
    assert result.answer == "Verified results:\n- 7 litres\n\nClarification needed:\n- US or Imperial gallons?"
    assert [step.executed for step in result.steps] == [True, True]


def test_a_terminal_failure_ends_the_run_at_once(scripted_tool: Make) -> None:  # F2
    result = run_agent([calls(("measure", {})), says("7")], tools=[scripted_tool("measure", ToolFailed("it is gone"))])
    assert (result.stop_reason, result.iterations) == (StopReason.TOOL_FAILURE, 1)
    assert result.answer == "Unresolved:\n- measure: it is gone"


def test_the_first_reason_in_request_order_stands(scripted_tool: Make) -> None:  # F2, order of judgement
    tools = [scripted_tool("a", ToolFailed("gone")), scripted_tool("b", ClarificationNeeded("which?"))]
    for reply, reason in [
        (calls(("a", {}), ("b", {})), StopReason.TOOL_FAILURE),
        (calls(("b", {}), ("a", {})), StopReason.CLARIFICATION_REQUIRED),
    ]:
        assert run_agent([reply, says("7")], tools=tools).stop_reason == reason


def test_a_search_that_found_nothing_may_be_tried_once_more_differently(scripted_tool: Make) -> None:  # F3
    words = ["red kites", "kites milvus", "raptors"]
    replies = [calls(("search", {"x": word})) for word in words]
    result = run_agent([*replies, says("They soar.")], tools=[scripted_tool("search", NoResult("nothing"))])
    assert (result.stop_reason, result.iterations) == (StopReason.TOOL_RETRY_EXHAUSTED, 2)
    result = run_agent(
        [*replies[:2], says("They soar.")],
        tools=[scripted_tool("search", NoResult("nothing"), "!2 kg", read_only=True)],
    )
    assert (result.answer, result.success) == ("They soar.", True)


@pytest.mark.parametrize("again", ["Kites, red!", "RED   kites", "red kites."])
def test_the_same_words_otherwise_arranged_are_not_searched_again(scripted_tool: Make, again: str) -> None:  # F3
    replies = [calls(("search", {"x": "red kites"})), calls(("search", {"x": again})), says("nothing")]
    result = run_agent(replies, tools=[scripted_tool("search", NoResult("nothing"), "!2 kg")])
    assert [step.executed for step in result.steps] == [True, False]
    assert "materially different" in result.steps[1].observation


def test_a_cut_reply_is_no_failure_of_the_tool(scripted_tool: Make) -> None:  # A5b
    cut = calls(("measure", {"x": 1}), finish_reason="length")
    result = run_agent([cut, cut, calls(("measure", {"x": 1})), says("7")], tools=[scripted_tool("measure", "!7")])
    assert (result.answer, result.success) == ("7", True)


def test_legacy_counts_nothing(scripted_tool: Make) -> None:  # F7
    replies = [*[calls(("measure", {"x": 1}))] * 4, says("7")]
    result = run_agent(replies, tools=[scripted_tool("measure", bad())], failure_handling="legacy")
    assert (result.answer, result.stop_reason, len(result.steps)) == ("7", StopReason.COMPLETED, 4)
    assert all(step.executed for step in result.steps)
