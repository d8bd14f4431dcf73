"""The required tests of the harness discipline, one for one (end of the behaviour contract), with a budget of four."""

from __future__ import annotations

from typing import Any, Literal

from react_run import ReActAgent, RunResult, StopReason, tool
from react_run.models.scripted import ScriptedModel
from react_run.testing import agent_with, calls, says


@tool
def add(a: int, b: int = 5) -> int:
    """Add two numbers."""
    return a + b


@tool
def ask(who: Literal["ann", "bob"]) -> str:
    """Ask somebody."""
    return f"{who} is fine"


@tool
def broken() -> str:
    """Fail."""
    raise ValueError("no luck")


def start(*replies: object) -> tuple[ReActAgent, ScriptedModel]:
    agent = agent_with(replies, tools=[add, ask, broken], max_iterations=4)
    assert isinstance(agent.model, ScriptedModel)
    return agent, agent.model


def told(model: ScriptedModel, request: int = -1) -> list[str]:
    """The results that the model was told with a request."""
    return [message.text for message in model.requests[request].messages if message.role == "tool"]


def run(*replies: object) -> tuple[RunResult, ScriptedModel]:
    agent, model = start(*replies)
    return agent.run_sync("go"), model


def test_a_plain_answer_returns_immediately_with_one_model_call() -> None:
    result, model = run(says("hello"))
    assert (result.answer, result.success, len(model.requests)) == ("hello", True, 1)


def test_a_tool_result_is_fed_back() -> None:
    result, model = run(calls(("add", {"a": 1, "b": 2})), says("3"))
    assert (result.answer, told(model)) == ("3", ["3"])


def test_every_parallel_call_gets_a_result() -> None:
    _, model = run(calls(("add", {"a": 1}), ("broken", {}), ("ask", {"who": "ann"})), says("done"))
    assert told(model) == ["6", "Error: ValueError: no luck", "ann is fine"]


def test_a_tool_error_is_reported_not_raised() -> None:
    result, model = run(calls(("broken", {})), says("It failed."))
    assert result.answer == "It failed."
    assert told(model) == ["Error: ValueError: no luck"]


def test_an_unknown_tool_is_reported_naming_the_available_ones() -> None:
    result, model = run(calls(("ad", {"a": 1})), calls(("add", {"a": 1})), says("6"))
    assert told(model)[0].startswith("Error: unknown tool 'ad'. Available tools: add, ask, broken.")
    assert "'add'" in told(model)[0].rpartition("Did you mean")[2]
    assert (result.answer, result.success) == ("6", True)


def test_arguments_are_coerced() -> None:
    sent: dict[str, Any] = {"a": "3", "b": {"type": "integer"}, "verbose": True}
    result, model = run(calls(("add", sent)), says("8"))
    assert told(model)[0].startswith("8")
    assert result.steps[0].action_input == {"a": 3}  # the default of b is the tool's own
    assert len(result.steps[0].repaired) == 3


def test_a_repeated_call_is_served_from_the_earlier_result_with_the_nudge() -> None:
    result, model = run(calls(("add", {"a": 1})), calls(("add", {"a": 1.0})), says("6"))
    assert [step.executed for step in result.steps] == [True, False]
    assert told(model)[1].startswith("You already ran this exact call")
    assert "Change your approach" in told(model)[1]
    assert told(model)[1].endswith("6")
    assert (result.answer, result.success) == ("6", True)


def test_the_budget_forces_a_toolless_answer() -> None:
    result, model = run(*[calls(("add", {"a": n})) for n in range(4)], says("Up to 8 so far."))
    assert (result.answer, result.stop_reason, result.iterations) == (
        "Up to 8 so far.",
        StopReason.MAX_ITERATIONS,
        4,
    )
    assert [len(request.tools) for request in model.requests] == [3, 3, 3, 3, 0]


def test_an_empty_reply_is_not_a_success() -> None:
    result, model = run(says(""))
    assert (result.success, result.stop_reason, len(model.requests)) == (False, StopReason.EMPTY_REPLY, 3)


def test_the_conversation_persists_across_turns_in_order_and_a_new_one_starts_clean() -> None:
    def recall(request: Any) -> object:
        return says(" | ".join(message.text for message in request.messages if message.role != "system"))

    agent, model = start(calls(("add", {"a": 1})), recall)
    first = agent.run_sync("one")
    second = agent.run_sync("two", messages=first.messages)
    assert second.messages[: len(first.messages)] == first.messages
    said = [(message.role, message.text) for message in second.messages[len(first.messages) :]]
    assert said[0] == ("user", "two")
    assert first.answer == "one |  | 6"
    assert second.answer.startswith("one |  | 6 | one |  | 6 | two")
    assert agent.run_sync("three").answer == "three |  | 6"
    assert len(model.requests) == 6
