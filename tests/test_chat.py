"""OpenAI's ChatCompletion shapes: nothing is lost on the way there and back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from react_run import (
    ChatCompletionRequest,
    ChatCompletionResponse,
    ConfigError,
    Message,
    ModelError,
    ModelRequest,
    ModelResponse,
    ReActAgent,
    ScriptedModel,
    Tool,
    ToolRequest,
    Usage,
)
from react_run.chat import (
    chat_request,
    chat_response,
    messages_from_request,
    model_request,
    model_response,
)
from react_run.models.stored import message_from_dict, message_to_dict
from react_run.testing import Functions, agent_with, calls, run_agent, says


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOL = Tool.from_function(add)
MESSAGES = [
    Message(role="system", content="Be brief."),
    Message(
        role="user", content=[{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    ),
    Message(
        role="assistant",
        content="Two things.",
        tool_requests=(
            ToolRequest(id="a", name="not a valid name", arguments='{"broken": '),
            ToolRequest(id="b", name="add", arguments={"a": 1, "b": "ü"}),
        ),
        extra={"reasoning_content": "hm", "tool_call_fields": {"b": {"extra_content": {"signature": "c2ln"}}}},
    ),
    Message(role="tool", tool_request_id="a", content=""),
    Message(role="tool", tool_request_id="b", content="3"),
    Message(role="assistant", content=""),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_survives_the_way_there_and_back(message: Message) -> None:
    data = message_to_dict(message)
    assert message_from_dict(json.loads(json.dumps(data))) == message


def test_a_message_needs_a_known_role() -> None:
    assert message_from_dict({"role": "developer", "content": "x"}).role == "system"
    for wrong in ({}, {"role": "robot"}, {"role": None}):
        with pytest.raises(ConfigError, match="role"):
            message_from_dict(wrong)


def request() -> ModelRequest:
    return ModelRequest(
        messages=MESSAGES[:5], tools=(TOOL,), tool_choice="auto", settings={"seed": 7}, run_id="r", call=3
    )


def test_a_request_shows_everything_a_model_would_see() -> None:
    chat = chat_request(request(), model="m")
    assert (chat.model, chat.tool_choice) == ("m", "auto")
    assert [message.role for message in chat.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert chat.tools is not None
    assert chat.tools[0]["function"]["name"] == "add"
    assert chat.model_dump()["seed"] == 7


def test_a_request_that_nobody_changed_comes_back_unchanged() -> None:
    original = request()
    back = model_request(chat_request(original, model="m"), original)
    assert back == original
    assert back.messages is original.messages


def test_a_wrapper_may_change_messages_settings_and_withdraw_tools() -> None:
    original = request()
    chat = chat_request(original)
    chat.messages[0].content = "Be long."
    chat.messages.append(type(chat.messages[0])(role="user", content="And?"))
    chat.temperature, chat.tools, chat.tool_choice = 0.5, None, "none"
    back = model_request(chat, original)
    assert [m.content for m in back.messages][::5] == ["Be long.", "And?"]
    assert all(ours is theirs for ours, theirs in zip(back.messages[1:5], MESSAGES[1:5], strict=True))
    assert (back.settings, back.tools, back.tool_choice) == ({"seed": 7, "temperature": 0.5}, (), "none")
    assert (back.run_id, back.call) == ("r", 3)


def test_a_response_shows_calls_and_usage_and_takes_a_changed_text_back() -> None:
    usage = Usage(input_tokens=9, output_tokens=4, cached_tokens=3, cost=0.5)
    original = ModelResponse(message=MESSAGES[2], usage=usage, finish_reason="tool_calls", model="m")
    chat = chat_response(original)
    assert model_response(chat, original) == original
    assert chat.usage is not None
    assert (chat.usage.prompt_tokens, chat.usage.completion_tokens, chat.usage.total_tokens) == (9, 4, 13)
    chat.choices[0].message.content = "Other words."
    changed = model_response(chat, original)
    assert (changed.text, changed.message.tool_requests, changed.usage) == (
        "Other words.",
        MESSAGES[2].tool_requests,
        usage,
    )


def test_a_response_without_a_choice_is_an_error() -> None:
    original = ModelResponse(message=Message(role="assistant", content="x"))
    with pytest.raises(ModelError, match="response wrapper"):
        model_response(ChatCompletionResponse(choices=[]), original)


def test_a_run_ends_as_a_completion_with_its_trace() -> None:  # L9
    result = run_agent([calls(("add", {"a": 1, "b": 2}), text="Adding."), "3"], tools=[add])
    response = result.response
    (choice,) = response.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", "3", "stop")
    fields: Any = choice.provider_specific_fields
    assert (fields["iterations"], fields["success"], fields["termination_reason"]) == (2, True, "completed")
    assert fields["unresolved_tool_failures"] == []
    (step,) = fields["react_trace"]
    assert (step["thought"], step["action"], step["action_input"]) == ("Adding.", "add", {"a": 1, "b": 2})
    assert (step["observation"], step["executed"], step["iteration"]) == ("3", True, 1)
    assert json.loads(response.model_dump_json())["choices"][0]["provider_specific_fields"] == fields
    assert response.usage is None  # the scripted model reported none (L8)


def test_a_limit_shows_in_the_finish_reason() -> None:  # L9
    result = run_agent([calls(("add", {"a": 1, "b": 2}))], tools=[add], max_iterations=1, failure_handling="legacy")
    assert result.response.choices[0].finish_reason == "length"


def test_an_agent_answers_a_request_with_its_whole_conversation() -> None:  # L6
    model = ScriptedModel(replies=["Ada."])
    chat = ChatCompletionRequest.model_validate(
        {
            "model": "whatever",
            "messages": [
                {"role": "user", "content": "I am Ada."},
                {"role": "assistant", "content": "Hello."},
                {"role": "user", "content": "Who am I?"},
            ],
            "top_p": 0.5,
        }
    )
    agent = ReActAgent({}, model=model, toolsets=[Functions(functions=[TOOL])])
    response = asyncio.run(agent.complete(chat))
    assert response.choices[0].message.content == "Ada."
    seen = [message.content for message in model.requests[0].messages if message.role != "system"]
    assert seen == ["I am Ada.", "Hello.", "Who am I?"]
    assert [message.role for message in messages_from_request(chat)] == ["user", "assistant", "user"]


def test_who_of_several_speaks_is_kept() -> None:
    for role in ("user", "system"):
        data = {"role": role, "content": "hello", "name": "ada"}
        assert message_to_dict(message_from_dict(data)) == data


def test_the_settings_of_a_request_reach_the_model_at_every_call() -> None:
    agent = agent_with([calls(("add", {"a": 1, "b": 2})), says("3")], tools=[add])
    request = ChatCompletionRequest.model_validate(
        {"messages": [{"role": "user", "content": "1+2"}], "temperature": 0.5, "max_tokens": 9, "seed": 7}
    )
    response = asyncio.run(agent.complete(request))
    assert response.choices[0].message.content == "3"
    requests = agent.model.requests  # type: ignore[attr-defined]  # a ScriptedModel
    assert [dict(request.settings) for request in requests] == [{"temperature": 0.5, "max_tokens": 9, "seed": 7}] * 2
