"""Attachments on the wire: OpenAI's form from our own client, Anthropic's and Gemini's through LiteLLM."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode

import pytest
from tests.models.stub_server import Json, Raw, StubServer, completion
from tests.pictures import pdf, png

from react_run import FilePart, ImagePart, Message, ModelRequest, ToolRequest
from react_run.models.fallback import FallbackModel
from react_run.models.litellm import LiteLLMModel
from react_run.models.openai import OpenAIModel
from react_run.models.scripted import ScriptedModel

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:litellm", "ignore:(.*ReadOnly|Pydantic):UserWarning"
)

PHOTO, PAGE, ROWS = (
    ImagePart(png(), name="a.png"),
    FilePart(pdf(), name="page.pdf"),
    FilePart(b"a,b", "text/csv", "r.csv"),
)
DATA = b64encode(PHOTO.data).decode()
PAGE_DATA = b64encode(PAGE.data).decode()
KEY = "sk-key-0123456789"


def asking(*parts: object) -> ModelRequest:
    return ModelRequest(messages=[Message(role="user", content=[{"type": "text", "text": "What is it?"}, *parts])])  # type: ignore[list-item]


def after_tools() -> ModelRequest:
    requests = (ToolRequest(id="c1", name="look", arguments={}), ToolRequest(id="c2", name="count", arguments={}))
    return ModelRequest(
        messages=[
            Message(role="user", content="Look and count."),
            Message(role="assistant", tool_requests=requests),
            Message(role="tool", tool_request_id="c1", content=[{"type": "text", "text": "Taken."}, PHOTO]),
            Message(role="tool", tool_request_id="c2", content="3"),
        ]
    )


def reply(body: Json) -> Raw:
    data = json.dumps(body).encode()
    return Raw(headers={"content-type": "application/json"}, steps=[data], length=len(data))


def refused(status: int, message: str) -> Raw:
    data = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return Raw(status=status, headers={"content-type": "application/json"}, steps=[data], length=len(data))


def openai_at(server: StubServer, **options: Json) -> OpenAIModel:
    return OpenAIModel(model="stub", base_url=server.url, api_key=KEY, **options)


def complete(model: OpenAIModel | LiteLLMModel | FallbackModel, *requests: ModelRequest) -> None:
    async def run() -> None:
        async with asyncio.timeout(60):
            for request in requests:
                await model.complete(request)
        await model.close()

    asyncio.run(run())


def test_our_own_client_sends_openais_form() -> None:
    with StubServer() as server:
        complete(openai_at(server, reads=["image/*", "application/pdf"]), asking(PHOTO, PAGE, ROWS))
    content = server.requests[0].body["messages"][0]["content"]
    assert content[1] == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
    file = {"filename": "page.pdf", "file_data": f"data:application/pdf;base64,{PAGE_DATA}"}
    assert content[2] == {"type": "file", "file": file}
    assert content[3]["type"] == "text"
    assert "a,b" in content[3]["text"]


@pytest.mark.parametrize("explicit_cache", [False, True])
def test_images_of_tools_follow_the_results_of_the_whole_reply(explicit_cache: bool) -> None:
    with StubServer() as server:
        complete(openai_at(server, reads=["image/*"], explicit_cache=explicit_cache), after_tools())
    *_, first, second, behind = server.requests[0].body["messages"]
    assert (first["content"], second["tool_call_id"]) == ("Taken.", "c2")
    assert behind["role"] == "user"
    assert behind["content"][1]["image_url"]["url"].endswith(DATA)


def test_a_result_with_nothing_but_an_image_is_no_empty_text() -> None:
    first = after_tools()
    alone = Message(role="tool", tool_request_id="c1", content=[PHOTO])
    with StubServer() as server:
        messages = [*first.messages[:2], alone, *first.messages[3:]]
        complete(openai_at(server, reads=["image/*"]), ModelRequest(messages=messages))
    assert server.requests[0].body["messages"][2]["content"] == "(no output)"


def test_a_conversation_with_images_is_encoded_the_same_way_as_it_grows() -> None:
    first = after_tools()
    longer = [*first.messages, Message(role="assistant", content="ok"), Message(role="user", content="Again?")]
    with StubServer() as server:
        complete(
            openai_at(server, reads=["image/*"]),
            ModelRequest(messages=first.messages, run_id="r"),
            ModelRequest(messages=longer, run_id="r"),
        )
    before, after = (request.body["messages"] for request in server.requests)
    assert after[: len(before)] == before


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Invalid content type. image_url is only supported by certain models."),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (404, "No endpoints found that support image input"),
        (400, "stub is not a multimodal model"),
    ],
)
def test_a_model_that_turns_out_to_be_blind_gets_notes_from_then_on(status: int, words: str) -> None:
    with StubServer([refused(status, words), completion("I cannot see it."), completion("no")]) as server:
        complete(openai_at(server), asking(PHOTO), asking(PHOTO))
    assert len(server.requests) == 3
    for request in server.requests[1:]:
        assert "image/png" in json.dumps(request.body)
        assert "image_url" not in json.dumps(request.body)


def test_requests_under_way_together_all_get_notes_when_the_model_is_blind() -> None:
    blind = refused(400, "stub is not a multimodal model")

    async def together(model: OpenAIModel) -> None:
        await asyncio.gather(*(model.complete(asking(PHOTO)) for _ in range(3)))
        await model.close()

    def answer(body: Json) -> Raw | dict[str, Json]:
        return blind if "image_url" in json.dumps(body) else completion("I cannot see it.")

    with StubServer([answer]) as server:
        asyncio.run(together(openai_at(server)))
    assert len(server.requests) == 6


def test_known_models_say_what_they_read() -> None:
    assert LiteLLMModel(model="gemini/gemini-2.5-flash").can_read("image/png") is True
    assert OpenAIModel(model="gpt-4o").can_read("application/pdf") is True
    assert OpenAIModel(model="gpt-3.5-turbo").can_read("image/png") is False
    assert OpenAIModel(model="nobody-knows").can_read("image/png") is None
    assert OpenAIModel(model="gpt-3.5-turbo", reads=["image/*"]).can_read("image/webp") is True
    assert OpenAIModel(model="gpt-3.5-turbo").can_read("text/csv") is True


def test_a_blind_model_is_told_what_it_is_not_shown() -> None:
    with StubServer() as server:
        complete(openai_at(server, reads=[]), asking(PHOTO))
    text = server.requests[0].body["messages"][0]["content"][1]["text"]
    assert text.startswith(f"[attachment {PHOTO.label}: it is not shown here")


def test_each_model_of_a_fallback_gets_what_it_can_read() -> None:
    blind = ScriptedModel(replies=["from memory"])
    with StubServer([refused(401, "no")]) as server:
        complete(FallbackModel(models=[openai_at(server, reads=["image/*"]), blind]), asking(PHOTO))
    assert "image_url" in json.dumps(server.requests[0].body)
    assert "not shown here" in blind.requests[0].messages[0].text


ANTHROPIC = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "A dot."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 3},
}


def anthropic(request: ModelRequest) -> Json:
    with StubServer([reply(ANTHROPIC)], strict=False) as server:
        url = server.url.removesuffix("/v1")
        complete(LiteLLMModel(model="anthropic/claude-sonnet-4-5", base_url=url, api_key=KEY), request)
    return server.requests[0].body["messages"]


def test_anthropic_gets_images_and_documents_in_its_own_form() -> None:
    content = anthropic(asking(PHOTO, PAGE))[0]["content"]
    image = {"type": "base64", "media_type": "image/png", "data": DATA}
    assert {"type": content[1]["type"], "source": content[1]["source"]} == {"type": "image", "source": image}
    assert content[2]["type"] == "document"
    assert content[2]["source"] == {"type": "base64", "media_type": "application/pdf", "data": PAGE_DATA}


def test_anthropic_gets_images_of_tools_inside_their_results() -> None:
    results = anthropic(after_tools())[-1]["content"]
    assert [block["type"] for block in results] == ["tool_result", "tool_result"]
    inside = results[0]["content"]
    assert inside[0]["text"] == "Taken."
    assert inside[1]["source"]["data"] == DATA


GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "A dot."}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12},
}


def gemini(request: ModelRequest) -> Json:
    with StubServer([reply(GEMINI)], strict=False) as server:
        complete(LiteLLMModel(model="gemini/gemini-2.5-flash", base_url=server.url, api_key=KEY), request)
    return server.requests[0].body["contents"]


def test_gemini_gets_images_and_documents_as_inline_data() -> None:
    parts = gemini(asking(PHOTO, PAGE))[0]["parts"]
    inline = [part["inline_data"] for part in parts if "inline_data" in part]
    assert inline == [
        {"data": DATA, "mime_type": "image/png"},
        {"data": PAGE_DATA, "mime_type": "application/pdf"},
    ]


def test_gemini_gets_images_of_tools_behind_their_results() -> None:
    sent = json.dumps(gemini(after_tools())[-2:])
    assert sent.count("function_response") == 2
    assert DATA in sent
