"""A check for everything that a case of provider data can expect of a run: what has none fails its case."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from tests.case_checks import look, same
from tests.models.case_results import Seen, calls_sent, sent
from tests.models.cases import Json, codes, expanded
from tests.models.endings import flags_are, outcome_is, text_is

from react_run import Message, ModelError, ModelResponse, ReActStep, ToolRequest
from react_run.models.failures import failure

# -- tools -------------------------------------------------------------------------------------------------------------


def calls_are(seen: Seen, wanted: Sequence[Json]) -> None:
    done = [(request, step) for request, step in seen.answered() if step.executed and not step.failed]
    for call, (request, step) in zip(wanted, done, strict=True):
        look(CALL, call, request, step)


def id_is(request: ToolRequest, _: ReActStep, wanted: str) -> None:
    assert request.id  # L5
    assert wanted in ("*", request.id)  # a star stands for a fresh one


CALL: Mapping[str, Callable[[ToolRequest, ReActStep, Json], None]] = {
    "id": id_is,
    "name": lambda request, step, wanted: same([request.name, step.action], [wanted, wanted]),
    "args": lambda _, step, wanted: same(step.action_input, wanted),
}


def results_are(seen: Seen, wanted: Sequence[Json]) -> None:
    for result, (request, step) in zip(wanted, seen.answered(), strict=True):
        look(RESULT, result, seen, request, step)


def contains(seen: Seen, request: ToolRequest, step: ReActStep, wanted: Sequence[str]) -> None:
    for text in (step.observation, seen.told(request)):
        assert [words for words in wanted if words not in text] == [], text


RESULT: Mapping[str, Callable[[Seen, ToolRequest, ReActStep, Json], None]] = {
    "id": lambda _, request, step, wanted: id_is(request, step, wanted),
    "is_error": lambda _, __, step, wanted: same(step.failed, wanted),
    "contains": contains,
    "non_empty": lambda seen, request, _, wanted: same(bool(seen.told(request).strip()), wanted),  # T3
}


def echo_is_bounded(seen: Seen, most: int) -> None:  # A5
    assert most < len(json.dumps(expanded(seen.case.input)))  # or it bounds nothing
    assert all(len(seen.told(request)) <= most for request, _ in seen.answered())


def stored_arguments_are_bounded(seen: Seen, most: int) -> None:  # H2
    assert most < len(json.dumps(expanded(seen.case.input)))
    assert all(len(call["function"]["arguments"]) <= most for call in calls_sent(seen.bodies[-1]))


LIMITS = {"echo_chars_max": echo_is_bounded, "stored_args_chars_max": stored_arguments_are_bounded}

# -- the provider ------------------------------------------------------------------------------------------------------

LITELLM_SAYS = {
    # LiteLLM words these itself, so that what it was is lost to us.
    "choices_null_no_error": "server",
    "err_200_html": "server",
    "finish_malformed_function_call": "empty_response",
    "message_null": "server",
    "stream_bad_sse_line": "connection",
    "stream_error_chunk": "connection",
}
LITELLM_COUNTS = {"usage_null_counts": {"input": 12, "output": 0}}  # what is unknown is 0 when we get to see it


def kind_is(seen: Seen, wanted: str) -> None:
    kinds = codes(wanted)
    if seen.client == "litellm" and seen.case.name in LITELLM_SAYS:
        kinds = {LITELLM_SAYS[seen.case.name]}
    assert kind_of(seen.first) in kinds, seen.first


def kind_of(reply: ModelResponse | ModelError) -> str:
    """In what way a reply is not an answer."""
    if isinstance(reply, ModelError):
        return reply.code
    if reply.finish_reason in ("refusal", "content_filter"):
        return reply.finish_reason
    assert (reply.text.strip(), reply.message.tool_requests) == ("", ())
    return "output_limit" if reply.finish_reason == "length" else "empty_response"


def is_asked_again(seen: Seen, wanted: bool) -> None:
    if isinstance(seen.first, ModelError):
        assert seen.first.retryable is wanted
    if kind_of(seen.first) != "context_overflow":  # S6: compacted once, and sent again
        assert (seen.requests > 1) is wanted


def longest_wait_is(seen: Seen, seconds: int) -> None:  # S6
    data = seen.case.input
    for wait, retryable in ((seconds, True), (seconds + 1, False)):
        again = failure(data["status"], data["body"], {"retry-after": str(wait)}, provider="stub")
        assert again.retryable is retryable


ERROR: Mapping[str, Callable[[Seen, Json], None]] = {
    "kind": kind_is,
    "retryable": is_asked_again,
    "max_wait_s": longest_wait_is,
}


def tells_none_of(seen: Seen, wanted: Sequence[str]) -> None:  # J2
    for words in wanted:
        assert words in json.dumps(seen.case.input)  # or it could not be told
        assert words not in f"{seen.outcome} {seen.outcome!r}"


def usage_is(seen: Seen, wanted: Json) -> None:  # H3, L8
    used = seen.result.usage
    found = {"input": used.input_tokens, "output": used.output_tokens}
    if seen.client == "litellm" and seen.case.name in LITELLM_COUNTS:
        wanted = LITELLM_COUNTS[seen.case.name]
    assert found == (wanted or {"input": None, "output": None})


def replayed(seen: Seen) -> Json:
    """What went back to the provider of its own message (L5)."""
    (message,) = sent(seen.bodies[1], "assistant")
    return message


REPLAY: Mapping[str, Callable[[Seen, Json], None]] = {
    "thinking_blocks": lambda seen, wanted: same(replayed(seen).get("thinking_blocks", []), wanted),
    "assistant_messages": lambda seen, wanted: same(len(sent(seen.bodies[1], "assistant")), wanted),
}

# -- conversations -----------------------------------------------------------------------------------------------------


def every_call_has_one_result(seen: Seen, wanted: bool) -> None:  # L3, L5, H2
    for messages in ([wire(m) for m in seen.run.messages], *(body["messages"] for body in seen.bodies)):
        asked = [call["id"] for call in calls_sent({"messages": messages})]
        got = [message["tool_call_id"] for message in sent({"messages": messages}, "tool")]
        assert (asked == got) is wanted


def wire(message: Message) -> Json:
    calls = [{"id": request.id} for request in message.tool_requests]
    return {"role": message.role, "tool_calls": calls, "tool_call_id": message.tool_request_id}


def ids_are_unique(seen: Seen, wanted: bool) -> None:  # L5
    ids = [call["id"] for call in calls_sent(seen.bodies[-1])]
    assert len(ids) > 1
    assert (len(set(ids)) == len(ids)) is wanted


def arguments_are_json(seen: Seen, wanted: bool) -> None:  # H2
    (call,) = calls_sent(seen.bodies[0])
    assert isinstance(json.loads(call["function"]["arguments"]), dict) is wanted


def made_up_result(seen: Seen, wanted: Json) -> None:  # H2
    look(MADE_UP, wanted, ToolRequest(id=wanted["id"], name="", arguments={}), seen)


def says_only_that_there_is_none(request: ToolRequest, seen: Seen, wanted: bool) -> None:
    text = seen.told(request)
    assert ("no result" in text and not any(word in text.lower() for word in ("cancel", "fail", "error"))) is wanted


MADE_UP: Mapping[str, Callable[[ToolRequest, Seen, Json], None]] = {
    "id": lambda request, seen, wanted: same(request.id in [m["tool_call_id"] for m in tools_stored(seen)], False),
    "neutral": says_only_that_there_is_none,
}


def tools_stored(seen: Seen) -> list[Json]:
    return sent({"messages": seen.case.input["history"]}, "tool")


HISTORY = {"every_call_has_one_result": every_call_has_one_result}
REQUEST: Mapping[str, Callable[[Seen, Json], None]] = {
    **HISTORY,
    "unique_ids": ids_are_unique,
    "arguments_valid_json": arguments_are_json,
    "synthetic_result": made_up_result,
    "offers_tools": lambda seen, wanted: same("tools" in seen.bodies[-1], wanted),  # S2
}


def is_own(seen: Seen, wanted: bool) -> None:  # T5
    prompts = [message.text for message in seen.run.messages if message.role == "user"]
    assert (prompts == [seen.prompt]) is wanted


def propagates(seen: Seen, wanted: bool) -> None:  # T1
    assert (type(seen.outcome).__name__ in seen.case.input["exception"]) is wanted


EXPECTATIONS: Mapping[str, Callable[[Seen, Json], None]] = {
    "outcome": outcome_is,
    "text": text_is,
    "stop_reason": lambda seen, wanted: same(seen.result.stop_reason, wanted),
    "flags": flags_are,
    "calls": calls_are,
    "results": results_are,
    "limits": lambda seen, wanted: look(LIMITS, wanted, seen),
    "error": lambda seen, wanted: look(ERROR, wanted, seen),
    "never": tells_none_of,
    "usage": usage_is,
    "requests": lambda seen, wanted: same([seen.result.usage.requests, seen.requests], [wanted, wanted]),  # H3
    "reasoning": lambda seen, wanted: same(replayed(seen).get("reasoning_content"), wanted),
    "replay": lambda seen, wanted: look(REPLAY, wanted, seen),
    "request": lambda seen, wanted: look(REQUEST, wanted, seen),
    "history": lambda seen, wanted: look(HISTORY, wanted, seen),
    "each_run_own_history": is_own,
    "model_calls": lambda seen, wanted: same(seen.requests, wanted),
    "executed_count": lambda seen, wanted: same(len(seen.ran), wanted),
    "propagates": propagates,
    "exit_code": lambda seen, wanted: same(seen.exit_status, wanted),
}


def check(seen: Seen) -> None:
    """All that the case expects."""
    look(EXPECTATIONS, seen.case.expect, seen)
