"""The clients and the loop against a real llama.cpp server: nobody of us wrote its side of the conversation.

The model is far too small to be relied on for words: arguments are pinned by enumerations, only structure is asserted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from platformdirs import user_cache_path
from tests.models.cases import Json
from tests.models.real_server import NotInstalled, install, running

from react_run import Message, ModelError, ModelRequest, ModelResponse, ReActAgent, TextDelta, Tool, ToolRequest
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.models.remote import RemoteModel
from react_run.models.text_protocol import TextProtocolModel
from react_run.testing import Functions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic):UserWarning"),
]

CLIENTS: dict[str, Callable[[str], RemoteModel]] = {
    "openai": lambda url: OpenAIModel(model="small", base_url=url, temperature=0, max_tokens=60, timeout=120),
    "litellm": lambda url: LiteLLMModel(
        model="openai/small", base_url=url, api_key="none", temperature=0, max_tokens=60, timeout=120
    ),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        python = install(user_cache_path("react-run") / "tests" / "llama-server")
        with running(python) as url:
            yield url
    except NotInstalled as error:
        pytest.skip(f"no llama.cpp server here: {error}")


@pytest.fixture(params=CLIENTS)
def model(request: pytest.FixtureRequest, address: str) -> RemoteModel:
    return CLIENTS[request.param](address)


def get_weather(city: Literal["Paris", "Rome"]) -> str:
    """Get the weather in a city."""
    return {"Paris": "cloudy", "Rome": "rainy"}[city]


WEATHER = Tool.from_function(get_weather)


def turn(number: int, city: Literal["Paris", "Rome"]) -> list[Message]:
    """An earlier question with its call and answer: from such examples even this model learns what to do."""
    call = ToolRequest(id=f"call_{number}", name="get_weather", arguments={"city": city})
    return [
        Message(role="user", content=f"What is the weather in {city}?"),
        Message(role="assistant", tool_requests=(call,)),
        Message(role="tool", tool_request_id=call.id, content=get_weather(city)),
        Message(role="assistant", content=f"It is {get_weather(city)} in {city}."),
    ]


EARLIER = [*turn(1, "Rome"), *turn(2, "Paris")]
QUESTION = "What is the weather in Rome?"


def both(model: RemoteModel, request: ModelRequest) -> tuple[ModelResponse, ModelResponse, str]:
    """The reply as a whole, the reply as it streams, and the draft."""

    async def run() -> tuple[ModelResponse, ModelResponse, str]:
        whole = await model.complete(request)
        items = [item async for item in model.stream(request)]
        last = items.pop()
        assert isinstance(last, ModelResponse)
        return whole, last, "".join(item.text for item in items if isinstance(item, TextDelta))

    return asyncio.run(run())


def test_text_is_the_same_streamed_or_not_and_its_tokens_are_counted(model: RemoteModel) -> None:  # L8, L10
    whole, streamed, draft = both(model, ModelRequest(messages=[Message(role="user", content="Say hello.")]))
    assert whole.text
    assert whole.text == streamed.text == draft
    for response in (whole, streamed):
        assert response.usage.input_tokens
        assert response.usage.output_tokens
        assert response.finish_reason in ("stop", "length")


def test_a_tool_call_is_the_same_streamed_or_not(model: RemoteModel) -> None:  # L10
    messages = [*EARLIER, Message(role="user", content=QUESTION)]
    for response in both(model, ModelRequest(messages=messages, tools=(WEATHER,)))[:2]:
        (request,) = response.message.tool_requests
        assert request.name == "get_weather"
        assert request.arguments in ({"city": "Rome"}, {"city": "Paris"})
        assert request.id not in ("", "call_1", "call_2")
        assert response.finish_reason == "tool_calls"


def test_structured_output_has_its_structure(model: RemoteModel) -> None:
    schema: Json = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    request = ModelRequest(
        messages=[Message(role="user", content="Name a city.")], settings={"response_format": wanted}
    )
    for response in both(model, request)[:2]:
        assert json.loads(response.text)["city"] in ("Paris", "Rome")


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_calls_the_tool_and_answers(model: RemoteModel, stream: bool) -> None:  # L1, L3
    agent = ReActAgent({"system_prompt": ""}, model=model, toolsets=[Functions(functions=[WEATHER])])

    async def run() -> object:
        if not stream:
            return await agent.run(QUESTION, EARLIER)
        return [event async for event in agent.stream(QUESTION, EARLIER)][-1]

    result: Json = asyncio.run(run())
    step = result.steps[0]
    assert (step.action, step.executed) == ("get_weather", True)
    assert step.observation in ("cloudy", "rainy")
    assert result.answer
    assert result.usage.requests >= 2
    if result.usage.requests == 2:  # the server may drop a connection that is used again; what that cost is unknown
        assert result.usage.input_tokens > 100


def test_the_text_protocol_reaches_a_tool_too(model: RemoteModel) -> None:  # H5
    call: Json = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": ["get_weather"]},
            "arguments": {
                "type": "object",
                "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
                "required": ["city"],
            },
        },
        "required": ["name", "arguments"],
    }
    calls: Json = {"type": "array", "items": call, "minItems": 1, "maxItems": 1}
    schema: Json = {"type": "object", "properties": {"tool_calls": calls}, "required": ["tool_calls"]}
    request = ModelRequest(
        messages=[Message(role="user", content=QUESTION)],
        tools=(WEATHER,),
        settings={"response_format": {"type": "json_schema", "json_schema": {"name": "calls", "schema": schema}}},
    )
    response = asyncio.run(TextProtocolModel(model=model).complete(request))
    (found,) = response.message.tool_requests
    assert found.name == "get_weather"
    assert found.arguments in ({"city": "Rome"}, {"city": "Paris"})


def test_an_overflow_and_a_bad_request_are_told_apart(model: RemoteModel) -> None:  # S6
    too_long = ModelRequest(messages=[Message(role="user", content="word " * 9000)])
    with pytest.raises(ModelError) as raised:
        asyncio.run(model.complete(too_long))
    assert (raised.value.code, raised.value.retryable) == ("context_overflow", False)
    wrong = ModelRequest(messages=[Message(role="user", content="x")], settings={"response_format": {"type": "odd"}})
    with pytest.raises(ModelError) as raised:
        asyncio.run(model.complete(wrong))
    assert not raised.value.retryable
