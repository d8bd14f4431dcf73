"""Getting stuck (behaviour S1)."""

from __future__ import annotations

from collections.abc import Callable

from tests.fired import Fired

from react_run import Message, StopReason, Tool, ToolError
from react_run.engine.context import MovedOut
from react_run.policies.stuck import FAILING, Answers, Stuck
from react_run.testing import calls, run_agent, says

Make = Callable[..., Tool]


def test_the_second_iteration_of_repeats_is_nudged_and_the_third_ends_the_run(scripted_tool: Make) -> None:
    replies = [*[calls(("read", {"x": 1}))] * 4, says("It says so.")]
    result = run_agent(replies, tools=[scripted_tool("read", "text")])
    observations = [step.observation for step in result.steps]
    assert [step.executed for step in result.steps] == [True, False, False, False]
    assert ["Change your approach: use other arguments" in text for text in observations] == [False, False, True, False]
    assert (result.stop_reason, result.finish_reason, result.success) == (StopReason.STUCK, "length", False)
    assert (result.answer, result.iterations) == ("It says so.", 4)  # S2: asked once more, without tools


def test_who_listens_to_the_nudge_goes_on(scripted_tool: Make) -> None:
    replies = [*[calls(("read", {"x": 1}))] * 3, calls(("read", {"x": 2})), calls(("read", {"x": 1})), says("done")]
    result = run_agent(replies, tools=[scripted_tool("read", "text")])
    assert (result.answer, result.success) == ("done", True)


def test_going_to_and_fro_is_nudged_and_ends_within_four_periods(scripted_tool: Make) -> None:
    there, back = calls(("a", {})), calls(("b", {}))
    tools = [scripted_tool("a", "1", read_only=True), scripted_tool("b", "2", read_only=True)]
    result = run_agent([*[there, back] * 4, says("done")], tools=tools)
    assert result.stop_reason == StopReason.STUCK
    assert ["Change your approach: use other" in step.observation for step in result.steps].index(True) == 4
    assert result.iterations == 7


def test_asking_once_more_for_several_different_things_is_no_loop(scripted_tool: Make) -> None:
    pages = [calls(("read", {"x": n})) for n in range(4)]
    result = run_agent(
        [*pages, *pages, says("done")], tools=[scripted_tool("read", "a", "b", "c", "d", read_only=True)]
    )
    assert (result.answer, result.success) == ("done", True)


def test_iterations_in_which_nothing_works_are_nudged_and_end(scripted_tool: Make) -> None:  # F1
    replies = [calls(("fetch", {"x": n})) for n in range(6)]
    result = run_agent([*replies, says("It is down.")], tools=[scripted_tool("fetch", OSError("no"))])
    assert (result.stop_reason, result.iterations, result.answer) == (StopReason.STUCK, 6, "It is down.")
    nudged = ["Nothing you called in the last" in step.observation for step in result.steps]
    assert nudged == [False, False, False, True, True, False]


def test_a_result_that_changes_is_progress(scripted_tool: Make) -> None:
    poll = scripted_tool("poll", *[f"{n} %" for n in range(8)], repeatable=True)
    result = run_agent([*[calls(("poll", {}))] * 8, says("done")], tools=[poll])
    assert (result.answer, result.success) == ("done", True)


def test_a_result_that_stays_the_same_is_none(scripted_tool: Make) -> None:
    poll = scripted_tool("poll", "0 %", repeatable=True)
    result = run_agent([*[calls(("poll", {}))] * 8, says("done")], tools=[poll])
    assert (result.stop_reason, result.iterations) == (StopReason.STUCK, 8)


def test_one_new_call_makes_a_iteration_new(scripted_tool: Make) -> None:
    replies = [calls(("read", {"x": 0}), ("read", {"x": n})) for n in range(1, 7)]
    result = run_agent([*replies, says("done")], tools=[scripted_tool("read", "text")])
    assert (result.answer, result.success) == ("done", True)


def test_reading_after_each_write_is_no_loop(scripted_tool: Make) -> None:
    read = scripted_tool("read", *[f"version {n}" for n in range(9)])
    write = scripted_tool("write", "ok", read_only=False)
    replies = [call for n in range(4) for call in (calls(("write", {"x": n})), calls(("read", {"x": 1})))]
    result = run_agent([*replies, says("done")], tools=[read, write])
    assert (result.answer, result.success, len(result.steps)) == ("done", True, 8)


def test_how_patient_to_be_can_be_set(scripted_tool: Make) -> None:
    poll = scripted_tool("poll", "0 %", repeatable=True)
    replies = [*[calls(("poll", {}))] * 9, says("done")]
    patient = {"kind": "safe", "nudge_at": 8, "stop_at": 9}
    assert run_agent(replies, tools=[poll], failure_handling=patient).answer == "done"
    assert run_agent(replies, tools=[poll], plugins=[], failure_handling="legacy").answer == "done"


def test_a_run_that_has_ended_is_not_called_stuck_as_well(scripted_tool: Make, fired: Fired) -> None:
    read = scripted_tool("read", ToolError("no", code="gone"))
    replies = [calls(("read", {"x": n})) for n in range(2)]
    result = run_agent(replies, tools=[read], plugins=[Stuck(failing_nudge_at=2), fired])
    assert result.stop_reason == "tool_retry_exhausted"
    assert fired.guards.count("stuck") == 0
    assert FAILING.format(count=2) not in result.steps[-1].observation


def test_a_call_whose_result_was_moved_out_may_be_asked_for_again() -> None:
    answers, moved = Answers(), MovedOut()
    answers.known = {("read", "a"): ("text", 1, "1"), ("read", "b"): ("text", 1, "2")}
    result = Message(role="tool", content="text", tool_request_id="1")
    kept = Message(role="tool", content="text", tool_request_id="2")
    moved.compare([result, kept], [kept])
    answers.forget_moved(moved)
    assert [*answers.known] == [("read", "b")]
