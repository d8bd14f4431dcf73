"""Tools for models without native calls: what they are told, what is understood, how often they are corrected."""

from __future__ import annotations

import asyncio
import json
import warnings

import pytest
from tests.models.cases import TOOLS, Json
from tests.models.stub_server import Raw, Reply, StubServer, completion

from react_run import (
    Message,
    ModelError,
    ModelRequest,
    ModelResponse,
    ReActAgent,
    ScriptedModel,
    TextDelta,
    ToolRequest,
)
from react_run.models.openai import OpenAIModel
from react_run.models.text_calls import TextCall, read_calls
from react_run.models.text_protocol import CORRECTIONS, TextProtocolModel
from react_run.testing import Functions

ADD = (TextCall(name="add", arguments={"a": 1, "b": 2}),)
ASKED = '{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}'

UNDERSTOOD = [
    # The form that is asked for, then what models write instead.
    (ASKED, ""),
    (f"Let me add.\n{ASKED}", "Let me add.\n"),
    (f"```json\n{ASKED}\n```", ""),
    (f"Adding:\n```\n{ASKED}", "Adding:\n"),
    (f"{ASKED}\nResult of add:\n17", ""),
    ('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>', ""),
    ('<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}', ""),
    ('{"name": "add", "arguments": {"a": 1, "b": 2}}', ""),
    ('I use {"name": "add", "parameters": {"a": 1, "b": 2}} now.', "I use "),
    ('[{"tool": "add", "args": {"a": 1, "b": 2}}]', ""),
    ('{"action": "add", "action_input": {"a": 1, "b": 2}}', ""),
    ('{"type": "function", "function": {"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}}', ""),
    ("{'tool_calls': [{'name': 'add', 'arguments': {'a': 1, 'b': 2}}]}", ""),
    ('{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2,},},],}', ""),
    ('The set {1, 2} is small. {"name": "add", "arguments": {"a": 1, "b": 2}}', "The set {1, 2} is small. "),
]


@pytest.mark.parametrize(("reply", "prose"), UNDERSTOOD)
def test_calls_are_understood_in_the_forms_that_models_write(reply: str, prose: str) -> None:  # H5
    reading = read_calls(reply, {"add", "now"})
    assert (reading.calls, reading.prose, reading.problem) == (ADD, prose, "")


PROSE = [
    "The answer is 3.",
    'A person: {"name": "Ada", "age": 36}',
    'Unknown in prose: {"name": "subtract", "arguments": {}} is an example.',
    "Use {curly} and [square] and `code` and <tags>.",
    '{"answer": 3}',
    "",
]


@pytest.mark.parametrize("reply", PROSE)
def test_prose_stays_prose(reply: str) -> None:  # H5
    reading = read_calls(reply, {"add", "now"})
    assert (reading.calls, reading.prose, reading.problem) == ((), reply, "")


ATTEMPTS = [
    '{"tool_calls": [{"name": "add", "arguments": {"a": 1',
    '<tool_call>{"name": add}</tool_call>',
    'I call {"name": "add", "arguments": {a: 1}}',
    '{"tool_calls": "add"}',
]


@pytest.mark.parametrize("reply", ATTEMPTS)
def test_a_failed_attempt_is_a_problem_not_an_answer(reply: str) -> None:  # H5
    reading = read_calls(reply, {"add", "now"})
    assert reading.problem
    assert not reading.calls


