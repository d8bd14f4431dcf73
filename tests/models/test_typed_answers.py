"""Typed answers: asked of each provider in the form it has, checked here all the same, and instances for Python."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel
from tests.models.stub_server import Json, StubServer, completion
from tests.models.test_wire_parts import ANTHROPIC, GEMINI, KEY, refused, reply

from react_run import ConfigError, ModelRequest, ReActAgent, RunResult, TextDelta, Tool, read_journal
from react_run.journal.replay.replay import replay
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.models.remote import RemoteModel
from react_run.models.typed_answers import response_format
from react_run.testing import agent_with, says

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic):UserWarning"
)

SCHEMA = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "items": {"type": "array", "items": {"type": "string"}}},
    "required": ["total", "items"],
}
ANSWER = {"total": 3, "items": ["tea"]}


def price(item: str) -> int:
    """The price."""
    return 3


PRICE = Tool.from_function(price)


class Line(BaseModel):
    name: str
    price: float


class Invoice(BaseModel):
    lines: list[Line]


@dataclass
class Total:
    total: float
    items: list[str]


def called(name: str, arguments: Json, text: str | None = None, n: int = 1) -> dict[str, Json]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"c{n}", "type": "function", "function": function}
    return completion(text, finish_reason="tool_calls", tool_calls=[call])


def served(server: StubServer, *, tools: bool = True, model: RemoteModel | None = None, **config: Any) -> RunResult:
    config = {"output_schema": SCHEMA, **config}
    served_by = model or OpenAIModel(model="stub", base_url=server.url, api_key=KEY)
    agent = ReActAgent(config, model=served_by, toolsets=[PRICE] if tools else [])

    async def run() -> RunResult:
        async with agent:
            return await agent.run("What does tea cost?")

    return asyncio.run(run())


def test_without_tools_the_answer_is_asked_for_by_its_format() -> None:
    with StubServer([completion(json.dumps(ANSWER))]) as server:
        result = served(server, tools=False)
    assert (result.value, result.success) == (ANSWER, True)
    sent = server.requests[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"]["additionalProperties"] is False


def test_beside_tools_the_answer_is_a_call_of_one_more_tool() -> None:
    with StubServer([called("price", {"item": "tea"}), called("final_answer", ANSWER, n=2)]) as server:
        result = served(server)
    assert (result.value, result.success, result.stop_reason) == (ANSWER, True, "completed")
    assert [step.action for step in result.steps] == ["price"]
    assert json.loads(result.answer) == ANSWER
    for request in server.requests:
        assert [tool["function"]["name"] for tool in request.body["tools"]] == ["price", "final_answer"]
        assert "response_format" not in request.body
    assert server.requests[0].body["tools"][1]["function"]["parameters"]["required"] == ["total", "items"]


def test_a_model_that_answers_in_text_all_the_same_is_understood() -> None:
    with StubServer([completion(json.dumps(ANSWER))]) as server:
        assert served(server).value == ANSWER


def test_an_answer_that_is_wrong_is_refused_as_ever() -> None:
    with StubServer([called("final_answer", {"total": "much"}), called("final_answer", ANSWER, n=2)]) as server:
        result = served(server)
    assert result.value == ANSWER
    assert "The answer does not satisfy its schema" in server.requests[1].body["messages"][-1]["content"]


def test_a_final_answer_beside_other_calls_waits_for_them() -> None:
    both = called("price", {"item": "tea"})
    both["choices"][0]["message"]["tool_calls"] += called("final_answer", {"total": 0, "items": []}, n=2)["choices"][0][
        "message"
    ]["tool_calls"]
    with StubServer([both, called("final_answer", ANSWER, n=3)]) as server:
        result = served(server)
    assert result.value == ANSWER
    assert len(server.requests[1].body["messages"][-1]["content"]) > 0


def test_an_answer_that_is_no_object_is_put_into_one() -> None:
    schema = {"type": "array", "items": {"$ref": "#/$defs/word"}, "$defs": {"word": {"type": "string"}}}
    with StubServer([called("final_answer", {"answer": ["tea"]})]) as server:
        result = served(server, output_schema=schema)
    assert (result.value, result.answer) == (["tea"], '["tea"]')
    parameters = server.requests[0].body["tools"][1]["function"]["parameters"]
    assert parameters["properties"]["answer"]["type"] == "array"


def test_the_prompt_alone_asks_where_the_file_says_so() -> None:
    with StubServer([completion(json.dumps(ANSWER))]) as server:
        assert served(server, output_mode="prompt").value == ANSWER
        assert served(server, output_mode="prompt", tools=False).value == ANSWER
    for request in server.requests:
        assert "response_format" not in request.body
        assert "final_answer" not in json.dumps(request.body)
        assert "# Form of the answer" in request.body["messages"][0]["content"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Invalid schema for response_format 'answer'"),
        (400, "This model does not support structured output"),
        (500, "Cannot use custom grammar constraints with tools."),
    ],
)
def test_a_server_without_formats_is_asked_in_the_prompt(status: int, words: str) -> None:
    answer = completion(json.dumps(ANSWER))
    with StubServer([refused(status, words), answer]) as server:
        assert served(server, tools=False).value == ANSWER
    assert ["response_format" in request.body for request in server.requests] == [True, False]


def test_a_schema_that_a_provider_does_not_take_is_asked_for_in_the_prompt() -> None:
    answer = completion(json.dumps(ANSWER))
    words = "Invalid schema for function 'final_answer': 'items' is not supported"
    with StubServer([refused(400, words), answer]) as server:
        assert served(server).value == ANSWER
    names = [[tool["function"]["name"] for tool in request.body["tools"]] for request in server.requests]
    assert names == [["price", "final_answer"], ["price"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("output_mode: always", "'auto' or 'prompt'"),
        ("output_mod: auto", "Did you mean 'output_mode'?"),
        ("output_schema: {type: objekt}", "this is not a JSON Schema"),
        ("output_schema: text", "mapping"),
    ],
)
def test_a_wrong_key_is_named_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "agent.yaml").write_text(f"model: offline\n{line}\n")
    with pytest.raises(ConfigError, match=r"agent\.yaml:2:\d+: ") as caught:
        ReActAgent.from_yaml(tmp_path / "agent.yaml")
    assert said in str(caught.value)


@pytest.mark.parametrize("wrong", [len, {"set"}])
def test_a_type_that_cannot_be_a_schema_is_named_once(wrong: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        ReActAgent(model="offline", output_schema=wrong)
    assert str(caught.value).count("output_schema") == 1


def test_settings_of_the_file_win() -> None:
    with StubServer([completion(json.dumps(ANSWER))]) as server:
        settings = {"response_format": {"type": "json_object"}}
        model = OpenAIModel(model="stub", base_url=server.url, api_key=KEY, settings=settings)
        served(server, model=model)
    assert server.requests[0].body["response_format"] == {"type": "json_object"}
    assert "final_answer" not in json.dumps(server.requests[0].body)


def test_a_tool_of_that_name_keeps_it() -> None:
    own = Tool.from_function(price, name="final_answer")
    model = OpenAIModel(model="stub", base_url="http://127.0.0.1:1/v1", api_key=KEY)
    asked, name = model.asked(ModelRequest(messages=[], tools=(own,), output_schema=SCHEMA))
    assert name == "final_answer_2"
    assert [tool.name for tool in asked.tools] == ["final_answer", "final_answer_2"]


def test_a_typed_answer_streams_as_text() -> None:
    with StubServer([called("final_answer", ANSWER)]) as server:
        model = OpenAIModel(model="stub", base_url=server.url, api_key=KEY)
        agent = ReActAgent({"output_schema": SCHEMA}, model=model, toolsets=[PRICE])

        async def run() -> list[object]:
            async with agent:
                return [event async for event in agent.stream("What does tea cost?")]

        *events, result = asyncio.run(run())
    assert isinstance(result, RunResult)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == result.answer


def test_openai_itself_gets_the_format_beside_tools() -> None:
    request = ModelRequest(messages=[], tools=(PRICE,), output_schema=SCHEMA)
    assert OpenAIModel(model="gpt-5").answers_by(request) == "response_format"
    assert LiteLLMModel(model="openai/gpt-5").answers_by(request) == "response_format"
    assert LiteLLMModel(model="gemini/gemini-2.5-flash").answers_by(request) == "tool"


def body_of(model: str, body: Json, *, tools: bool, url: str = "") -> Json:
    with StubServer([reply(body)], strict=False) as server:
        base = server.url.removesuffix("/v1") if "anthropic" in model else server.url
        served(server, tools=tools, model=LiteLLMModel(model=model, base_url=base, api_key=KEY), max_check_attempts=0)
    return server.requests[0].body


def test_anthropic_is_asked_by_its_own_format_or_by_a_tool() -> None:
    alone = body_of("anthropic/claude-sonnet-4-5", ANTHROPIC, tools=False)
    assert '"total"' in json.dumps(alone.get("output_format") or alone.get("output_config") or alone.get("tools"))
    beside = body_of("anthropic/claude-sonnet-4-5", ANTHROPIC, tools=True)
    assert [tool["name"] for tool in beside["tools"]] == ["price", "final_answer"]
    assert beside.get("tool_choice", {}).get("type") in (None, "auto")


def test_gemini_is_asked_by_its_own_schema_or_by_a_tool() -> None:
    alone = json.dumps(body_of("gemini/gemini-2.5-flash", GEMINI, tools=False)["generationConfig"])
    assert "total" in alone
    beside = body_of("gemini/gemini-2.5-flash", GEMINI, tools=True)
    assert "final_answer" in json.dumps(beside["tools"])
    assert "total" not in json.dumps(beside.get("generationConfig", {}))


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, False),
        ({**SCHEMA, "additionalProperties": True}, False),
        ({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}, "required": ["a"]}, False),
        (Invoice.model_json_schema(), True),
        ({"type": "object"}, False),
    ],
)
def test_a_format_is_strict_where_it_can_be_kept_to(schema: dict[str, Any], strict: bool) -> None:
    sent = response_format(schema)["json_schema"]
    assert isinstance(sent, dict)
    assert sent["strict"] is strict
    assert strict or sent["schema"] == schema


def test_a_pydantic_model_makes_the_value_an_instance() -> None:
    text = '{"lines": [{"name": "tea", "price": 3}]}'
    result = agent_with([says(text)], output_schema=Invoice).run_sync("go")
    assert result.value == Invoice(lines=[Line(name="tea", price=3)])
    assert result.to_dict()["value"] == {"lines": [{"name": "tea", "price": 3.0}]}


def test_a_dataclass_makes_the_value_an_instance() -> None:
    result = agent_with([says(json.dumps(ANSWER))], output_schema=Total).run_sync("go")
    assert result.value == Total(total=3, items=["tea"])


def even(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


class Even(BaseModel):
    number: Annotated[int, AfterValidator(even)]


def test_what_only_the_class_knows_is_checked_too() -> None:
    agent = agent_with([says('{"number": 3}'), says('{"number": 4}')], output_schema=Even)
    result = agent.run_sync("go")
    assert result.value == Even(number=4)
    feedback = [message.text for message in result.messages if message.role == "user"][-1]
    assert "number: Value error, 3 is odd" in feedback


class Odd:
    """Nothing that pydantic knows."""


@pytest.mark.parametrize(
    ("given", "said"), [(len, "must be a mapping, or a class"), (Odd, "Odd is not a class that pydantic can validate")]
)
def test_a_wrong_output_schema_is_named(given: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=f"output_schema: {said}"):
        ReActAgent(output_schema=given)


def test_a_run_with_a_typed_answer_replays(tmp_path: Path) -> None:
    agent = agent_with([says(json.dumps(ANSWER))], output_schema=Total)
    asyncio.run(agent.replace(journal=tmp_path / "run.jsonl").run("go"))
    assert asyncio.run(replay(read_journal(tmp_path / "run.jsonl"), agent)).complete


def test_the_agent_that_answers_with_data_runs_offline(tmp_path: Path) -> None:
    agent = ReActAgent.from_yaml(Path(__file__).parents[2] / "agents" / "typed.yaml")
    result = asyncio.run(agent.replace(journal=tmp_path / "run.jsonl").run("Add up 12.50 and 7.25."))
    assert (result.value, result.iterations, result.success) == ({"total": 19.75, "currency": "EUR"}, 3, True)
    assert asyncio.run(replay(read_journal(tmp_path / "run.jsonl"), agent)).complete
