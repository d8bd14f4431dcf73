"""Our messages as provider JSON: once each, valid whatever they hold, and what came with them goes back with them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest
from tests.models.cases import TOOLS, Json
from tests.models.request_rules import violations

from react_run import Message, ModelRequest, Tool, ToolRequest
from react_run.messages import MessageList, MessageView
from react_run.models.wire import BREAKPOINT, NO_OUTPUT, Wire, breakpoints, message_json
from react_run.support.jsonable import encode

HEADERS = {"content-type": "application/json"}


def conversation(iterations: int) -> list[Message]:
    messages = [Message(role="system", content="Be brief."), Message(role="user", content="Grüße 🍸")]
    for number in range(iterations):
        call = ToolRequest(id=f"c{number}", name="add", arguments={"a": number, "b": 1})
        messages.append(Message(role="assistant", content="Adding.", tool_requests=(call,)))
        messages.append(Message(role="tool", tool_request_id=call.id, content=f"{number + 1}"))
    return messages


def body(wire: Wire, request: ModelRequest, **head: object) -> Json:
    encoded = wire.encode(request, {"model": "m", **head})
    joined = b"".join(encoded.pieces)
    assert encoded.length == len(joined)
    return json.loads(joined)


def test_a_request_is_what_providers_accept() -> None:  # L5
    request = ModelRequest(messages=conversation(3), tools=tuple(TOOLS.values()))
    sent = body(Wire(), request, temperature=0)
    assert violations("/v1/chat/completions", HEADERS, sent) == []
    assert sent["temperature"] == 0
    assert [tool["function"]["name"] for tool in sent["tools"]] == list(TOOLS)
    assert sent["messages"][2] == {
        "role": "assistant",
        "content": "Adding.",
        "tool_calls": [{"id": "c0", "type": "function", "function": {"name": "add", "arguments": '{"a":0,"b":1}'}}],
    }


def growing() -> Iterator[MessageView]:
    """A run's list as it grows, and the views of it that its requests hold."""
    whole = conversation(40)
    messages: list[Message] = []
    for message in whole:
        messages.append(message)
        yield MessageView(messages)


def test_a_growing_conversation_is_encoded_as_if_for_the_first_time() -> None:
    kept = Wire()
    for view in growing():
        request = ModelRequest(messages=view, run_id="r")
        assert body(kept, request) == body(Wire(), request)


def test_each_message_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:  # performance: wire encoding
    encoded: list[object] = []

    def counting(value: object) -> bytes:
        encoded.append(value)
        return encode(value)

    monkeypatch.setattr("react_run.models.wire.encode", counting)
    wire = Wire()
    for view in growing():
        wire.encode(ModelRequest(messages=view, run_id="r"), {"model": "m"})
    messages = [value for value in encoded if isinstance(value, dict) and "role" in value]
    assert len(messages) == len(conversation(40))


def test_a_conversation_that_was_changed_is_encoded_anew() -> None:  # S7: compaction
    wire = Wire()
    messages = conversation(5)
    body(wire, ModelRequest(messages=MessageView(messages), run_id="r"))
    messages[3] = Message(role="tool", tool_request_id="c0", content="[moved to a file]")
    changed = body(wire, ModelRequest(messages=MessageView(messages), run_id="r"))
    assert changed["messages"][3]["content"] == "[moved to a file]"
    shorter = body(wire, ModelRequest(messages=MessageView(messages, 4), run_id="r"))
    assert shorter["messages"] == changed["messages"][:4]


def test_runs_do_not_get_each_others_messages_however_many_there_are() -> None:  # T5
    wire = Wire()
    for turn in range(1, 3):
        for run in range(200):
            messages = [Message(role="user", content=f"run {run}")] * turn
            sent = body(wire, ModelRequest(messages=messages, run_id=f"r{run}"))
            assert [m["content"] for m in sent["messages"]] == [f"run {run}"] * turn