WRONG = '{"tool_calls": [{"name": "add", "arguments": {"a": 8, "b": 9}}]}'
REJECTED = [
    "<think>a<think>b</think>{0}</think>",
    "<think>a<think>b</think>{0}<think>c</think>d</think>",
    "<think>{0}<think>{0}</think>{0}</think>",
    "<think>\n```json\n{0}\n```\n<think>b</think>\n```json\n{0}\n```</think>",
    "<think>a<think>b</think><tool_call>{0}</tool_call></think>",
    "<think>a<thinking>b</thinking>{0}</think>",
    "<think>a<think x='1'>b</think>{0}</think>",
    "[THINK]a[THINK]b[/THINK]{0}[/THINK]",
    "◁think▷a◁think▷b◁/think▷{0}◁/think▷",
    "<|begin_of_thought|>a<|begin_of_thought|>b<|end_of_thought|>{0}<|end_of_thought|>",
    "<|channel|>analysis<|message|>a<|channel|>analysis<|message|>{0}<|channel|>final<|message|>",
    "Let me see. <think>a<think>b</think>{0}</think>",
    "Let me see. <think x='1'>{0}</think>",
    "a<think>b</think>{0}</think>",
    "a <think>b</think> c\n{0} no.</think> ",
    "Rather {0}? No.</think> ",
    "<think>The tags are `<think>` and `</think>`. {0}</think>",
]


@pytest.mark.parametrize("thinking", REJECTED)
def test_a_call_in_thinking_is_none_and_the_one_behind_it_runs(thinking: str) -> None:  # S5
    thought = thinking.replace("{0}", WRONG)
    assert read_calls(thought + ASKED, {"add", "now"}).calls == ADD
    assert not read_calls(thought, {"add", "now"}).calls


UNENDED = [
    "<think>a<think>b</think>{0}",
    "Let me see. <think>{0}",
    "Rather {0}? No.</think> Or so.",
    "[THINK]a[/THINK][THINK]{0}",
]


@pytest.mark.parametrize("reply", UNENDED)
def test_a_call_in_thinking_that_does_not_end_never_runs(reply: str) -> None:  # S5
    reading = read_calls(reply.replace("{0}", WRONG), {"add", "now"})
    assert not reading.calls
    assert not reading.prose or reading.prose.startswith("[THINK]")  # all thinking: the run asks again


@pytest.mark.parametrize("reply", [*REJECTED, *UNENDED])
def test_no_call_in_thinking_runs_streamed_or_not(reply: str) -> None:  # S5
    done: list[tuple[int, int]] = []

    def add(a: int, b: int) -> int:
        """Add."""
        done.append((a, b))
        return a + b

    text = reply.replace("{0}", WRONG)

    def agent() -> ReActAgent:
        model = ScriptedModel(replies=[text, ASKED, "3"], scope="agent")
        return ReActAgent({"tool_protocol": "text"}, model=model, toolsets=[add])

    async def streamed() -> None:
        async for _ in agent().stream("1 + 2?"):
            pass

    asyncio.run(streamed())
    agent().run_sync("1 + 2?")
    assert set(done) <= {(1, 2)}


@pytest.mark.parametrize("content", ["<think> tags </think>", "</think>", "a\n</think>\nb", "[THINK]"])
def test_tags_in_the_arguments_of_a_call_are_data(content: str) -> None:
    written = json.dumps({"tool_calls": [{"name": "add", "arguments": {"a": content}}]})
    assert read_calls(f"I write. {written}", {"add"}).calls == (TextCall(name="add", arguments={"a": content}),)


def test_an_unknown_tool_in_the_asked_form_is_a_call_so_that_the_model_is_told() -> None:  # A6
    assert read_calls('{"tool_calls": [{"name": "ad", "arguments": {}}]}', {"add"}).calls[0].name == "ad"


@pytest.mark.parametrize("value", ["1or 2", "0x1for x in y", "1if 2else 3", "'\\d'"])
def test_reading_a_reply_warns_nobody_of_its_spelling(value: str) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        read_calls(f"<tool_call>{{'name': 'add', 'arguments': {{'a': {value}}}}}</tool_call>", {"add"})
    assert warned == []


def test_hostile_text_is_read_in_no_time() -> None:
    for text in ("{" * 50_000, '["' * 50_000, "<tool_call>" * 20_000, "`" * 50_000, "'" * 50_000, "[" * 100_000):
        assert not read_calls(text, {"add"}).calls


def wrapped(*replies: object, **options: Json) -> tuple[TextProtocolModel, ScriptedModel]:
    scripted = ScriptedModel(replies=list(replies), scope="agent")
    return TextProtocolModel(model=scripted, **options), scripted


