"""Builds responses of OpenAI's API: completions and chunks, with secrets masked and all numbers present."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import time
from typing import TYPE_CHECKING, Any

from react_run.errors import ConfigError, ModelError
from react_run.messages import TextDelta, TextDiscarded
from react_run.run import ToolStarted
from react_run.serve.errors import ApiError

if TYPE_CHECKING:
    from react_run.agent import StreamEvent
    from react_run.messages import Usage
    from react_run.secrets.stream import StreamMasker
    from react_run.serve.jobs import Job

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def usage_of(usage: Usage | None) -> dict[str, Any]:
    """Usage in OpenAI's format. Clients need numbers, so unknown ones are 0, and ``usage_known`` says so."""
    read, written = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
    return {
        "prompt_tokens": read or 0,
        "completion_tokens": written or 0,
        "total_tokens": (read or 0) + (written or 0),
        "prompt_tokens_details": {"cached_tokens": (usage.cached_tokens if usage else 0) or 0},
        "completion_tokens_details": {"reasoning_tokens": (usage.reasoning_tokens if usage else 0) or 0},
        "usage_known": read is not None and written is not None,
    }


def about(job: Job) -> dict[str, Any]:
    """The field ``react_run`` of a response: the run, its status, and the approvals it waits for."""
    if not job.ended and job.questions:
        return {"status": "waiting", "run": job.id, "approvals": [id_ for id_, _ in job.questions]}
    result = job.result
    assert result is not None  # a run that failed is answered with an error
    return {
        "status": str(result.stop_reason),
        "run": job.id,
        "success": result.success,
        "cost": result.usage.cost,
        "iterations": result.iterations,
    }


def content_of(job: Job) -> str:
    """The text for the client: the answer, or the questions that wait for a person."""
    if not job.ended and job.questions:
        asked = "\n\n".join(str(question) for _, question in job.questions)
        return f"{asked}\n\nThe run is waiting for a person. Answer on the web page, or with POST /api/approvals/ID."
    assert job.result is not None  # see about()
    return str(job.served.mask(job.result.answer))


def completion(job: Job) -> dict[str, Any]:
    """The body of a response without streaming."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": content_of(job)},
        "finish_reason": "stop",
    }
    usage = job.run.usage if job.run is not None else None
    if job.result is not None:
        shape = job.result.response.choices[0]
        choice["finish_reason"] = shape.finish_reason
        choice["provider_specific_fields"] = job.served.mask(shape.provider_specific_fields)
        usage = job.result.usage
    return {
        "id": f"chatcmpl-{job.id}",
        "object": "chat.completion",
        "created": int(job.created),
        "model": job.served.name,
        "choices": [choice],
        "usage": usage_of(usage),
        "react_run": about(job),
    }


def error_of(job: Job) -> ApiError:
    """The error for a run that has no result."""
    error = job.error
    match job.ending:
        case "drained":
            return ApiError(503, f"the server was stopped; run {job.id} can be resumed")
        case "timeout":
            return ApiError(504, f"run {job.id} took longer than this server allows (--run-timeout)")
        case "stopped":
            return ApiError(409, f"run {job.id} was stopped", code="run_stopped")
        case "parked" | "disconnected":
            return ApiError(409, f"run {job.id} was parked", code="run_parked")
    if isinstance(error, ModelError):
        status = f" (status {error.status})" if error.status else ""
        return ApiError(502, f"the model of {job.served.name} failed{status}: {job.served.mask(str(error))}")
    if isinstance(error, ConfigError):
        return ApiError(400, str(job.served.mask(str(error))))
    return ApiError(500, f"run {job.id} failed: {type(error).__name__}; the server's log and its journal say more")


class Chunks:
    """Builds the chunks of a streamed response.

    Args:
        job: The run.
        drafts: Where to send text that may be withdrawn: ``reasoning``, ``content`` or ``none``.
        held: Masks secrets in streamed text.
    """

    def __init__(self, job: Job, drafts: str, held: StreamMasker) -> None:
        self._job, self._drafts, self._held = job, drafts, held
        self._sent = ""
        """The content sent since text was last withdrawn."""
        name, created = _encode(job.served.name), int(job.created or time())
        self._head = (
            f'data: {{"id":"chatcmpl-{job.id}","object":"chat.completion.chunk","created":{created},"model":{name},'
        )

    def first(self) -> str:
        """The first chunk, which names the role."""
        return self._delta({"role": "assistant", "content": ""})

    def of(self, event: StreamEvent) -> str:
        """The chunk for an event of the run; empty for most events."""
        match event:
            case TextDelta():
                return self._draft(self._held.add(event.text))
            case TextDiscarded():
                text = self._draft(self._held.rest() + "\n\n")
                self._sent = ""
                return text
            case ToolStarted():
                arguments = _encode(self._job.served.mask(event.call.arguments))
                short = arguments if len(arguments) <= 200 else arguments[:199] + "…"
                rest = self._held.rest()
                return self._thought(f"{rest}\n→ {self._job.served.mask(event.call.name)} {short}\n")
        return ""

    def _draft(self, text: str) -> str:
        if not text:
            return ""
        if self._drafts == "content":
            self._sent += text
            return self._delta({"content": text})
        return self._thought(text)

    def _thought(self, text: str) -> str:
        return "" if self._drafts == "none" else self._delta({"reasoning_content": text})

    def last(self, *, include_usage: bool) -> Iterator[str]:
        """Yield the answer, the finish reason, the usage and the end marker."""
        job = self._job
        if job.ended and job.result is None:
            yield f"data: {_encode(error_of(job).body)}\n\ndata: [DONE]\n\n"
            return
        if self._drafts == "content" and (rest := self._held.rest()):
            yield self._draft(rest)
        content = content_of(job)
        if content and content.strip() != self._sent.strip():
            yield self._delta({"content": content})
        reason = job.result.finish_reason if job.result is not None else "stop"
        yield (
            f'{self._head}"choices":[{{"index":0,"delta":{{}},"finish_reason":{_encode(reason)}}}],'
            f'"react_run":{_encode(job.served.mask(about(job)))}}}\n\n'
        )
        if include_usage:
            usage = job.result.usage if job.result is not None else None
            yield f'{self._head}"choices":[],"usage":{_encode(usage_of(usage))}}}\n\n'
        yield "data: [DONE]\n\n"

    def _delta(self, delta: dict[str, str]) -> str:
        return f'{self._head}"choices":[{{"index":0,"delta":{_encode(delta)},"finish_reason":null}}]}}\n\n'