def test_a_long_body_is_passed_on_in_pieces_and_a_short_one_whole() -> None:
    short = Wire().encode(ModelRequest(messages=conversation(5)), {"model": "m"})
    long = Wire().encode(ModelRequest(messages=conversation(3000)), {"model": "m"})
    assert len(short.pieces) == 1
    assert len(long.pieces) > 3
    assert len(json.loads(b"".join(long.pieces))["messages"]) == 6002


def test_a_iteration_costs_no_more_at_the_end_of_a_long_conversation() -> None:  # performance: wire encoding
    wire = Wire()
    messages: list[Message] = []
    took: list[float] = []
    for message in conversation(300):
        messages.append(message)
        request = ModelRequest(messages=MessageView(messages), run_id="r")
        begin = time.perf_counter()
        wire.encode(request, {"model": "m"})
        took.append(time.perf_counter() - begin)
    again = time.perf_counter()
    Wire().encode(ModelRequest(messages=messages), {"model": "m"})
    from_scratch = time.perf_counter() - again
    assert min(took[-20:]) < from_scratch / 5


def test_what_came_with_a_message_goes_back_with_it() -> None:  # L5
    extra = {
        "reasoning_content": "hm",
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
        "cache_control": {"type": "ephemeral"},
        "role": "user",  # never lets an extra field replace one of the message's own
    }
    sent = message_json(Message(role="assistant", content="x", extra=extra))
    assert sent == {**extra, "role": "assistant", "content": "x"}


ODD = [
    ("half a pair \ud800 here", "half a pair \ufffd here"),
    ("nul \x00 and \u2028", "nul \x00 and \u2028"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "arrives"), ODD)
def test_any_text_can_be_sent(text: str, arrives: str) -> None:  # T3
    assert json.loads(encode(message_json(Message(role="user", content=text))))["content"] == arrives


def test_what_json_cannot_hold_is_sent_as_text() -> None:  # L5: a provider refuses NaN
    odd = {"nan": float("nan"), "half": "\ud800", "set": {1}, (2, 3): object()}
    assert json.loads(encode(odd), parse_constant=pytest.fail)["nan"] == "nan"


def test_what_a_provider_would_refuse_is_replaced_on_the_way_only() -> None:  # H2, H4
    call = ToolRequest(id="a", name="søk<|x|>" + "y" * 90, arguments="{broken")
    message = Message(role="assistant", tool_requests=(call,))
    sent: Json = message_json(message)
    function = sent["tool_calls"][0]["function"]
    assert function["arguments"] == "{}"
    assert function["name"].isascii()
    assert len(function["name"]) == 64
    whole: Json = message_json(message, verbatim=True)
    assert whole["tool_calls"][0]["function"] == {"name": call.name, "arguments": "{broken"}
    assert message_json(Message(role="tool", tool_request_id="a"))["content"] == NO_OUTPUT


def test_cached_prefixes_end_after_the_system_prompt_the_last_iteration_and_here() -> None:
    messages = conversation(2)
    assert breakpoints(messages) == {0, 3, 5}
    assert breakpoints(messages[:2]) == {0, 1}
    assert breakpoints([]) == frozenset()
    sent = body(Wire(explicit_cache=True), ModelRequest(messages=messages))["messages"]
    marked = [n for n, m in enumerate(sent) if isinstance(m["content"], list)]
    assert marked == [0, 3, 5]
    assert sent[0]["content"] == [{"type": "text", "text": "Be brief.", "cache_control": dict(BREAKPOINT)}]
    plain = body(Wire(), ModelRequest(messages=messages))["messages"]
    assert [m for n, m in enumerate(sent) if n not in marked] == [m for n, m in enumerate(plain) if n not in marked]