def asked(*messages: Message, **fields: Json) -> ModelRequest:
    given = messages or (Message(role="system", content="Be brief."), Message(role="user", content="1 + 2?"))
    return ModelRequest(messages=list(given), **{"tools": (TOOLS["add"], TOOLS["now"]), **fields})


def complete(model: TextProtocolModel, request: ModelRequest) -> ModelResponse:
    return asyncio.run(model.complete(request))


def test_tools_are_told_in_the_system_prompt_and_offered_nowhere_else() -> None:
    model, scripted = wrapped("Hello.")
    complete(model, asked())
    (sent,) = scripted.requests
    assert (sent.tools, sent.tool_choice) == ((), None)
    assert [message.role for message in sent.messages] == ["system", "user"]
    assert sent.messages[0].text.startswith("Be brief.")
    assert '"required": ["a", "b"]' in sent.messages[0].text
    assert "test tool add" in sent.messages[0].text


def test_a_call_comes_back_as_a_tool_request_with_an_id_of_its_own() -> None:  # L5
    model, _ = wrapped(f"Adding. {ASKED}")
    earlier = Message(role="assistant", tool_requests=(ToolRequest(id="call_2", name="now", arguments={}),))
    result = Message(role="tool", tool_request_id="call_2", content="noon")
    response = complete(model, asked(Message(role="user", content="go"), earlier, result))
    assert response.finish_reason == "tool_calls"
    assert response.text == "Adding. "
    (request,) = response.message.tool_requests
    assert (request.name, request.arguments) == ("add", {"a": 1, "b": 2})
    assert request.id not in ("", "call_2")


def test_earlier_calls_and_results_are_told_as_text_with_turns_alternating() -> None:
    model, scripted = wrapped("3")
    requests = (ToolRequest(id="a", name="add", arguments={"a": 1}), ToolRequest(id="b", name="now", arguments={}))
    complete(
        model,
        asked(
            Message(role="user", content="go"),
            Message(role="assistant", content="Two things.", tool_requests=requests),
            Message(role="tool", tool_request_id="a", content="3"),
            Message(role="tool", tool_request_id="b", content="noon"),
            Message(role="user", content="Well?"),
        ),
    )
    sent = scripted.requests[0].messages
    assert [message.role for message in sent] == ["system", "user", "assistant", "user"]
    text, _, calls = sent[2].text.partition("\n")
    assert text == "Two things."
    assert json.loads(calls)["tool_calls"][0] == {"name": "add", "arguments": {"a": 1}}
    assert sent[3].text == "Result of add:\n3\n\nResult of now:\nnoon\n\nWell?"


def test_an_unreadable_call_is_asked_again_and_its_usage_counted() -> None:  # H5, L8
    usage = {"input_tokens": 10, "output_tokens": 1, "cost": 0.5}
    model, scripted = wrapped({"text": ATTEMPTS[0], "usage": usage}, {"text": ASKED, "usage": usage})
    response = complete(model, asked())
    assert [request.name for request in response.message.tool_requests] == ["add"]
    assert (response.usage.input_tokens, response.usage.cost, response.usage.requests) == (20, 1.0, 2)
    correction = scripted.requests[1].messages[-1]
    assert correction.role == "user"
    assert "tool_calls" in correction.text


def test_corrections_are_bounded_and_end_in_a_clear_error() -> None:  # H5
    model, scripted = wrapped(ATTEMPTS[0])
    with pytest.raises(ModelError, match="no readable tool call") as raised:
        complete(model, asked())
    assert (raised.value.code, raised.value.retryable) == ("text_protocol", False)
    assert len(scripted.requests) == CORRECTIONS + 1 == 3


def test_a_call_that_was_cut_off_is_never_run() -> None:  # A5b
    model, scripted = wrapped({"text": ASKED, "finish_reason": "length"}, "3")
    response = complete(model, asked())
    assert (response.text, response.message.tool_requests) == ("3", ())
    assert "cut off" in scripted.requests[1].messages[-1].text


