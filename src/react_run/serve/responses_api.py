"""OpenAI's Responses API: text or a list as input, with or without streaming, continuing from a saved response."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from starlette.responses import JSONResponse, Response, StreamingResponse

from react_run.errors import JournalError
from react_run.journal.result import result_of
from react_run.messages import Message
from react_run.serve.chat_api import SILENCE, STREAM_HEADERS, ChatApi
from react_run.serve.conversation import Asked, check_bytes, json_of, overrides_in, refuse_foreign, settings_in
from react_run.serve.errors import ApiError, wrong
from react_run.serve.protection import body_of
from react_run.serve.replies import about, content_of, error_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.messages import Usage
    from react_run.serve.jobs import Job

_PREFIX = "resp_"
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_TEXTS = ("input_text", "output_text", "text")
_SETTINGS = {"temperature": "temperature", "top_p": "top_p", "max_output_tokens": "max_tokens"}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class ResponsesApi:
    """Answers requests to OpenAI's Responses API.

    Args:
        chat: Starts runs and waits for them.
    """

    def __init__(self, chat: ChatApi) -> None:
        self.chat, self.service = chat, chat.service

    async def create(self, request: Request) -> Response:
        """``POST /v1/responses``."""
        body = await body_of(request, self.service.options.max_body)
        data = json_of(body)
        previous = self._previous(data.get("previous_response_id"), request.state.by, data.get("model"))
        asked = _asked(data, previous, ignore_tools=self.service.options.client_tools == "ignore")
        job = await self.chat.job(request, asked, body)
        if asked.stream:
            job.watchers += 1
            headers = {**STREAM_HEADERS, "X-Request-Id": job.id}
            return StreamingResponse(self._events(job, data), media_type="text/event-stream", headers=headers)
        return await self.chat.whole(request, job, lambda: response_object(job, data))

    async def one(self, request: Request) -> Response:
        """``GET /v1/responses/{id}``: a saved response."""
        id_ = request.path_params["id"]
        run_id = id_.removeprefix(_PREFIX)
        job = self.service.jobs.live.get(run_id)
        if job is not None and job.by == request.state.by:
            return JSONResponse(_shape(run_id, job.served.name, job.created, "in_progress", {}))
        journal = self._journal(id_, request.state.by)
        try:
            result = result_of(journal)
        except JournalError as error:
            raise ApiError(404, str(error), code="response_not_found") from None
        served = self.service.agents.of_file(journal.header["agent"]["file"])
        name = served.name if served is not None else str(journal.header["agent"]["name"])
        shape = _shape(run_id, name, journal.header["time"], "completed", {})
        shape["output"] = [_message(run_id, result.answer)]
        shape["usage"] = _usage(result.usage)
        return JSONResponse(shape)

    def _journal(self, id_: str, by: str) -> Any:
        journal = self.service.shelf.read(id_.removeprefix(_PREFIX)) if id_.startswith(_PREFIX) else None
        if journal is None or journal.header["options"].get("by", "") != by:
            raise ApiError(404, f"there is no response {id_!r}", code="response_not_found")
        return journal

    def _previous(self, id_: object, by: str, agent: object) -> list[Message]:
        """The conversation that a saved response ended with."""
        if id_ is None:
            return []
        if not isinstance(id_, str):
            raise wrong("previous_response_id must be the id of a response", "previous_response_id")
        try:
            journal = self._journal(id_, by)
        except ApiError as error:
            raise ApiError(
                404, error.message, code="previous_response_not_found", param="previous_response_id"
            ) from None
        served = self.service.agents.of_file(journal.header["agent"]["file"])
        if served is None or served.name != agent:
            raise wrong(f"response {id_} belongs to another agent", "previous_response_id")
        return [message for message in journal.messages if message.role != "system"]

    async def _events(self, job: Job, data: Mapping[str, Any]) -> AsyncIterator[str]:
        told = False
        numbers = iter(range(1_000_000))
        try:
            begun = _shape(job.id, job.served.name, job.created, "in_progress", data)
            yield _event(numbers, "response.created", response=begun)
            yield _event(numbers, "response.in_progress", response=begun)
            while not (job.ended or job.questions):
                if not await job.changed.wait(SILENCE) and not (job.ended or job.questions):
                    yield ": waiting\n\n"
            told = True
            if job.ended and job.result is None:
                error = error_of(job)
                failed = {**begun, "status": "failed", "error": {"code": error.code, "message": error.message}}
                yield _event(numbers, "response.failed", response=failed)
                return
            for text in _answered(job, data, numbers):
                yield text
        finally:
            self.chat.leave(job, gone=not told)


def _answered(job: Job, data: Mapping[str, Any], numbers: Iterator[int]) -> Iterator[str]:
    """Yield the events of a finished answer."""
    text, item = content_of(job), _message(job.id, "")
    place = {"item_id": item["id"], "output_index": 0}
    inside = {**place, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    whole = {**part, "text": text}
    yield _event(
        numbers, "response.output_item.added", output_index=0, item={**item, "status": "in_progress", "content": []}
    )
    yield _event(numbers, "response.content_part.added", **inside, part=part)
    yield _event(numbers, "response.output_text.delta", **inside, delta=text, logprobs=[])
    yield _event(numbers, "response.output_text.done", **inside, text=text, logprobs=[])
    yield _event(numbers, "response.content_part.done", **inside, part=whole)
    yield _event(numbers, "response.output_item.done", output_index=0, item=_message(job.id, text))
    done = response_object(job, data)
    yield _event(numbers, f"response.{done['status']}", response=done)


def _event(numbers: Iterator[int], kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {_encode({'type': kind, 'sequence_number': next(numbers), **fields})}\n\n"


def response_object(job: Job, data: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a response without streaming."""
    cut = job.result is not None and job.result.finish_reason == "length"
    shape = _shape(job.id, job.served.name, job.created, "incomplete" if cut else "completed", data)
    shape["incomplete_details"] = {"reason": "max_output_tokens"} if cut else None
    shape["output"] = [_message(job.id, content_of(job))]
    shape["usage"] = _usage(job.result.usage if job.result is not None else None)
    return {**shape, "react_run": job.served.mask(about(job))}


