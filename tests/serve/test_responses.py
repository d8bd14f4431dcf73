"""OpenAI's Responses API, by the SDK and by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from tests.pictures import png
from tests.serve.running_server import Running, agent_file, calling, serving
from tests.serve.test_chat import requests_of

from react_run import ImagePart

USAGE = {"input_tokens": 7, "output_tokens": 2, "cost": 0.5}


@pytest.fixture
def running(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setenv("NO_PROXY", "*")
    one = agent_file(tmp_path, "one", [{"text": "It is 5.", "usage": USAGE}])
    two = agent_file(tmp_path, "two", [{"error": {"status": 400, "message": "bad"}}])
    limited = agent_file(tmp_path, "limited", [calling(("say", {"text": "x"}))], max_iterations=1)
    with serving(one, two, limited, home=home) as found:
        yield found


def test_the_sdk_asks_streams_and_goes_on(running: Running) -> None:
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as asks:
        first = asks.responses.create(model="one", input="What is 2+3?", instructions="Be short.")
        assert (first.output_text, first.status) == ("It is 5.", "completed")
        assert len(first.id) <= 50
        assert first.usage is not None
        assert (first.usage.input_tokens, first.usage.total_tokens) == (7, 9)
        again = asks.responses.create(model="one", input="And now?", previous_response_id=first.id)
        assert again.output_text == "It is 5."
        kept = asks.responses.retrieve(first.id)
        assert (kept.output_text, kept.status) == ("It is 5.", "completed")
        events = [*asks.responses.create(model="one", input="go", stream=True)]
        assert [event.type for event in events][::8] == ["response.created", "response.completed"]
        assert [event.sequence_number for event in events] == [*range(9)]
        with asks.responses.stream(model="one", input="go") as stream:
            assert stream.until_done().get_final_response().output_text == "It is 5."
        assert asks.responses.create(model="limited", input="go").status == "incomplete"
        with pytest.raises(openai.InternalServerError):
            asks.responses.create(model="two", input="go")
        assert [*asks.responses.create(model="two", input="go", stream=True)][-1].type == "response.failed"
    texts = [message.text for message in requests_of(running, "one")[1].messages if message.role != "system"]
    assert texts == ["What is 2+3?", "It is 5.", "And now?"]
    assert "Be short." in requests_of(running, "one")[0].messages[0].text


def test_lists_of_messages_and_parts_are_read(running: Running) -> None:
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
    picture = [
        {"type": "input_text", "text": "what?"},
        {"type": "input_image", "image_url": ImagePart(png()).url},
    ]
    for content in (parts, picture, "text"):
        given = [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": content}]
        answer = running.http.post("/v1/responses", json={"model": "one", "input": given})
        assert answer.status_code == 200, answer.text


BROKEN = "data:image/png;base64,AA"
WRONG: list[tuple[dict[str, object], int, str]] = [
    ({}, 400, "invalid_request"),
    ({"input": 5}, 400, "invalid_request"),
    ({"input": []}, 400, "invalid_request"),
    ({"input": " "}, 400, "invalid_request"),
    ({"input": [{"type": "function_call_output"}]}, 400, "unsupported_parameter"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": BROKEN}]}]}, 400, "invalid_request"),
    ({"input": [{"role": "wizard", "content": "x"}]}, 400, "invalid_request"),
    ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, 400, "unsupported_parameter"),
    ({"input": "x", "tools": [{"type": "web_search"}]}, 400, "unsupported_parameter"),
    ({"input": "x", "background": True}, 400, "unsupported_parameter"),
    ({"input": "x", "text": {"format": {"type": "json_schema"}}}, 400, "unsupported_parameter"),
    ({"input": "x", "previous_response_id": "resp_none"}, 404, "previous_response_not_found"),
    ({"input": "x", "previous_response_id": 5}, 400, "invalid_request"),
    ({"input": "x", "stream": "yes"}, 400, "invalid_request"),
    ({"input": "x", "instructions": 5}, 400, "invalid_request"),
    ({"input": "x", "model": "none"}, 404, "model_not_found"),
]


def test_wrong_requests_have_their_status_and_code(running: Running) -> None:
    for body, status, code in WRONG:
        answer = running.http.post("/v1/responses", json={"model": "one", **body})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), body
    assert running.http.get("/v1/responses/resp_none").status_code == 404
