"""Conversations that come from outside are made valid before a model sees them."""

from __future__ import annotations

import pytest

from react_run.engine.history import NO_RESULT, opening, repaired
from react_run.errors import ConfigError
from react_run.messages import Message, ToolRequest
from react_run.models.protocol import ProtocolChecker


def user(text: str) -> Message:
    return Message(role="user", content=text)


def asks(*ids: str) -> Message:
    return Message(role="assistant", tool_requests=tuple(ToolRequest(id=i, name="f", arguments={}) for i in ids))


def result(id_: str, text: str = "r") -> Message:
    return Message(role="tool", content=text, tool_request_id=id_)


def contents(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if message.role == "tool"]


def test_a_missing_result_gets_a_placeholder_and_an_orphan_is_dropped() -> None:  # H2
    messages = repaired([user("q"), result("x"), asks("a", "b"), result("b", "B"), user("next")])
    assert contents(messages) == [NO_RESULT, "B"]
    ProtocolChecker().advance(messages)


def test_results_behind_a_user_message_are_put_back_behind_their_call() -> None:
    messages = repaired([user("q"), asks("a"), user("impatient"), result("a", "A"), user("and?")])
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user", "user"]


def test_repeated_and_empty_ids_are_replaced_and_each_call_keeps_its_own_result() -> None:  # L5
    messages = repaired([user("q"), asks("a"), result("a", "first"), asks("a"), result("a", "second"), user("?")])
    assert contents(messages) == ["first", "second"]
    ProtocolChecker().advance(messages)
    ProtocolChecker().advance(repaired([user("q"), asks(""), result("", "none"), user("?")]))


@pytest.mark.parametrize(
    ("asked", "answered"),
    [(("a", "a"), ("a", "a")), (("", ""), ("", "")), (("a", "fresh"), ("a", "a")), (("x", "y"), ("", ""))],
)
def test_results_whose_ids_tell_nothing_belong_to_their_calls_in_order(
    asked: tuple[str, str], answered: tuple[str, str]
) -> None:  # L5, H2
    first, second = answered
    messages = repaired([user("q"), asks(*asked), result(first, "one"), result(second, "two"), user("?")])
    assert contents(messages) == ["one", "two"]
    ProtocolChecker().advance(messages)


def test_empty_turns_are_left_out() -> None:
    assert repaired([user("q"), Message(role="assistant"), user(""), user(" \n")]) == [user("q")]


def test_an_empty_result_says_so() -> None:
    assert contents(repaired([asks("a"), result("a", " ")])) == ["(no output)"]


def test_only_the_assistant_asks_for_tools() -> None:  # H2
    odd = Message(role="user", content="q", tool_requests=asks("a").tool_requests)
    assert repaired([odd, result("a")]) == [user("q")]


def test_a_role_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="not 'robot'"):
        repaired([Message(role="robot", content="q")])  # type: ignore[arg-type]  # what the test is about


def test_incoming_system_messages_stay_first_then_our_prompt_with_its_guides() -> None:  # L6, G1
    incoming = [Message(role="system", content="theirs"), user("earlier")]
    assert [message.text for message in opening("ours", ["guide"], incoming)] == ["theirs", "ours\n\nguide", "earlier"]


def test_our_own_system_message_of_an_earlier_turn_is_not_repeated() -> None:
    for prompt in ("ours", ""):
        first = opening(prompt, ["# Guide\n\nold"], [])
        again = opening(prompt, ["# Guide\n\nnew"], [*first, user("earlier")])
        assert [message.text for message in again] == [f"{prompt}\n\n# Guide\n\nnew".strip(), "earlier"]


def test_a_system_message_that_only_begins_like_ours_is_theirs() -> None:  # L6
    theirs = "You help. Today you help Ada."
    again = opening("You help.", [], [Message(role="system", content=theirs), user("earlier")])
    assert [message.text for message in again] == [theirs, "You help.", "earlier"]
