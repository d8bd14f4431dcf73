"""No repeats (behaviour F4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from react_run import Tool, tool
from react_run.engine.execution import is_lost
from react_run.policies.duplicate_calls import loose
from react_run.testing import calls, run_agent, says
from react_run.tools.arguments.key import identity

Make = Callable[..., Tool]


def executed(tools: list[Tool], *iterations: dict[str, object], **options: Any) -> list[bool]:
    result = run_agent([*iterations, says("done")], tools=tools, **options)
    assert result.answer == "done", result
    return [step.executed for step in result.steps]


def test_an_identical_call_gets_the_earlier_result(scripted_tool: Make) -> None:
    replies = [calls(("read", {"x": [1, {"a": 2}]})), calls(("read", {"x": [1.0, {"a": 2}]})), says("done")]
    result = run_agent(replies, tools=[scripted_tool("read", "first", "second")])
    assert [step.executed for step in result.steps] == [True, False]
    assert result.steps[1].observation.startswith("You already ran this exact call in iteration 1")
    assert result.steps[1].observation.endswith("first")
    assert (result.success, result.steps[1].outcome) == (True, None)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, True),
        ({"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2.0}]}, True),
        ({"a": True}, {"a": 1}, False),
        ({"a": 0}, {"a": False}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": None}, {}, False),
        ({"a": 10**20}, {"a": 1e20}, True),
    ],
)
def test_calls_are_the_same_when_their_arguments_are(
    one: dict[str, object], other: dict[str, object], same: bool
) -> None:
    assert (identity(one) == identity(other)) is same


def test_words_are_compared_without_case_punctuation_and_order() -> None:  # F3
    assert loose({"q": "Paris, weather!", "n": 1}) == loose({"n": 1, "q": "WEATHER paris"})
    assert loose({"q": "Paris"}) != loose({"q": "Berlin"})
    assert loose({"q": "?"}) != loose({"q": "!"})
    assert loose({"n": -5}) != loose({"n": 5})


def test_a_repeatable_tool_runs_each_time(scripted_tool: Make) -> None:
    iterations = [calls(("clock", {})), calls(("clock", {})), calls(("clock", {}), ("clock", {}))]
    assert all(executed([scripted_tool("clock", *range(9), repeatable=True)], *iterations))


def test_identical_calls_of_one_reply_run_once_and_share_the_result(scripted_tool: Make) -> None:
    result = run_agent(
        [calls(("pay", {"x": 1}), ("pay", {"x": 2}), ("pay", {"x": 1})), says("done")],
        tools=[scripted_tool("pay", "!a", "!b", "!c", read_only=False, serial=True)],
    )
    first, second, again = result.steps
    assert [(step.executed, step.observation) for step in (first, second)] == [(True, "a"), (True, "b")]
    assert again.observation.startswith("a\n\n[You asked for this exact call more than once in one reply. It ran once")


def test_a_failed_call_may_run_once_more(scripted_tool: Make) -> None:
    same = calls(("read", {"x": 1}))
    assert executed([scripted_tool("read", OSError("later"), "text")], same, same) == [True, True]


def test_reading_again_after_a_change_is_no_repeat(scripted_tool: Make) -> None:
    tools = [scripted_tool("read", "old", "new"), scripted_tool("write", "ok", read_only=False)]
    read, write = calls(("read", {"x": 1})), calls(("write", {"x": 1}))
    assert executed(tools, read, read, write, read, read) == [True, False, True, True, False]


def test_a_change_that_did_not_run_makes_nothing_stale(scripted_tool: Make) -> None:
    tools = [scripted_tool("read", "old", "new"), scripted_tool("write", "ok", read_only=False)]
    read, broken = calls(("read", {"x": 1})), calls(("write", "{"))
    assert executed(tools, read, broken, read) == [True, False, False]


@pytest.mark.parametrize(
    ("read", "other", "again"),
    [
        ({}, {}, True),
        ({"read_only": True}, {}, True),
        ({}, {"read_only": True}, False),
        ({"read_only": False}, {}, False),
        ({"read_only": False, "idempotent": True}, {}, True),
    ],
)
def test_a_tool_of_which_nothing_is_known_makes_others_stale(
    scripted_tool: Make, read: dict[str, Any], other: dict[str, Any], again: bool
) -> None:
    tools = [scripted_tool("read", "old", "new", **read), scripted_tool("other", "ok", **other)]
    first = calls(("read", {"x": 1}))
    assert executed(tools, first, calls(("other", {"x": 1})), first) == [True, True, again]


@pytest.mark.parametrize(
    ("flags", "again"),
    [({}, True), ({"read_only": False}, False), ({"read_only": True}, False), ({"idempotent": True}, True)],
)
def test_what_an_unmarked_tool_undid_it_can_do_again(scripted_tool: Make, flags: dict[str, Any], again: bool) -> None:
    one, other = calls(("w", {"x": 1})), calls(("w", {"x": 2}))
    assert executed([scripted_tool("w", "a", "b", **flags)], one, other, one, one) == [True, True, again, False]


@pytest.mark.parametrize("spelt", [{"x": 1}, {"x": 1.0, "y": 2}, {"y": 2, "x": 1}])
def test_an_explicitly_given_default_makes_no_other_call(spelt: dict[str, object]) -> None:
    @tool(read_only=True)
    def f(x: float, y: int = 2) -> str:
        """Compute."""
        return f"{x} {y}"

    assert executed([Tool.from_function(f)], calls(("f", {"x": 1})), calls(("f", spelt))) == [True, False]


@pytest.mark.parametrize(
    ("error", "flags", "runs"),
    [
        (ConnectionResetError("gone"), {}, 1),
        (ConnectionError("down"), {"read_only": False}, 1),
        (TimeoutError("late"), {"read_only": False}, 1),
        (ConnectionError("down"), {"read_only": False, "idempotent": True}, 2),
        (ConnectionError("down"), {"read_only": True}, 2),
        (ConnectionRefusedError("nobody there"), {"read_only": False}, 2),
        (ValueError("no such account"), {"read_only": False}, 2),
    ],
)
def test_what_may_have_taken_effect_is_not_repeated(
    scripted_tool: Make, error: Exception, flags: dict[str, Any], runs: int
) -> None:
    pay = calls(("pay", {"x": 1}))
    result = run_agent([pay, pay, says("done")], tools=[scripted_tool("pay", error, "paid", **flags)])
    assert sum(step.executed for step in result.steps) == runs
    assert ("find that out" in result.steps[0].observation) is (flags.get("read_only") is not True and is_lost(error))
    assert result.success is (runs == 2)


def test_what_was_read_beside_a_change_may_be_read_again(scripted_tool: Make) -> None:  # it may have been first
    tools = [scripted_tool("read", "old", "new"), scripted_tool("write", "ok", read_only=False)]
    both = calls(("read", {"x": 1}), ("write", {"x": 1}))
    assert executed(tools, both, calls(("read", {"x": 1}))) == [True, True, True]


def test_a_change_is_not_made_twice_unless_that_does_no_harm(scripted_tool: Make) -> None:
    pay = scripted_tool("pay", "ok", read_only=False)
    put = scripted_tool("put", "ok", read_only=False, idempotent=True)
    iterations = [calls(("pay", {"x": 1})), calls(("put", {"x": 1})), calls(("pay", {"x": 1}))]
    assert executed([pay, put], *iterations) == [True, True, False]
    iterations = [calls(("put", {"x": 1})), calls(("put", {"x": 2})), calls(("put", {"x": 1}))]
    assert executed([put], *iterations) == [True, True, True]


def test_a_plugin_that_changes_arguments_comes_first(scripted_tool: Make) -> None:
    from react_run import ToolCall, hookimpl

    class Default:
        @hookimpl
        def react_tool_call(self, call: ToolCall) -> None:
            call.arguments.setdefault("x", 1)

    iterations = [calls(("read", {})), calls(("read", {"x": 1}))]
    assert executed([scripted_tool("read", "a", "b")], *iterations, plugins=[Default()]) == [True, False]


def test_each_run_starts_with_an_empty_memory() -> None:
    count = []

    @tool
    def read() -> str:
        """Read."""
        count.append(1)
        return "text"

    from react_run.testing import agent_with

    agent = agent_with([calls(("read", {})), says("done")], tools=[read])
    first = agent.run_sync("go")
    agent.run_sync("go on", messages=first.messages)
    assert len(count) == 2
