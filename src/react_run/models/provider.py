"""The only place that converts provider JSON to our types (behaviour H1).

Every value is checked here, so no other module sees a field of the wrong type. A streamed reply
is merged into the body that not streaming would have returned and goes through the same function (behaviour L10).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from react_run.messages import CALL_FIELDS, Message, ModelResponse, ToolRequest, Usage, encodable
from react_run.models.coerce import as_count, as_identifier, as_mapping, as_mappings, as_number, as_text
from react_run.models.draft import Draft, is_text_part, value_as_json
from react_run.models.failures import failure, model_error
from react_run.models.finish import FAILURES, finish_reason
from react_run.tools.arguments import decode_arguments
from react_run.tools.request_ids import fresh_ids

UNNAMED = "(unnamed)"
"""The name for a call without a name; no tool can have it."""

_LONGEST_RAW = 1_000_000
_NOT_EXTRA = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "name", "prefix"}
    | {"annotations", "audio", "images", "citations", "parsed"}
)


def parse_response(
    body: object,
    *,
    provider: str,
    model: str,
    taken: Collection[str] | None = None,
) -> ModelResponse:
    """Parse one chat completion.

    Args:
        body: The decoded JSON of the response.
        provider: The provider, for error messages.
        model: The requested model, used if the response names none.
        taken: Ids of tool requests already in the conversation, which must not be reused (behaviour L5). Without it,
            ids are unique only within this reply.

    Raises:
        ModelError: There is no reply: ``no_choice``, ``bad_response``, ``malformed_call``, or the provider's own error.
    """
    data = as_mapping(body)
    choice = _choice(body, provider)
    raw = choice.get("message")
    if not isinstance(raw, dict):
        raise model_error("bad_response", f"{provider} sent a choice without a message", provider=provider)
    finish = _finish_reason(choice, provider)
    message = parse_message(raw, taken=taken)
    refusal = as_text(raw.get("refusal")).strip()
    if refusal and not message.tool_requests:
        finish = "refusal"
        message = message if message.content else replace(message, content=refusal)
    if finish in ("refusal", "content_filter"):  # nothing runs (behaviour S3)
        message = replace(message, tool_requests=(), extra=_without(message.extra, CALL_FIELDS))
    elif message.tool_requests and finish != "length":
        finish = "tool_calls"
    elif not message.tool_requests and finish == "tool_calls":
        finish = "stop"
    return ModelResponse(
        message=message,
        usage=_usage(as_mapping(data.get("usage"))),
        finish_reason=finish,
        model=as_text(data.get("model")) or model,
    )


def parse_message(raw: Mapping[str, object], *, taken: Collection[str] | None = None) -> Message:
    """Parse one assistant message in OpenAI's format; ``taken`` as in :func:`parse_response`."""
    requests, fields = _requests(_calls(raw), taken)
    extra = _extra(raw)
    if fields:
        extra[CALL_FIELDS] = fields
    return Message(role="assistant", content=parse_content(raw.get("content")), tool_requests=requests, extra=extra)


class StreamAssembler:
    """Collects the chunks of one streamed chat completion; the arguments are those of :func:`parse_response`."""

    def __init__(self, *, provider: str, model: str, taken: Collection[str] | None = None) -> None:
        self._provider = provider
        self._model = model
        self._taken = taken
        self._draft = Draft()

    @property
    def finished(self) -> bool:
        """Whether the reply is complete, even if the rest of the stream fails."""
        return self._draft.finished

    def feed(self, chunk: object) -> str:
        """Take one decoded chunk and return the text it adds.

        Raises:
            ModelError: The chunk is an error of the provider, before the reply was complete.
        """
        error = as_mapping(chunk).get("error")
        if error and not self.finished:
            raise failure(None, chunk, provider=self._provider)
        return self._draft.feed(chunk)

    def finish(self) -> ModelResponse:
        """The response built from the chunks.

        Raises:
            ModelError: ``incomplete`` if no finish reason arrived (behaviour A5b), or as in :func:`parse_response`.
        """
        if not self.finished:
            raise model_error(
                "incomplete",
                f"the stream of {self._provider} ended before the reply was complete",
                provider=self._provider,
            )
        return parse_response(self._draft.body(), provider=self._provider, model=self._model, taken=self._taken)


def request_ids(messages: Iterable[Message]) -> frozenset[str]:
    """The ids of all tool requests of a conversation, for ``taken``."""
    return frozenset(request.id for message in messages for request in message.tool_requests)