def test_a_required_call_is_insisted_on_and_a_forbidden_one_not_looked_for() -> None:  # D5
    model, scripted = wrapped("No.", ASKED)
    assert complete(model, asked(tool_choice="required")).message.tool_requests
    assert "Call a tool now" in scripted.requests[0].messages[0].text
    model, _ = wrapped(ASKED)
    assert complete(model, asked(tool_choice="none")).text == ASKED
    assert complete(model, asked(tools=())).text == ASKED


@pytest.mark.parametrize(
    "replies",
    [
        ["  Three things: a, b, c."],
        [f"Let me see.\n\n{ASKED}"],
        [f"Use `add` for it: {ASKED}"],
        ["A set {1, 2}, no call."],
        [f"Let me {ATTEMPTS[0]}", f"Again: {ASKED}"],
        [f"Let me {ATTEMPTS[0]}", "It is 3, sorry."],
    ],
)
def test_streaming_shows_what_the_reply_will_say(replies: list[str]) -> None:  # L10
    async def run() -> tuple[str, ModelResponse, ModelResponse]:
        model, _ = wrapped(*replies)
        items = [item async for item in model.stream(asked())]
        whole = await wrapped(*replies)[0].complete(asked())
        last = items.pop()
        assert isinstance(last, ModelResponse)
        return "".join(item.text for item in items if isinstance(item, TextDelta)), last, whole

    draft, streamed, whole = asyncio.run(run())
    assert draft == streamed.text
    assert streamed == whole


def test_prose_streams_before_the_reply_is_complete() -> None:
    async def first() -> object:
        model, _ = wrapped("one two three four")
        return await anext(model.stream(asked()))

    assert asyncio.run(first()) == TextDelta(text="one")


NO_TOOLS = Raw(status=400, steps=[b'{"error": {"message": "registry.example/small does not support tools"}}'])


@pytest.mark.parametrize("stream", [False, True])
def test_auto_switches_when_the_provider_says_it_has_no_tools(stream: bool) -> None:  # H5
    def reply(body: Json) -> Reply:
        return NO_TOOLS if "tools" in body else completion(ASKED)

    async def run(model: TextProtocolModel) -> ModelResponse:
        if not stream:
            return await model.complete(asked())
        last = [item async for item in model.stream(asked())][-1]
        assert isinstance(last, ModelResponse)
        return last

    with StubServer([reply]) as server:
        model = TextProtocolModel(model=OpenAIModel(model="small", base_url=server.url), protocol="auto")
        assert [r.name for r in asyncio.run(run(model)).message.tool_requests] == ["add"]
        asyncio.run(run(model))
        assert ["tools" in request.body for request in server.requests] == [True, False, False]


@pytest.mark.parametrize("stream", [False, True])
def test_the_request_that_told_that_there_are_no_tools_is_counted(stream: bool) -> None:  # H3
    async def requests(model: TextProtocolModel) -> int:
        if not stream:
            return (await model.complete(asked())).usage.requests
        last = [item async for item in model.stream(asked())][-1]
        assert isinstance(last, ModelResponse)
        return last.usage.requests

    with StubServer([lambda body: NO_TOOLS if "tools" in body else completion(ASKED)]) as server:
        model = TextProtocolModel(model=OpenAIModel(model="small", base_url=server.url), protocol="auto")
        assert [asyncio.run(requests(model)) for _ in range(2)] == [2, 1]
        assert len(server.requests) == 3


def test_auto_passes_other_errors_on() -> None:
    model, _ = wrapped({"error": {"status": 400, "message": "bad"}}, protocol="auto")
    with pytest.raises(ModelError, match="bad"):
        complete(model, asked())


def test_an_agent_uses_tools_through_text() -> None:
    model, _ = wrapped(f"I add. {ASKED}", "It is 3.")
    result = ReActAgent({}, model=model, toolsets=[Functions(functions=[TOOLS["add"]])]).run_sync("1 + 2?")
    assert (result.answer, result.success) == ("It is 3.", True)
    assert [(step.thought, step.action, step.observation) for step in result.steps] == [("I add. ", "add", "add done")]
