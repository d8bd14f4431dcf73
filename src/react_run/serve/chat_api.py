"""OpenAI's API: models and chat completions, with or without streaming."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response, StreamingResponse

from react_run.secrets.stream import StreamMasker
from react_run.serve.conversation import Asked, asked_by, json_of
from react_run.serve.helpers import is_helper_request
from react_run.serve.jobs import Job
from react_run.serve.protection import body_of
from react_run.serve.replies import Chunks, completion, error_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from react_run.serve.agents import ServedAgent
    from react_run.serve.service import Service

SILENCE = 15.0
"""Seconds without output after which a comment is sent, because proxies cut idle connections."""
SESSION = "x-react-session"
STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class ChatApi:
    """Answers requests to OpenAI's API.

    Args:
        service: The server.
    """

    def __init__(self, service: Service) -> None:
        self.service = service

    async def models(self, request: Request) -> Response:
        """``GET /v1/models``: list the agents."""
        return JSONResponse({"object": "list", "data": [self._model(served) for served in self.service.agents]})

    async def model(self, request: Request) -> Response:
        """``GET /v1/models/{name}``: one agent."""
        return JSONResponse(self._model(self.service.agent(request.path_params["name"])))

    def _model(self, served: ServedAgent) -> dict[str, object]:
        return {
            "id": served.name,
            "object": "model",
            "created": int(self.service.started),
            "owned_by": "react-run",
            "description": served.mask(served.agent.config.description or ""),
        }

    async def completions(self, request: Request) -> Response:
        """``POST /v1/chat/completions``."""
        body = await body_of(request, self.service.options.max_body)
        asked = asked_by(json_of(body), ignore_tools=self.service.options.client_tools == "ignore")
        if self.service.options.title_model and is_helper_request(asked):
            return await self.service.helper.answer(asked)
        job = await self.job(request, asked, body)
        if asked.stream:
            return self._streamed(job, asked)
        return await self.whole(request, job, lambda: completion(job))

    async def job(self, request: Request, asked: Asked, body: bytes) -> Job:
        """The run for a request: a new one, or the one that an identical request with the same key started.

        Raises:
            ApiError: The run cannot be started.
        """
        service, by = self.service, request.state.by
        served = await service.chosen(service.agent(asked.model), asked.overrides)

        def start(id_: str) -> Job:
            job = service.new_job(
                served,
                asked.prompt,
                [] if request.headers.get(SESSION) else asked.messages,
                session=request.headers.get(SESSION),
                by=by,
                system=asked.system,
                settings=asked.settings,
                streams=asked.stream,
                options={"overrides": asked.overrides} if asked.overrides else {},
                id=id_,
            )
            return service.jobs.start(job)

        return await service.once.started(request.headers.get("idempotency-key"), by, request.url.path, body, start)

    async def whole(self, request: Request, job: Job, shape: Callable[[], object]) -> Response:
        """Wait until a run ends or asks a question, and respond. If the client leaves first, it may be cancelled.

        Args:
            request: The request.
            job: The run.
            shape: Makes the body of the response.
        """
        job.watchers += 1
        left = asyncio.ensure_future(_gone(request))
        done = asyncio.ensure_future(job.wait())
        try:
            await asyncio.wait((left, done), return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            done.cancel()
            self.leave(job, gone=not (job.ended or job.questions))
            with suppress(asyncio.CancelledError):
                await asyncio.gather(left, done, return_exceptions=True)
        headers = {"X-Request-Id": job.id}
        if not job.ended and not job.questions:
            return Response(status_code=499, headers=headers)  # the client has gone
        if job.ended and job.result is None:
            error = error_of(job)
            error.headers.update(headers)
            return error.response
        return JSONResponse(shape(), headers=headers)

    def _streamed(self, job: Job, asked: Asked) -> Response:
        job.watchers += 1
        headers = {**STREAM_HEADERS, "X-Request-Id": job.id}
        return StreamingResponse(self._chunks(job, asked), media_type="text/event-stream", headers=headers)

    async def _chunks(self, job: Job, asked: Asked) -> AsyncIterator[str]:
        chunks = Chunks(job, self.service.options.drafts, StreamMasker(job.served.agent.config.masker))
        told = False
        try:
            yield chunks.first()
            index = 0
            while True:
                while index < len(job.events):
                    text = chunks.of(job.events[index])
                    index += 1
                    if text:
                        yield text
                if job.ended or job.questions:
                    break
                if not await job.changed.wait(SILENCE):
                    yield ": waiting\n\n"
            told = True
            for text in chunks.last(include_usage=asked.include_usage):
                yield text
        finally:
            self.leave(job, gone=not told)

    def leave(self, job: Job, *, gone: bool) -> None:
        """Unsubscribe a client; if it was the last and left early, cancel the run unless the options keep it going."""
        job.watchers -= 1
        if not gone:
            job.detached = job.detached or bool(job.questions)
        elif job.watchers == 0 and not job.detached and self.service.options.on_disconnect == "cancel":
            job.cancel("disconnected", "the client left")


async def _gone(request: Request) -> None:
    """Return when the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
