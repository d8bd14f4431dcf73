"""What servers and models send in public reports: errors, ids, names, marks and thinking, against a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from tests.field_reports.rows import rows
from tests.models.stub_server import Raw, StubServer, completion, sse

from react_run import ModelError, ReActAgent, RunResult
from react_run.engine.iteration import unknown_tool
from react_run.models.failures import failure
from react_run.testing import calls, run_agent, says
from react_run.tools.request_ids import numbered_id, portable_id

ASKED: list[str] = []


def weather(city: str) -> str:
    """The weather in a city."""
    ASKED.append(city)
    return f"21 degrees in {city}"


def run(
    *replies: Any, tools: tuple[Any, ...] = (weather,), strict: bool = True, **config: Any
) -> tuple[RunResult, Any]:
    """A run against a server that gives ``reply_checks``, and the bodies of the requests it got."""
    ASKED.clear()
    model = {"kind": "openai", "model": "m", **config.pop("model", {})}
    with StubServer([*replies]) as server:
        agent = ReActAgent(
            {
                "model": {**model, "base_url": server.url},
                "plugins": [{"kind": "model_retries", "first_wait": 0.01}],
                **config,
            },
            toolsets=[weather],
        )
        result = agent.run_sync("go")
    return result, [request.body for request in server.requests]


def refusal(status: int, body: object) -> Raw:
    data = json.dumps(body).encode()
    return Raw(status=status, steps=[data], length=len(data), headers={"Content-Type": "application/json"})


def called(name: str, call_id: object = "a", **arguments: object) -> dict[str, Any]:
    call = {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return completion(None, finish_reason="tool_calls", tool_calls=[{**call, "id": call_id} if call_id else call])


@pytest.mark.parametrize("row", rows("model.text_protocol"))
def test_a_call_that_was_only_thought_of_never_runs(row: Mapping[str, Any]) -> None:
    result, _ = run(completion(row["input"]["reply"]), completion("done"), tool_protocol="text")
    assert row["expected"]["cities"] == ASKED
    assert result.answer == row["expected"]["answer"]


@pytest.mark.parametrize("row", rows("model.replies"))
def test_thinking_alone_is_an_empty_reply(row: Mapping[str, Any]) -> None:
    result, bodies = run(completion(row["input"]["reply"]), completion("done"))
    assert (result.answer, len(bodies)) == ("done", 2)


@pytest.mark.parametrize("row", rows("model.output_schema"))
def test_the_json_behind_thinking_is_checked(row: Mapping[str, Any]) -> None:
    result, bodies = run(completion(row["input"]["reply"]), output_schema=row["input"]["output_schema"])
    assert (result.value, len(bodies)) == ({"a": 1}, 1)


@pytest.mark.parametrize("row", rows("model.tool_name"))
def test_a_reported_name_means_the_tool(row: Mapping[str, Any]) -> None:
    result = run_agent([calls((row["input"]["name"], {"city": "Oslo"})), says("done")], tools=[weather])
    assert (result.steps[0].action, result.steps[0].executed) == (row["expected"]["runs"], True)


NAMES = ["weather\n", "functions.weather", "default_api.weather", "function:weather", "tools/weather", "weather()"]


@pytest.mark.parametrize("name", NAMES)
def test_a_dressed_up_name_means_the_tool(name: str) -> None:
    result = run_agent([calls((name, {"city": "Oslo"})), says("done")], tools=[weather])
    assert (result.steps[0].action, result.steps[0].executed, result.success) == ("weather", True, True)


@pytest.mark.parametrize("name", ["Weather", "weather2", "other.weather", "weather weather", "functions."])
def test_a_name_that_is_only_near_is_not_run(name: str) -> None:
    result = run_agent([calls((name, {"city": "Oslo"})), says("done")], tools=[weather])
    assert not result.steps[0].executed


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("edit_file", ""), ("write_file", ""), ("set_weather", ""),
        ("raed_file", "read_file"), ("readfile", "read_file"), ("get_wether", "get_weather"), ("ReadFile", "read_file"),
    ],
)  # fmt: skip
def test_no_hint_names_a_tool_that_does_something_else(name: str, meant: str) -> None:
    said = unknown_tool(name, ["read_file", "get_weather"])
    assert said.endswith(f" Did you mean '{meant}'?" if meant else "Available tools: read_file, get_weather.")


def test_the_history_holds_the_name_of_the_tool() -> None:
    _, bodies = run(called(" weather ", city="Oslo"), completion("done"))
    assert bodies[1]["messages"][-2]["tool_calls"][0]["function"]["name"] == "weather"


@pytest.mark.parametrize("row", rows("model.errors"))
def test_a_reported_error_is_asked_again_or_ends_as_refused(row: Mapping[str, Any]) -> None:
    given = refusal(row["input"]["status"], row["input"]["body"])
    result, bodies = run(given, called("weather", city="Oslo"), completion("done"))
    assert (result.stop_reason, len(bodies)) == (row["expected"]["stop_reason"], row["expected"]["requests"])


GROQ = [
    {"error": {"code": "tool_use_failed", "message": "Failed to call a function. Please adjust your prompt."}},
    {"error": {"type": "invalid_request_error", "message": "Tool call validation failed: tool call is not JSON"}},
    {"message": "cannot be used", "code": "wrong_api_format"},
    {"error": {"type": "invalid_request_error", "message": "invalid tool call arguments"}},
]


@pytest.mark.parametrize("body", GROQ)
def test_a_call_that_the_provider_could_not_read_is_asked_for_again(body: Any) -> None:
    result, bodies = run(refusal(400, body), called("weather", city="Oslo"), completion("done"))
    assert (result.success, len(bodies)) == (True, 3)


FILTERED = [{"error": {"code": "content_filter", "message": "The prompt triggered the content management policy."}}]


@pytest.mark.parametrize("body", FILTERED)
def test_a_content_filter_that_answers_400_ends_the_run_as_refused(body: Any) -> None:
    result, bodies = run(refusal(400, body))
    assert (result.stop_reason, result.success, len(bodies), result.usage.cost) == ("refused", False, 1, 0.0)


@pytest.mark.parametrize("row", rows("model.settings"))
def test_a_reported_parameter_is_left_out(row: Mapping[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    given = row["input"]
    refused = refusal(given["status"], given["body"])
    _, bodies = run(refused, completion("done"), model={"temperature": given["temperature"]})
    assert ["temperature" in body for body in bodies] == row["expected"]["sent"]
    assert row["expected"]["note"] in caplog.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"message": "Unsupported parameter: 'temperature' is not supported with this model."}, "temperature"),
        ({"message": "`temperature` is deprecated for this model."}, "temperature"),
        ({"message": "Unrecognized request argument supplied: top_k"}, "top_k"),
        ({"message": "Extra inputs are not permitted: top_k"}, "top_k"),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_and_remembered(
    body: Mapping[str, Any], field: str, caplog: pytest.LogCaptureFixture
) -> None:
    result, bodies = run(
        refusal(400, {"error": body}),
        called("weather", city="Oslo"),
        completion("done"),
        model={"temperature": 0, "settings": {"top_k": 4}},
    )
    assert result.answer == "done"
    assert [field in body for body in bodies] == [True, False, False]
    assert result.usage.requests == 3
    assert f"refuses {field}" in caplog.text


def test_a_limit_is_sent_under_its_other_name_where_one_is_refused() -> None:
    said = {
        "error": {"code": "unsupported_parameter", "param": "max_tokens", "message": "Use 'max_completion_tokens'."}
    }
    _, bodies = run(refusal(400, said), completion("done"), model={"max_tokens": 9})
    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in bodies] == [(9, None), (None, 9)]


@pytest.mark.parametrize("param", ["tools", "messages", "model", "other"])
def test_what_we_did_not_set_is_not_left_out(param: str) -> None:
    said = {"error": {"code": "unsupported_value", "param": param, "message": f"bad {param}"}}
    with pytest.raises(ModelError, match="unsupported_value"):
        run(refusal(400, said), model={"temperature": 0})


def test_a_parameter_that_is_refused_again_ends_the_run() -> None:
    said = {"error": {"code": "unsupported_value", "param": "temperature", "message": "no"}}
    with pytest.raises(ModelError):
        run(refusal(400, said), model={"temperature": 0})


@pytest.mark.parametrize("row", rows("model.ids"))
def test_a_made_up_id_is_one_that_every_provider_accepts(row: Mapping[str, Any]) -> None:
    cities = ("Oslo", "Rome", "Bonn")
    replies = [called("weather", given, city=city) for given, city in zip(row["input"]["ids"], cities, strict=True)]
    _, bodies = run(*replies, completion("done"))
    ids = [call["id"] for message in bodies[-1]["messages"] for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)
    assert [each not in row["input"]["ids"] for each in ids] == row["expected"]["made_up"]
    made = [each for each, own in zip(ids, row["expected"]["made_up"], strict=True) if own]
    assert all(re.fullmatch(row["expected"]["pattern"], each) for each in made)


@pytest.mark.parametrize("number", [1, 99_999, 100_000, 10**9])
def test_numbered_ids_have_one_length(number: int) -> None:
    assert re.fullmatch("[a-z0-9]{9}", numbered_id(number))
    assert numbered_id(number) != numbered_id(number + 1)


def test_ids_of_another_provider_become_portable() -> None:
    assert portable_id("abcDEF123") == "abcDEF123"
    assert re.fullmatch("[a-z0-9]{9}", portable_id("toolu_01A09q90qw90lq917835lq9"))
    assert portable_id("x") == portable_id("x") != portable_id("y")


@pytest.mark.parametrize("row", rows("model.stream"))
@pytest.mark.parametrize("cut", [0, 1, 2, 3, 10])
def test_a_byte_order_mark_before_a_stream_is_skipped(row: Mapping[str, Any], cut: int) -> None:
    body = completion("done")
    chunk = {"choices": [{"index": 0, "delta": {"content": "done"}, "finish_reason": "stop"}], "usage": body["usage"]}
    data = row["input"]["before"].encode() + sse([chunk])
    steps: list[bytes | float | str] = [data[:cut], 0.02, data[cut:]] if cut else [data]
    result, bodies = run(Raw(steps=steps, headers={"Content-Type": "text/event-stream"}))
    assert (result.answer, len(bodies)) == (row["expected"]["answer"], row["expected"]["requests"])


def test_the_refused_field_is_known_from_the_body() -> None:
    error = failure(400, {"error": {"code": "unsupported_value", "param": "top_p"}}, provider="x")
    assert (error.code, error.parameter, error.retryable) == ("unsupported_parameter", "top_p", False)