def _choice(body: object, provider: str) -> Mapping[str, object]:
    data = as_mapping(body)
    choice = next((c for c in as_mappings(data.get("choices")) if c), None)
    if choice is not None and not choice.get("error"):
        return choice
    said = choice if choice is not None else data
    if any(said.get(key) for key in ("error", "message", "detail")):
        raise failure(None, said, provider=provider)
    if not data:
        raise model_error("bad_response", f"{provider} did not send a JSON object: {_glimpse(body)}", provider=provider)
    raise model_error("no_choice", f"{provider} sent an answer without choices: {_glimpse(body)}", provider=provider)


def _glimpse(body: object) -> str:
    return repr(body if isinstance(body, str) else value_as_json(body))[:200]


def _finish_reason(choice: Mapping[str, object], provider: str) -> str:
    word = as_text(choice.get("finish_reason"))
    reason = finish_reason(word)
    if reason in FAILURES:
        raise model_error(reason, f"{provider} could not finish its reply ({word})", provider=provider)
    return reason


def parse_content(value: object) -> str | list[Mapping[str, object]]:
    """Content as one text, or as parts if some are not text; those are kept unchanged (behaviour H1)."""
    if value is None or isinstance(value, str):
        return as_text(value)
    parts: list[Mapping[str, object]] = []
    for part in as_mappings(value):
        found = as_text(part.get("text"))
        if not is_text_part(part):
            if part.get("type") != "refusal":
                parts.append(part)
        elif parts and is_text_part(parts[-1]):
            parts[-1] = {"type": "text", "text": f"{parts[-1]['text']}{found}"}
        elif found:
            parts.append({"type": "text", "text": found})
    return as_text(parts[0]["text"]) if len(parts) == 1 and is_text_part(parts[0]) else parts or ""


def _without(extra: Mapping[str, object], key: str) -> dict[str, object]:
    return {name: value for name, value in extra.items() if name != key}


def _calls(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    calls = as_mappings(message.get("tool_calls"))
    legacy = as_mapping(message.get("function_call"))
    return calls or ([{"function": legacy}] if legacy else [])


def _requests(
    calls: list[Mapping[str, object]], taken: Collection[str] | None
) -> tuple[tuple[ToolRequest, ...], dict[str, object]]:
    given: set[str] = set()
    reserved = {as_identifier(call.get("id")) for call in calls}
    requests: list[ToolRequest] = []
    fields: dict[str, object] = {}
    fresh = fresh_ids(reserved, taken)
    for call in calls:
        function = as_mapping(call.get("function"))
        call_id = as_identifier(call.get("id"))
        if not call_id or call_id in given or (taken is not None and call_id in taken):
            call_id = next(fresh)
        given.add(call_id)
        name = as_text(function.get("name")) or UNNAMED
        arguments = _arguments(function.get("arguments"))
        requests.append(ToolRequest(id=call_id, name=name, arguments=arguments))
        rest = {key: value for key, value in call.items() if key not in ("id", "index", "type", "function") and value}
        if rest:
            fields[call_id] = rest
    return tuple(requests), fields


def _arguments(raw: object) -> dict[str, object] | str:
    sent = encodable(raw) if isinstance(raw, str) else "" if raw is None else value_as_json(raw)
    decoded = decode_arguments(sent)
    if isinstance(decoded, dict):
        return decoded
    # The marker keeps truncated arguments unreadable: a prefix of broken JSON must not become a call.
    return sent if len(sent) <= _LONGEST_RAW else f"{sent[:_LONGEST_RAW]}… (cut)"


def _extra(message: Mapping[str, object]) -> dict[str, object]:
    """The fields to send back verbatim with this message: everything but the reply itself (behaviour L5)."""
    extra = {key: value for key, value in message.items() if key not in _NOT_EXTRA and value not in (None, "", [], {})}
    blocks = as_mappings(extra.get("thinking_blocks"))
    if blocks:
        # Providers refuse a thinking block whose signature is missing.
        signed = [block for block in blocks if block.get("type") != "thinking" or block.get("signature")]
        extra["thinking_blocks"] = signed
        if not signed:
            del extra["thinking_blocks"]
    return extra


def _usage(usage: Mapping[str, object]) -> Usage:
    prompt = as_mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    completion = as_mapping(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    cost = as_number(usage.get("cost"))
    cached = (prompt.get("cached_tokens"), usage.get("cache_read_input_tokens"), usage.get("prompt_cache_hit_tokens"))
    return Usage(
        input_tokens=_first_count(usage.get("prompt_tokens"), usage.get("input_tokens")),
        output_tokens=_first_count(usage.get("completion_tokens"), usage.get("output_tokens")),
        cached_tokens=_first_count(*cached) or 0,
        reasoning_tokens=_first_count(completion.get("reasoning_tokens"), usage.get("reasoning_tokens")) or 0,
        cost=cost if cost is not None and cost >= 0 else None,
    )


def _first_count(*values: object) -> int | None:
    return next((found for value in values if (found := as_count(value)) is not None), None)