def _shape(run_id: str, name: str, created: float, status: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{_PREFIX}{run_id}",
        "object": "response",
        "created_at": int(created),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": data.get("instructions"),
        "max_output_tokens": data.get("max_output_tokens"),
        "metadata": data.get("metadata") or {},
        "model": name,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": data.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "store": True,
        "temperature": data.get("temperature"),
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": data.get("top_p"),
        "truncation": "disabled",
        "usage": None,
    }


def _message(run_id: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {"id": f"msg_{run_id}", "type": "message", "role": "assistant", "status": "completed", "content": content}


def _usage(usage: Usage | None) -> dict[str, Any]:
    read, written = (usage.input_tokens, usage.output_tokens) if usage is not None else (None, None)
    return {
        "input_tokens": read or 0,
        "input_tokens_details": {"cached_tokens": (usage.cached_tokens if usage else 0) or 0},
        "output_tokens": written or 0,
        "output_tokens_details": {"reasoning_tokens": (usage.reasoning_tokens if usage else 0) or 0},
        "total_tokens": (read or 0) + (written or 0),
    }


def _asked(data: Mapping[str, Any], previous: list[Message], *, ignore_tools: bool) -> Asked:
    if "model" not in data:
        raise wrong("`model` is missing: it names the agent", "model", "missing_model")
    refuse_foreign(data, ignore_tools=ignore_tools)
    for name in ("background", "conversation", "prompt"):
        if data.get(name):
            raise wrong(f"{name} is not supported", name, "unsupported_parameter")
    text = data.get("text") or {}
    if not isinstance(text, dict) or (text.get("format") or {}).get("type", "text") != "text":
        raise wrong(
            "text.format: the agent's own `output_schema` decides their format",
            "text",
            "unsupported_parameter",
        )
    instructions = data.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise wrong("instructions must be text", "instructions")
    stream = data.get("stream")
    if stream is not None and not isinstance(stream, bool):
        raise wrong("stream must be true or false", "stream")
    messages = _input(data.get("input"))
    system = [message.text for message in messages if message.role == "system"]
    talk = [*previous, *(message for message in messages if message.role != "system")]
    if not talk or talk[-1].role != "user" or talk[-1].blank:
        raise wrong("the input must end with a user message", "input")
    plain = isinstance(talk[-1].content, str)
    settings = {ours: data[theirs] for theirs, ours in _SETTINGS.items() if data.get(theirs) is not None}
    return Asked(
        model=data["model"],
        prompt=talk[-1].text if plain else "",
        messages=talk[:-1] if plain else talk,
        system="\n\n".join([*([instructions] if instructions else []), *system]),
        stream=bool(stream),
        settings=settings_in(settings),
        overrides=overrides_in(data),
    )


def _input(given: object) -> list[Message]:
    if isinstance(given, str):
        return [Message(role="user", content=given)]
    if not isinstance(given, list) or not given:
        raise wrong("`input` must be text, or a list of messages", "input")
    return [_of_item(item, f"input[{index}]") for index, item in enumerate(given)]


def _of_item(item: object, where: str) -> Message:
    if not isinstance(item, dict) or item.get("type", "message") != "message":
        raise wrong(
            f"{where}: only messages are supported; the tools are the agent's own", where, "unsupported_parameter"
        )
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        raise wrong(f"{where}: the role must be {', '.join(_ROLES)}", where)
    role = _ROLES[role]
    if isinstance(content, str):
        return Message(role=role, content=content)
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise wrong(f"{where}: content must be text, or a list of parts", where)
    if all(part.get("type") in _TEXTS and isinstance(part.get("text"), str) for part in content):
        return Message(role=role, content="".join(part["text"] for part in content))
    with suppress(KeyError, TypeError):
        parts = [_part(part) for part in content]
        for number, part in enumerate(parts):
            try:
                check_bytes(part, f"{where}.content[{number}]")
            except ValueError as error:
                raise wrong(str(error), where) from None
        return Message(role=role, content=parts)
    raise wrong(f"{where}: a part must be input_text or input_image", where, "unsupported_parameter")


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part["type"] in _TEXTS:
        return {"type": "text", "text": part["text"]}
    if part["type"] == "input_image":
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    raise KeyError(part["type"])
