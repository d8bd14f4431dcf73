"""Models in reserve: when they are asked, and that a run stays with the one it has reached."""

from __future__ import annotations

import asyncio
import gc

import pytest
from tests.models.cases import Json
from tests.models.stub_server import Raw, StubServer, as_chunks, completion, sse

from react_run import Message, ModelError, ModelRequest, ModelResponse, ReActAgent, ScriptedModel, TextDelta
from react_run.models.base import Model
from react_run.models.fallback import FallbackModel
from react_run.models.openai import OpenAIModel
from react_run.models.stack import model_stack
from react_run.models.text_protocol import TextProtocolModel
from react_run.policies.model_retries import ModelRetries

PERMANENT = {"error": {"status": 401, "message": "no key"}}
PASSING = {"error": {"status": 503, "message": "busy"}}
OVERFLOW = {"error": {"status": 400, "code": "context_overflow", "message": "too long"}}


def scripted(*replies: object) -> ScriptedModel:
    return ScriptedModel(replies=list(replies), scope="agent")


def ask(run_id: str = "r", *messages: Message) -> ModelRequest:
    return ModelRequest(messages=list(messages) or [Message(role="user", content="Hello?")], run_id=run_id)


def test_a_permanent_error_brings_in_the_next_model_and_the_run_stays_there() -> None:
    first, second = scripted(PERMANENT), scripted("from the second")
    model = FallbackModel(models=[first, second])
    for _ in range(2):
        assert asyncio.run(model.complete(ask())).text == "from the second"
    assert (len(first.requests), len(second.requests)) == (1, 2)
    asyncio.run(model.complete(ask("another run")))
    assert len(first.requests) == 2


def test_transient_errors_are_left_to_the_retry_policy_until_it_would_give_up() -> None:  # S6
    first, second = scripted(PASSING), scripted("ok")
    result = ReActAgent({}, model=FallbackModel(models=[first, second]), plugins=[ModelRetries(first_wait=0)]).run_sync(
        "go"
    )
    assert (result.answer, len(first.requests), len(second.requests)) == ("ok", 4, 1)


def test_a_success_between_failures_starts_the_count_anew() -> None:
    first, second = scripted(PASSING, "one", PASSING, "two"), scripted("never")
    model = FallbackModel(models=[first, second], attempts=2)

    async def run() -> list[str]:
        answers = []
        for _ in range(4):
            try:
                answers.append((await model.complete(ask())).text)
            except ModelError:
                answers.append("failed")
        return answers

    assert asyncio.run(run()) == ["failed", "one", "failed", "two"]


def test_outside_a_run_nobody_retries_so_the_next_model_is_asked_at_once() -> None:
    assert asyncio.run(FallbackModel(models=[scripted(PASSING), scripted("ok")]).complete(ask(""))).text == "ok"


def test_an_overflow_may_be_compacted_once_before_another_model_is_asked() -> None:  # S6
    model = FallbackModel(models=[scripted(OVERFLOW), scripted("ok")])
    with pytest.raises(ModelError, match="too long"):
        asyncio.run(model.complete(ask()))
    assert asyncio.run(model.complete(ask())).text == "ok"


def test_the_last_error_ends_it_when_all_have_failed() -> None:
    last = {"error": {"status": 404, "message": "no such model"}}
    with pytest.raises(ModelError, match="no such model"):
        asyncio.run(FallbackModel(models=[scripted(PERMANENT), scripted(last)]).complete(ask()))


def test_what_one_provider_signed_is_not_sent_to_another() -> None:  # L5
    ours = {"thinking_blocks": [{"type": "thinking", "thinking": "a", "signature": "one"}]}
    theirs = {"thinking_blocks": [{"type": "thinking", "thinking": "b", "signature": "two"}]}
    second = scripted({"text": "x", "extra": theirs})
    model = FallbackModel(models=[scripted(PERMANENT), second])
    messages = [
        Message(role="user", content="go"),
        Message(role="assistant", content="x", extra=ours),
        Message(role="user", content="on"),
    ]
    answer = asyncio.run(model.complete(ask("r", *messages)))
    asyncio.run(model.complete(ask("r", *messages, answer.message, Message(role="user", content="on"))))
    assert [dict(message.extra) for message in second.requests[-1].messages if message.role == "assistant"] == [
        {},
        theirs,
    ]


def test_a_stream_that_fails_before_its_first_word_goes_on_with_the_next_model() -> None:  # L10
    async def run() -> list[object]:
        model = FallbackModel(models=[scripted(PERMANENT), scripted("two words")])
        return [item async for item in model.stream(ask())]

    *draft, response = asyncio.run(run())
    assert draft == [TextDelta(text="two"), TextDelta(text=" words")]
    assert isinstance(response, ModelResponse)


def test_a_stream_that_fails_in_the_middle_is_tried_again_with_the_next_model() -> None:
    begun = sse(as_chunks(completion("half an "))[:1], done=False)
    error = b'data: {"error": {"type": "authentication_error", "message": "revoked"}}\n\n'
    broken = Raw(headers={"content-type": "text/event-stream"}, steps=[begun, error], chunked=True)

    async def run(model: Model) -> list[object]:
        drafts = []
        with pytest.raises(ModelError, match="revoked") as raised:  # noqa: PT012  # the stream is the statement
            async for item in model.stream(ask()):
                drafts.append(item)  # noqa: PERF401  # it must be kept up to the error
        assert raised.value.retryable
        assert drafts == [TextDelta(text="half an ")]
        return [item async for item in model.stream(ask())]

    with StubServer([broken]) as server:
        model = FallbackModel(models=[OpenAIModel(model="m", base_url=server.url), scripted("whole")], attempts=1)
        assert asyncio.run(run(model))[0] == TextDelta(text="whole")


def test_models_are_opened_and_closed_together_and_the_smallest_window_counts() -> None:  # S7
    with StubServer() as server:
        models: list[Model] = [OpenAIModel(model="m", base_url=server.url, context_window=n) for n in (9000, 8000)]

        async def run() -> None:
            model = FallbackModel(models=models)
            assert (model.context_window, model.name) == (8000, "m")
            await model.open()
            await model.complete(ask())
            await model.close()

        asyncio.run(run())
        gc.collect()
        assert server.wait_until_closed()


def test_places_of_finished_runs_are_forgotten() -> None:
    model = FallbackModel(models=[scripted("x")])

    async def run() -> None:
        for number in range(3000):
            await model.complete(ask(f"r{number}"))

    asyncio.run(run())
    assert len(model._places) <= 1024


STACKS: list[tuple[Json, list[type[Model]]]] = [
    ({"tool_protocol": "auto"}, [ScriptedModel, TextProtocolModel]),
    ({"tool_protocol": "native"}, [ScriptedModel, OpenAIModel]),
    ({"tool_protocol": "text"}, [TextProtocolModel, TextProtocolModel]),
]


@pytest.mark.parametrize(("options", "kinds"), STACKS)
def test_a_stack_puts_the_protocol_around_each_and_the_fallbacks_around_all(
    options: Json, kinds: list[type[Model]]
) -> None:  # H5
    remote = OpenAIModel(model="m", base_url="http://localhost:1/v1")
    stack = model_stack(scripted("x"), [remote], **options)
    assert isinstance(stack, FallbackModel)
    assert [type(model) for model in stack.models] == kinds
    assert type(model_stack(scripted("x"), **options)) is kinds[0]
