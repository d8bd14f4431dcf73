"""Provider data in: every known quirk, streamed or not, cut anywhere, and thousands of unknown ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain

import httpx
import pytest
from tests.models.cases import TOOLS, Case, Json, cases, codes, expanded
from tests.models.expectations import kind_of
from tests.models.fuzz import mutants
from tests.models.stub_server import as_chunks, completion

from react_run import ModelError, ModelResponse
from react_run.messages import CALL_FIELDS
from react_run.models.draft import Draft
from react_run.models.failures import failure, mask
from react_run.models.provider import UNNAMED, StreamAssembler, parse_response
from react_run.models.reply import decode, transport_error
from react_run.models.sse import LONGEST_EVENT, EventDecoder, EventTooLarge
from react_run.models.wire import message_json

NAMES = {"provider": "stub", "model": "stub/model"}


def read(case: Case) -> ModelResponse:
    """The response of a case, or the error, as a client would raise it."""
    data = expanded(case.input)
    if case.mode == "response":
        return parse_response(data, **NAMES)
    assembler = StreamAssembler(**NAMES)
    for chunk in data:
        if "__raise__" in chunk:
            if not assembler.finished:
                error = transport_error(httpx.ReadError(chunk["message"]), "stub", {})
                assert error is not None
                raise error
        elif "__raw__" in chunk:
            decoder = EventDecoder()
            for event in [*decoder.feed(chunk["__raw__"].encode()), *decoder.finish()]:
                assembler.feed(decode(event, "stub"))
        else:
            assembler.feed(chunk)
    return assembler.finish()


def result_of(reading: Callable[[], ModelResponse]) -> ModelResponse | ModelError:
    try:
        return reading()
    except ModelError as error:
        return error


def prepared(case: Case, response: ModelResponse) -> dict[str, tuple[str, object, str]]:
    """For each request: its name, the arguments it would run with, and the problem that keeps it from running."""
    found: dict[str, tuple[str, object, str]] = {}
    for request in response.message.tool_requests:
        if response.finish_reason == "length":
            found[request.id] = (request.name, None, "the reply was cut off")
        elif request.name not in case.tools:
            found[request.id] = (request.name, None, f"unknown tool {request.name}, there are {case.tools}")
        else:
            ready = TOOLS[request.name].prepare(request.arguments)
            found[request.id] = (request.name, ready.arguments, ready.problem)
    return found


@pytest.mark.parametrize("case", cases("response", "stream"), ids=lambda case: case.name)
def test_what_a_provider_sends_is_read_as_meant(case: Case) -> None:  # A5, A5b, H1, H3, L5, L10
    expect = case.expect
    response = result_of(lambda: read(case))
    if isinstance(response, ModelError):
        assert expect["outcome"] in ("error", "retry"), response
        assert response.code in codes(expect["error"]["kind"])
        assert response.retryable == expect["error"]["retryable"]
        return
    if case.name == "name_with_control_tokens":
        return  # what is written round the name of a tool is taken off by the run, which knows the names
    calls = prepared(case, response)
    ready = {call_id: call for call_id, call in calls.items() if not call[2]}
    if expect["outcome"] in ("execute", "feedback"):
        wanted = [(call["name"], call["args"]) for call in expect["calls"]]
        assert [(name, arguments) for name, arguments, _ in ready.values()] == wanted
        assert all(call["id"] in ("*", key) for call, key in zip(expect["calls"], ready, strict=True))
        assert len(calls) == len(wanted) + len(expect.get("results", ()))
        for result in expect.get("results", ()):
            assert all(word in calls[result["id"]][2] for word in result["contains"])
    elif expect["outcome"] in ("final", "cut"):
        assert not calls
        assert response.finish_reason == ("length" if "truncated" in expect.get("flags", ()) else "stop")
    else:  # refused, or an empty turn: the loop asks again, or ends with its reason (S3, A5b)
        assert kind_of(response) in codes(expect["error"]["kind"])
        assert not calls
    if "text" in expect:
        assert response.text == expect["text"]
    check_usage(expect, response)
    check_replay(expect, response)


def check_usage(expect: Json, response: ModelResponse) -> None:
    if "usage" in expect:
        wanted = expect["usage"] or {"input": None, "output": None}
        assert (response.usage.input_tokens, response.usage.output_tokens) == (wanted["input"], wanted["output"])
    assert response.usage.requests == 1


def check_replay(expect: Json, response: ModelResponse) -> None:
    """What goes back to the provider on this message (L5)."""
    sent: Json = message_json(response.message)
    if "reasoning" in expect:
        assert sent["reasoning_content"] == expect["reasoning"]
    if "replay" in expect:
        assert sent.get("thinking_blocks", []) == expect["replay"]["thinking_blocks"]
    for request in sent.get("tool_calls") or ():
        assert isinstance(json.loads(request["function"]["arguments"]), dict)
        assert len(request["function"]["arguments"]) <= 2**20


@pytest.mark.parametrize("case", [c for c in cases("error") if "status" in c.input], ids=lambda case: case.name)
def test_an_error_status_says_what_to_do_about_it(case: Case) -> None:  # S6
    sent = case.input
    if sent["status"] == 200:
        with pytest.raises(ModelError) as raised:
            decode(sent["body"].encode(), "stub")
        error = raised.value
    else:
        error = failure(sent["status"], sent["body"], sent["headers"], provider="stub")
    assert error.code in codes(case.expect["error"]["kind"])
    assert error.retryable == case.expect["error"]["retryable"]
    assert all(word not in f"{error} {error!r}" for word in case.expect.get("never", ()))


@pytest.mark.parametrize("case", [c for c in cases("error") if "httpx" in str(c.input)], ids=lambda case: case.name)
def test_a_broken_connection_is_typed(case: Case) -> None:  # S6
    kind = getattr(httpx, case.input["exception"].removeprefix("httpx."))
    error = transport_error(kind(case.input["message"]), "stub", {})
    assert error is not None
    assert error.code in codes(case.expect["error"]["kind"])
    assert error.retryable == case.expect["error"]["retryable"]
    assert len(str(error)) > 20


RETRY_AFTER = [
    ({"retry-after": "7"}, 7.0, True),
    ({"retry-after": "0.5"}, 0.5, True),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, True),
    ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0, True),
    ({"retry-after": "soon"}, None, True),
    ({"retry-after": "-3"}, None, True),
    ({"retry-after": "nan"}, None, True),
    ({"retry-after": "121"}, 121.0, False),
    ({"x-should-retry": "false"}, None, False),
    ({}, None, True),
]


@pytest.mark.parametrize(("headers", "wait", "retryable"), RETRY_AFTER)
def test_the_provider_says_how_long_to_wait(headers: dict[str, str], wait: float | None, retryable: bool) -> None:  # S6
    error = failure(429, {"error": "slow down"}, headers, provider="stub")
    assert (error.retry_after, error.retryable) == (wait, retryable)


SAID = [
    (400, {"error": {"message": "maximum context length is 8192 tokens", "code": "x"}}, "context_overflow"),
    (400, {"error": {"code": "context_length_exceeded", "message": "too big"}}, "context_overflow"),
    (400, "the request exceeds the available context size. try increasing it", "context_overflow"),
    (400, {"error": {"message": "input length and `max_tokens` exceed context limit"}}, "context_overflow"),
    (
        400,
        [{"error": {"message": "The input token count (9) exceeds the maximum number of tokens"}}],
        "context_overflow",
    ),
    (400, {"error": {"message": "registry.ollama.ai/library/x does not support tools"}}, "no_tools"),
    (404, {"error": {"message": "No endpoints found that support tool use."}}, "no_tools"),
    (400, {"message": '"auto" tool choice requires --enable-auto-tool-choice'}, "no_tools"),
    (500, {"error": {"message": "tools param requires --jinja flag"}}, "no_tools"),
    (400, {"error": {"message": "Function calling is not enabled for models/gemma"}}, "no_tools"),
    (422, {"detail": [{"msg": "field required"}, {"msg": "wrong type"}]}, "invalid_request"),
    (429, {"error": {"message": "Request too large: context window tokens per minute"}}, "rate_limit"),
    (402, {"error": {"message": "no credit"}}, "quota"),
    (408, "", "timeout"),
    (500, "<html>oops</html>", "server"),
    (503, {"error": "busy"}, "overloaded"),
    (529, {}, "overloaded"),
    (599, None, "server"),
    (418, {"error": {"type": "teapot"}}, "invalid_request"),
    (307, "", "redirect"),
    (None, {"error": {"type": "rate_limit_error", "message": "x"}}, "rate_limit"),
    (None, {"error": {"code": "429", "message": "x"}}, "rate_limit"),
    (None, {"error": {"message": "something"}}, "server"),
]


@pytest.mark.parametrize(("status", "body", "code"), SAID)
def test_errors_are_told_apart_by_status_code_and_words(status: int | None, body: object, code: str) -> None:  # S6
    assert failure(status, body, provider="stub").code == code


def test_an_error_message_is_one_bounded_line_without_secrets() -> None:  # J2
    said = f"key my-own-secret or sk-abcdef1234567890\nBearer abc.def.ghi AIza{'x' * 30}\x1b[2J " + "y" * 5000
    shown = mask(said, ["my-own-secret"])
    assert len(shown) <= 500
    assert shown.isprintable()
    assert not any(word in shown for word in ("my-own-secret", "abcdef1234567890", "abc.def", "xxxx"))


def test_ids_that_the_conversation_used_already_are_replaced() -> None:  # L5
    body = completion(None, tool_calls=[call("call_1"), call("x"), call("x"), call(None)])
    ids = [r.id for r in parse_response(body, **NAMES, taken={"x", "call_3"}).message.tool_requests]
    assert ids[0] == "call_1"
    assert len({*ids, "x", "call_3"}) == 6
    assert ids == [r.id for r in parse_response(body, **NAMES, taken={"x", "call_3"}).message.tool_requests]


def test_a_replaced_id_takes_the_fields_of_its_call_along() -> None:  # L5
    signed = {**call("x"), "extra_content": {"google": {"thought_signature": "c2ln"}}}
    message = parse_response(completion(None, tool_calls=[signed, call("y")]), **NAMES, taken={"x"}).message
    fresh = message.tool_requests[0].id
    assert fresh != "x"
    assert message.extra[CALL_FIELDS] == {fresh: {"extra_content": signed["extra_content"]}}
    sent: Json = message_json(message)
    assert [c.get("extra_content") for c in sent["tool_calls"]] == [signed["extra_content"], None]
    assert CALL_FIELDS not in sent


def test_a_refusal_runs_nothing() -> None:  # S3
    body = completion("no", finish_reason="content_filter", tool_calls=[call("x")])
    response = parse_response(body, **NAMES)
    assert (response.finish_reason, response.message.tool_requests) == ("content_filter", ())


def test_a_call_without_a_name_stays_a_call() -> None:  # H1
    body = completion(None, tool_calls=[{"id": "a", "function": {"arguments": "{}"}}])
    assert [r.name for r in parse_response(body, **NAMES).message.tool_requests] == [UNNAMED]


SPELLINGS: dict[str, list[Json]] = {
    "length": ["MAX_TOKENS", "max_tokens", "length", "model_length", "max_output_tokens"],
    "content_filter": ["SAFETY", "content_filter", "guardrail_intervened"],
    "stop": ["end_turn", "STOP", "eos", "", None, 7, "whatever"],
}


@pytest.mark.parametrize(("reason", "word"), [(reason, word) for reason, words in SPELLINGS.items() for word in words])
def test_finish_reasons_are_known_in_all_spellings(reason: str, word: str) -> None:  # A5b
    assert parse_response(completion("x", finish_reason=word), **NAMES).finish_reason == reason


def test_cached_reasoning_and_cost_are_counted_wherever_they_stand() -> None:  # H3, L8
    bodies: list[Json] = [
        {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}, "cost": 0.5},
        {"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 3, "cost": 0.5},
        {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 3, "cost": 0.5},
    ]
    for usage in bodies:
        found = parse_response({**completion("x"), "usage": usage}, **NAMES).usage
        assert (found.input_tokens, found.output_tokens, found.cached_tokens, found.cost) == (9, 4, 3, 0.5)
    unknown = parse_response({**completion("x"), "usage": {"cost": -1, "prompt_tokens": float("nan")}}, **NAMES).usage
    assert (unknown.cost, unknown.input_tokens) == (None, None)


def test_content_parts_are_joined_and_unknown_ones_kept() -> None:  # H1
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        7,
        {"type": "output_text", "text": "b"},
    ]
    message = parse_response(completion(parts), **NAMES).message  # type: ignore[arg-type]  # providers send lists, too
    assert message.text == "ab"
    assert message.content == [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ab"}]
    assert parse_response(completion([{"text": "a"}, {"text": "b"}]), **NAMES).message.content == "ab"  # type: ignore[arg-type]


def test_prose_that_looks_like_a_call_is_no_call() -> None:  # H1
    assert not parse_response(completion('{"tool_calls": [{"name": "now"}]}'), **NAMES).message.tool_requests


# -- streaming ---------------------------------------------------------------------------------------------------------


def call(call_id: object, arguments: str = '{"city": "Paris"}', name: str = "get_weather") -> dict[str, Json]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


RICH = completion(
    "Grüße 🍸 — two things.",
    finish_reason="tool_calls",
    tool_calls=[call("a"), {**call("b", '{"a": 1, "b": "🍸"}', "add"), "extra_content": {"signature": "c2ln"}}],
    reasoning_content="first I think 🤔",
    thinking_blocks=[
        {"type": "thinking", "thinking": "plan it", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "x"},
    ],
    reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "plan it", "signature": "c2ln"}],
)


def test_a_stream_cut_anywhere_gives_what_not_streaming_gives() -> None:  # L10
    whole = parse_response(RICH, **NAMES)
    for seed in range(300):
        chooser = random.Random(seed)
        assembler = StreamAssembler(**NAMES)
        draft = "".join(assembler.feed(chunk) for chunk in shredded(RICH, chooser))
        response = assembler.finish()
        assert response == whole, seed
        assert draft == whole.text, seed


def shredded(body: Mapping[str, Json], chooser: random.Random) -> list[Json]:
    """``body`` as a stream: texts cut at random, inside characters too, parallel calls interleaved."""
    message = body["choices"][0]["message"]
    lanes: list[list[Json]] = [
        [{"content": piece} for piece in halves(message["content"], chooser)],
        [{"reasoning_content": piece} for piece in pieces(message["reasoning_content"], chooser)],
        [
            {"thinking_blocks": [block]}
            for each in message["thinking_blocks"]
            for block in cut(each, "thinking", "signature", chooser)
        ],
        [
            {"reasoning_details": [b]}
            for d in message["reasoning_details"]
            for b in cut(d, "text", "signature", chooser)
        ],
    ]
    indexed = chooser.random() < 0.7
    call_lanes = [call_pieces(n, each, indexed, chooser) for n, each in enumerate(message["tool_calls"])]
    lanes += call_lanes if indexed else [list(chain(*call_lanes))]
    deltas = [{"role": "assistant"}]
    if indexed:  # the order of indexes, not of arrival, is the order of the calls
        chooser.shuffle(lanes)
    while lanes := [lane for lane in lanes if lane]:
        deltas.append(chooser.choice(lanes).pop(0))
    chunks: list[Json] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": body["choices"][0]["finish_reason"]}]})
    chunks.insert(chooser.randrange(len(chunks)), {"choices": [], "usage": {"prompt_tokens": 1}})
    chunks.append({"choices": [], "usage": body["usage"]})
    return [{"id": body["id"], "model": body["model"], **chunk} for chunk in chunks]


def pieces(text: str, chooser: random.Random) -> list[str]:
    cuts = sorted(chooser.randrange(len(text) + 1) for _ in range(chooser.randrange(5)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def halves(text: str, chooser: random.Random) -> list[str]:
    """Cut anywhere, between the two halves of a surrogate pair as well, as JSON escapes can be."""
    units = text.encode("utf-16-le")
    cuts = sorted(2 * chooser.randrange(len(units) // 2 + 1) for _ in range(chooser.randrange(6)))
    return [
        units[a:b].decode("utf-16-le", "surrogatepass") for a, b in zip([0, *cuts], [*cuts, len(units)], strict=True)
    ]


def cut(block: Json, text_key: str, sign_key: str, chooser: random.Random) -> list[Json]:
    if text_key not in block:
        return [block]
    rest = {key: value for key, value in block.items() if key not in (text_key, sign_key)}
    parts: list[Json] = [{**rest, text_key: piece} for piece in pieces(block[text_key], chooser)]
    return [*parts, {**rest, sign_key: block[sign_key]}]


def call_pieces(index: int, whole: Json, indexed: bool, chooser: random.Random) -> list[Json]:
    place = {"index": index} if indexed else {}
    first, *others = pieces(whole["function"]["arguments"], chooser)
    head = {**place, **whole, "function": {"name": whole["function"]["name"], "arguments": first or None}}
    tail = [{**place, "function": {"arguments": piece}} for piece in others]
    if not indexed and chooser.random() < 0.5:
        tail = [{**piece, "id": whole["id"]} for piece in tail]
    return [{"tool_calls": [piece]} for piece in [head, *tail]]


def test_servers_that_number_every_call_zero_are_understood() -> None:  # L10
    chunks = [{"choices": [{"delta": {"tool_calls": [{"index": 0, **call(name, "{}", name)}]}}]} for name in "abc"]
    assert [c["function"]["name"] for c in merged(chunks)["tool_calls"]] == ["a", "b", "c"]
    nameless: list[Json] = [
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": name, "arguments": part}}]}}]}
        for name, part in [("a", '{"x"'), ("a", ": 1}"), ("a", "{}"), ("b", "")]
    ]
    found = [(c["function"]["name"], c["function"]["arguments"]) for c in merged(nameless)["tool_calls"]]
    assert found == [("a", '{"x": 1}'), ("a", "{}"), ("b", "")]


def merged(chunks: list[Json]) -> Json:
    draft = Draft()
    for chunk in chunks:
        draft.feed(chunk)
    body: Json = draft.body()
    return body["choices"][0]["message"]


def test_a_server_that_sends_one_whole_message_as_its_stream_is_understood() -> None:  # L10
    assembler = StreamAssembler(**NAMES)
    assert assembler.feed(RICH) == RICH["choices"][0]["message"]["content"]
    assert assembler.finish() == parse_response(RICH, **NAMES)


def test_events_are_found_wherever_their_bytes_are_cut() -> None:  # L10
    text = ': hello\r\n\r\nevent: x\r\ndata: {"a":\r\ndata: "ü"}\r\n\r\ndata:[DONE]\n\ndata: last'.encode()
    wanted = ['{"a":\n"ü"}'.encode(), b"[DONE]", b"last"]
    for size in range(1, len(text) + 1):
        decoder = EventDecoder()
        found = [e for at in range(0, len(text), size) for e in decoder.feed(text[at : at + size])]
        assert [*found, *decoder.finish()] == wanted, size


def test_an_endless_event_is_refused() -> None:
    decoder = EventDecoder()
    with pytest.raises(EventTooLarge):
        decoder.feed(b"data: " + b"x" * (LONGEST_EVENT + 1))


def test_nested_without_end_is_no_json() -> None:
    with pytest.raises(ModelError) as raised:
        decode(b"[" * 200_000, "stub")
    assert (raised.value.code, raised.value.retryable) == ("bad_response", True)


# -- what nobody has seen yet ------------------------------------------------------------------------------------------


def test_twenty_thousand_mutants_of_the_cases_crash_nothing(
    record_property: Callable[[str, object], None],
) -> None:
    record_property("faults", 20_000)
    seeds = [(case.mode, expanded(case.input)) for case in cases("response", "stream") if "two_mega" not in case.name]
    outcomes = {"reply": 0, "error": 0}
    for number, (mode, mutant) in enumerate(mutants(seeds, 20_000, seed=20_261)):
        response = result_of(partial(read_anything, mode, mutant))
        if isinstance(response, ModelError):
            outcomes["error"] += 1
            assert response.code, number
            assert str(response).isprintable(), number
        else:
            outcomes["reply"] += 1
            check_invariants(response, number)
    assert min(outcomes.values()) > 1000, outcomes


def read_anything(mode: str, document: Json) -> ModelResponse:
    if mode == "response":
        return parse_response(document, **NAMES, taken={"call_1"})
    assembler = StreamAssembler(**NAMES, taken={"call_1"})
    for chunk in document if isinstance(document, list) else [document]:
        assembler.feed(chunk)
    return assembler.finish()


def check_invariants(response: ModelResponse, number: int) -> None:
    assert response.finish_reason in ("stop", "tool_calls", "length", "refusal", "content_filter"), number
    ids = [request.id for request in response.message.tool_requests]
    assert len({*ids, "call_1"}) == len(ids) + 1, number
    assert all(ids), number
    for request in response.message.tool_requests:
        assert request.name, number
        assert isinstance(request.arguments, dict | str), number
    usage = response.usage
    for count in (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens):
        assert count is None or (isinstance(count, int) and count >= 0), number
    sent = json.dumps(message_json(response.message), allow_nan=True)
    json.loads(sent)
    response.text.encode()


def test_chunks_of_a_body_are_that_body() -> None:
    """The stub server's own streams are right, or the tests that use them prove nothing."""
    assembler = StreamAssembler(**NAMES)
    for chunk in as_chunks(RICH):
        assembler.feed(chunk)
    assert assembler.finish() == parse_response(RICH, **NAMES)