HOSTILE_SCHEMAS: list[Json] = [
    {"type": "object", "properties": {"a": {"const": 1}, "b": {"oneOf": [{"type": "string"}, {"type": "null"}]}}},
    {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}}}},
    },
    {
        "type": "object",
        "properties": {"t": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}},
    },
    {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a", "b"]},
    {
        "type": "object",
        "anyOf": [{"properties": {"x": {"type": "string"}}, "required": ["x"]}, {"properties": {"y": {}}}],
    },
    {
        "type": "object",
        "allOf": [{"properties": {"x": {"type": "string"}}}],
        "$schema": "http://json-schema.org/draft-07/schema#",
    },
    {"type": "object", "properties": {"p": {"type": "string", "pattern": "^(?!x)", "examples": ["a"], "title": "P"}}},
    {
        "type": "object",
        "if": {},
        "then": {},
        "properties": {"e": {"enum": ["a", None]}, "x": {"exclusiveMinimum": True, "minimum": 3}},
    },
    {
        "type": "object",
        "patternProperties": {"^x": {}},
        "properties": {"m": {"type": ["string", "null"]}, "o": {"type": "object"}},
    },
]


@pytest.mark.parametrize("schema", HOSTILE_SCHEMAS)
def test_schemas_are_sent_without_what_providers_refuse(schema: Json) -> None:  # H4
    tool = Tool(name="t", description="d", parameters=schema, function=lambda: "")
    sent = body(Wire(), ModelRequest(messages=[Message(role="user", content="x")], tools=(tool,)))
    assert violations("/v1/chat/completions", HEADERS, sent) == []


def same_run(messages: list[Message]) -> ModelRequest:
    return ModelRequest(messages=MessageView(messages), run_id="r")


def test_a_conversation_that_only_grew_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wire, messages = Wire(), MessageList(conversation(50))
    body(wire, same_run(messages))
    messages.append(Message(role="user", content="more"))
    request, looked_at = same_run(messages), list[Message]()
    get = MessageView.__getitem__

    def counting(view: MessageView, index: slice) -> list[Message]:
        looked_at.extend(found := get(view, index))
        return found

    monkeypatch.setattr(MessageView, "__getitem__", counting)
    assert len(body(wire, request)["messages"]) == 103
    assert looked_at == messages[-1:]


CHANGED = Message(role="user", content="changed")


def pop_and_append(messages: list[Message]) -> None:
    messages.pop()
    messages.append(CHANGED)


def clear_and_append(messages: list[Message]) -> None:
    messages.clear()
    messages.append(CHANGED)


CHANGES: dict[str, Callable[[list[Message]], object]] = {
    "one replaced": lambda messages: messages.__setitem__(3, CHANGED),
    "several replaced": lambda messages: messages.__setitem__(slice(1, 3), [CHANGED]),
    "one deleted": lambda messages: messages.__delitem__(-1),
    "one inserted": lambda messages: messages.insert(1, CHANGED),
    "the last taken and another added": pop_and_append,
    "one removed": lambda messages: messages.remove(messages[2]),
    "all taken": clear_and_append,
    "turned round": lambda messages: messages.reverse(),
    "sorted": lambda messages: messages.sort(key=lambda message: message.role),
    "doubled": lambda messages: messages.__imul__(2),
    "added to": lambda messages: messages.extend([CHANGED]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("kind", [list, MessageList])
def test_whatever_is_done_to_a_conversation_its_next_request_shows_it(
    change: Callable[[list[Message]], object], kind: Callable[[list[Message]], list[Message]]
) -> None:
    wire, messages = Wire(), kind(conversation(5))
    body(wire, same_run(messages))
    change(messages)
    assert body(wire, same_run(messages))["messages"] == body(Wire(), same_run(list(messages)))["messages"]


def test_a_request_that_was_made_before_a_change_is_encoded_as_it_is_now() -> None:
    wire, messages = Wire(), MessageList(conversation(5))
    body(wire, same_run(messages))
    request = same_run(messages)
    messages[3] = Message(role="tool", tool_request_id="c0", content="changed")
    assert body(wire, request)["messages"][3]["content"] == "changed"
